// Package provenance says where sessions and agents come from that were not made in a workspace: who made them, and
// the project of their folder. The package opens no file.
package provenance

import (
	"bytes"
	"encoding/json"

	"github.com/bough-dev/bough/workspace/project"
)

// An Origin says where a session or an agent comes from, if it was not made in the workspace.
type Origin struct {
	Session string           `json:"session_id,omitempty"`
	Agent   string           `json:"agent_id,omitempty"` // its id, which is in its settings
	Owner   string           `json:"owner,omitempty"`    // who made it, "" if unknown
	Project *project.Project `json:"project,omitempty"`  // of the folder of a session
}

// A List has where sessions and agents come from. An origin is decoded when it is asked for, because there may be
// very many. The zero value has none.
type List struct {
	sessions, agents map[string]json.RawMessage
}

// Parse returns the origins in lines of JSON. If a session or an agent has several lines, the last one counts.
// Malformed lines are ignored. The lines must not be modified.
func Parse(lines []byte) List {
	o := List{make(map[string]json.RawMessage, bytes.Count(lines, []byte("\n"))), map[string]json.RawMessage{}}
	for line := range bytes.Lines(lines) {
		if id, ok := sessionIn(line); ok && json.Valid(line) {
			o.sessions[id] = line
			continue
		}
		switch is, ok := decodeOrigin(line); {
		case !ok:
		case is.Session != "":
			o.sessions[is.Session] = line
		default:
			o.agents[is.Agent] = line
		}
	}
	return o
}

// sessionIn returns the session of a line in the form in which bough writes it.
func sessionIn(line []byte) (id string, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"session_id":"`))
	end := bytes.IndexAny(rest, `"\`)
	if !ok || end < 1 || rest[end] != '"' || bytes.Contains(rest, []byte("_id")) {
		return "", false
	}
	return string(rest[:end]), true
}

func decodeOrigin(line []byte) (o Origin, ok bool) {
	if json.Unmarshal(line, &o) != nil || (o.Session == "") == (o.Agent == "") {
		return Origin{}, false
	}
	if o.Project != nil && !o.Project.Valid() {
		o.Project = nil
	}
	return o, true
}

// Len returns how many origins there are.
func (o List) Len() int { return len(o.sessions) + len(o.agents) }

// Session returns where a session comes from. ok is false if it was made in the workspace.
func (o List) Session(id string) (_ Origin, ok bool) { return decodeOrigin(o.sessions[id]) }

// Agent is Session for the id of an agent.
func (o List) Agent(id string) (_ Origin, ok bool) { return decodeOrigin(o.agents[id]) }
