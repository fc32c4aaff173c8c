// Package atif writes trajectories in the Agent Trajectory Interchange Format, by which agents
// are measured and trained: the steps of a user, a system and an agent, with the calls of tools
// and their results.
//
// The form is that of version 1.4 of the specification, rfcs/0001-trajectory-format.md in the
// repository harbor-framework/harbor. Later versions accept it.
package atif

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
)

type trajectory struct {
	Version string  `json:"schema_version"`
	ID      string  `json:"session_id"`
	Agent   agent   `json:"agent"`
	Steps   []*step `json:"steps"`
	Metrics metrics `json:"final_metrics"`
	Extra   *extra  `json:"extra,omitempty"`
}

type agent struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Model   string `json:"model_name,omitempty"`
}

type metrics struct {
	Steps int `json:"total_steps"`
}

type extra struct {
	Title string `json:"title,omitempty"`
	Dir   string `json:"working_directory,omitempty"`
}

// A step is what one of the three sources does. Only one of an agent has calls and thoughts.
type step struct {
	ID          int          `json:"step_id"`
	Time        string       `json:"timestamp,omitempty"`
	Source      string       `json:"source"`
	Model       string       `json:"model_name,omitempty"`
	Message     string       `json:"message"`
	Thoughts    string       `json:"reasoning_content,omitempty"`
	Calls       []call       `json:"tool_calls,omitempty"`
	Observation *observation `json:"observation,omitempty"`
}

type call struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
}

type observation struct {
	Results []result `json:"results"`
}

type result struct {
	Call    string `json:"source_call_id"`
	Content string `json:"content"`
}

// Write writes a path as a trajectory.
func Write(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, "atif")
	lost.Conversation(t, report.LostTitles, report.LostDirs)
	s := writer{lost: lost, calls: map[string]*step{}}
	for _, m := range t.Messages {
		s.message(m)
	}
	out := trajectory{
		Version: "ATIF-v1.4", ID: cmp.Or(o.ID, t.ID),
		Agent: agent{cmp.Or(t.Format, "bough"), cmp.Or(t.Version, "unknown"), t.Model},
		Steps: s.steps, Metrics: metrics{len(s.steps)},
	}
	if out.Steps == nil {
		out.Steps = []*step{}
	}
	if t.Title != "" || t.Dir != "" {
		out.Extra = &extra{t.Title, t.Dir}
	}
	_, err := w.Write(append(rawjson.Compact(out), '\n'))
	return err
}

type writer struct {
	lost  *report.Report
	steps []*step
	calls map[string]*step // the steps of calls without a result
}

// message writes the step of a message. Results of tools belong to the steps of their calls.
func (s *writer) message(m *transcript.Message) {
	s.lost.Message(m, report.LostTimes, report.LostModels, report.LostSystem)
	n := &step{Source: "user"}
	switch {
	case m.Role == "assistant":
		n.Source, n.Model = "agent", m.Model
	case m.Own.Role != "":
		n.Source = "system"
	}
	s.lost.Count(report.LostModels, m.Model != "" && n.Source != "agent")
	if !m.Time.IsZero() {
		n.Time = times.ISO(m.Time)
	}
	var texts, thoughts []string
	says := false
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeToolResult && s.calls[c.ID] != nil:
			s.lost.Count(report.LostFailures, c.Failed)
			s.lost.Extras(p)
			of := s.calls[c.ID]
			delete(s.calls, c.ID)
			if of.Observation == nil {
				of.Observation = &observation{}
			}
			of.Observation.Results = append(of.Observation.Results, result{c.ID, p.Text})
			continue
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			texts = append(texts, p.Text)
		case p.Type == content.TypeThinking && n.Source == "agent":
			s.lost.Signature(p)
			thoughts = append(thoughts, p.Text)
		case p.Type == content.TypeToolCall && n.Source == "agent" && c.ID != "" && c.Name != "":
			n.Calls = append(n.Calls, call{c.ID, c.Name, parts.Arguments(c.Arguments)})
			s.calls[c.ID] = n
		default:
			s.lost.Part(p)
			texts = append(texts, parts.Text(p))
		}
		says = true
	}
	if !says && len(m.Parts) > 0 {
		return // only results
	}
	if n.Message, n.Thoughts = parts.JoinLines(texts...), parts.JoinLines(thoughts...); n.Message == "" && n.Thoughts == "" && n.Calls == nil {
		s.lost.Add(report.LostMessages)
		return
	}
	s.steps = append(s.steps, n)
	n.ID = len(s.steps)
}
