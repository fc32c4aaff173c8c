package store

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/mirror"
)

// OriginsPath lists where sessions and agents come from that were not made here. A later line
// replaces an earlier one.
const OriginsPath = StateDir + "/origins.jsonl"

// Origins returns the lines of [OriginsPath] that count, in the order of the file.
func (v *View) Origins() []mirror.Origin {
	if v.origins == nil {
		data, err := ReadRegular(v.Root, OriginsPath)
		v.Warn("where conversations come from cannot be read", err)
		v.origins = originsIn(data)
	}
	return v.origins.list
}

// Origin returns where a session comes from. ok is false if it was made here.
func (v *View) Origin(session string) (o mirror.Origin, ok bool) {
	v.Origins()
	i, ok := v.origins.sessions[session]
	if !ok {
		return o, false
	}
	return v.origins.list[i], true
}

// AgentOrigin is Origin for the id of an agent.
func (v *View) AgentOrigin(id string) (o mirror.Origin, ok bool) {
	v.Origins()
	i, ok := v.origins.agents[id]
	if !ok {
		return o, false
	}
	return v.origins.list[i], true
}

// origins are the origins of a workspace.
type origins struct {
	list             []mirror.Origin
	sessions, agents map[string]int // indexes in list
}

func originsIn(data []byte) *origins {
	is := &origins{list: []mirror.Origin{}, sessions: map[string]int{}, agents: map[string]int{}}
	for line := range bytes.Lines(data) {
		var o mirror.Origin
		if json.Unmarshal(line, &o) != nil || (o.Session == "") == (o.Agent == "") {
			continue
		}
		if o.Project != nil && !o.Project.Valid() {
			o.Project = nil
		}
		at, key := is.sessions, o.Session
		if key == "" {
			at, key = is.agents, o.Agent
		}
		if i, ok := at[key]; ok {
			is.list[i] = o
			continue
		}
		at[key] = len(is.list)
		is.list = append(is.list, o)
	}
	return is
}

// AddOrigins adds origins to the file. The caller must hold the lock.
func AddOrigins(root *os.Root, list []mirror.Origin) error {
	if len(list) == 0 {
		return nil
	}
	data, err := ReadRegular(root, OriginsPath)
	if err != nil {
		return err
	}
	var added []byte
	if n := len(data); n > 0 && data[n-1] != '\n' {
		added = []byte("\n") // after an incomplete line
	}
	for _, o := range list {
		added = append(append(added, rawjson.Compact(o)...), '\n')
	}
	_, err = durable.Append(root, OriginsPath, added)
	return err
}
