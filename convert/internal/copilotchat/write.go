package copilotchat

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes a path as one object, which every version of VS Code reads, and imports; several
// branches as a journal that goes back.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	lost.Conversation(t, report.LostTitles)
	around := aroundOf(t, o)
	w := newWriter(t, o, lost)
	rows, of := w.Rows(w.grouped)
	end := of[w.of[tree.Leaf(t)]]
	if list, ok := inOne(rows, end); ok {
		_, err := out.Write(append(member.SetRaw(around, "requests", nodes.Array(list)), '\n'))
		return err
	}
	return writeJournal(out, around, rows, end)
}

// aroundOf returns a chat without requests.
func aroundOf(t *transcript.Transcript, o transcript.Options) []byte {
	created := t.Created
	if created.IsZero() {
		created = o.Now
	}
	around := rawjson.Compact(struct {
		Version   int    `json:"version"`
		Created   int64  `json:"creationDate"`
		Location  string `json:"initialLocation"`
		Responder string `json:"responderUsername"`
		ID        string `json:"sessionId"`
		Requests  []int  `json:"requests"`
	}{3, created.UnixMilli(), "panel", "GitHub Copilot", o.ID, []int{}})
	if t.Format == format && len(t.Records) > 0 {
		around = bytes.Clone(t.Records[0])
		if o.ID != "" && member.Text(around, "sessionId") != o.ID {
			around = member.Set(around, "sessionId", o.ID)
			if !gjson.GetBytes(around, "creationDate").Exists() {
				around = member.Set(around, "creationDate", created.UnixMilli())
			}
		}
	}
	if titleOf(gjson.ParseBytes(around)) != t.Title {
		around = member.Set(around, "customTitle", t.Title)
	}
	return around
}

// inOne returns the rows if a chat without a past can have them: each follows the one before,
// and the end is the last one that is not hidden. Rows that belong to others, which have no
// messages, are no obstacle.
func inOne(rows []*nodes.Row, end string) ([]*nodes.Row, bool) {
	last, leaf := "", ""
	for _, r := range rows {
		if r.Attached {
			continue
		}
		if r.Parent != last {
			return nil, false
		}
		if last = r.ID; !isHidden(r.Raw) {
			leaf = r.ID
		}
	}
	if leaf == end {
		return rows, true
	}
	// The end is before or after it: what is hidden is shown up to there, and the rest left to
	// a journal.
	if last != end {
		return nil, false
	}
	shown := slices.Clone(rows)
	for i, r := range rows {
		if !r.Attached && isHidden(r.Raw) {
			row := *r
			row.Raw = member.Drop(member.Drop(r.Raw, "shouldBeRemovedOnSend"), "isHidden")
			shown[i] = &row
		}
	}
	return shown, true
}

// A line is an entry of a journal.
type line struct {
	Kind  int      `json:"kind"`
	Path  []string `json:"k,omitempty"`
	Value any      `json:"v,omitempty"`
	From  *int     `json:"i,omitempty"`
}

// writeJournal writes the rows one after the other. For one that does not follow the last one,
// the journal goes back, and it ends at the row with the id end.
func writeJournal(out io.Writer, around []byte, rows []*nodes.Row, end string) error {
	j := jsonl.NewWriter(out)
	j.Put(rawjson.Compact(line{Kind: initial, Value: json.RawMessage(around)}))
	at := map[string]*nodes.Row{}
	var live []*nodes.Row
	// to makes the row with an id the last one, with rows after it.
	to := func(id string, after ...*nodes.Row) {
		path := slices.Clone(after)
		for r := at[id]; r != nil && len(path) <= len(rows); r = at[r.Parent] {
			path = append([]*nodes.Row{r}, path...)
		}
		same := 0
		for same < len(live) && same < len(path) && live[same] == path[same] {
			same++
		}
		if same == len(live) && same == len(path) {
			return
		}
		e := line{Kind: push, Path: []string{"requests"}}
		if same < len(live) {
			e.From = &same
		}
		var list []json.RawMessage
		for _, r := range path[same:] {
			list = append(list, r.Raw)
		}
		if list != nil {
			e.Value = list
		}
		j.Put(rawjson.Compact(e))
		live = path
	}
	for i, r := range rows {
		if !r.Attached {
			at[r.ID] = r
		}
		if r.Attached && i > 0 {
			to("", append(slices.Clone(live), r)...)
			continue
		}
		to(r.Parent, r)
	}
	if end != "" {
		to(end)
	}
	return j.Flush()
}

// A writer converts the messages of other programs, of which those of one turn become one
// request.
type writer struct {
	nodes.Writer
	times.Clock
	grouped *transcript.Transcript // with one message for each turn that has no record
	of      map[string]string      // the ids of messages in grouped, by those of the messages of their turns
	turns   map[string][]*transcript.Message
	whole   map[string]*transcript.Message // what a message is a part of, by id
	pairs   map[*content.Part]bool
}

func newWriter(t *transcript.Transcript, o transcript.Options, lost *report.Report) *writer {
	w := &writer{Clock: times.Clock{Now: o.Now}, of: map[string]string{}, turns: map[string][]*transcript.Message{}, whole: map[string]*transcript.Message{}}
	w.Writer = nodes.Writer{Format: format, Messages: messagesOf, ID: requestID, Convert: w.convert, Lost: lost}
	own := w.Own(t)
	w.pairs = calls.Kept(t.Messages)
	split := *t
	split.Messages = w.split(t.Messages, own)
	split.Messages = tree.InLine(&split)
	out := tree.NewOutline(&split)
	grouped := split
	grouped.Messages = nil
	for _, m := range split.Messages {
		switch {
		case w.of[m.ID] != "":
		case own[m.ID]:
			w.of[m.ID] = m.ID
			grouped.Messages = append(grouped.Messages, m)
		default:
			turn := []*transcript.Message{m}
			for at := m; len(out.Children[at.ID]) == 1; turn = append(turn, at) {
				next := out.Children[at.ID][0]
				if own[next.ID] || next.Role != "assistant" && !w.answers(next) || next.Kind != transcript.Said {
					break
				}
				at = next
			}
			for _, part := range turn {
				w.of[part.ID] = m.ID
			}
			w.turns[m.ID] = turn
			group := *m
			group.Format, group.Records = "", nil
			grouped.Messages = append(grouped.Messages, &group)
		}
	}
	for i, m := range grouped.Messages {
		if at, ok := w.of[m.Parent]; ok && at != m.Parent && w.turns[at] != nil {
			moved := *m
			moved.Parent = at
			grouped.Messages[i] = &moved
		}
	}
	w.grouped = &grouped
	return w
}

// answers reports whether a message has nothing but results of calls that are written as such,
// and their images.
func (w *writer) answers(m *transcript.Message) bool {
	return len(m.Parts) > 0 && w.results(m) == len(m.Parts)
}

// results returns how many parts at the beginning of a message are results of calls that are
// written as such, and their images.
func (w *writer) results(m *transcript.Message) int {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != content.TypeToolResult && (i == 0 || p.Type != content.TypeImage) || p.Type == content.TypeToolResult && !w.pairs[p] {
			return i
		}
	}
	return len(m.Parts)
}

// split returns messages in which the results of tools and a prompt are two messages.
func (w *writer) split(list []*transcript.Message, own map[string]bool) []*transcript.Message {
	var all []*transcript.Message
	for _, m := range list {
		n := w.results(m)
		if own[m.ID] || m.Role == "assistant" || n == 0 || n == len(m.Parts) {
			all = append(all, m)
			continue
		}
		results, prompt := *m, *m
		results.ID, results.Parts = transcript.ChainID(m.ID, []byte(`"results"`)), m.Parts[:n:n]
		prompt.Parent, prompt.Parts = results.ID, m.Parts[n:]
		w.whole[results.ID] = m
		all = append(all, &results, &prompt)
	}
	return all
}
