// Package travel decides which states of files a workspace records for the other machines of a remote, and
// which of theirs it applies. The package is pure.
//
// A state is an entity state/ID with the sets record, which has one element for all time, and links, the
// messages that it belongs to. Its folder is an entity folder/ID with the register about and the set
// objects, runs of items of which each is a pack of objects. The entity forgotten has, in its set all,
// which contents were deleted permanently on some machine.
package travel

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
)

const (
	statePrefix  = "state/"
	folderPrefix = "folder/"
	forgotten    = "forgotten"
	objectsField = "objects"
)

// Files are the states of files of a remote, and the folders that they are of.
type Files struct {
	States  []State // by stamp: those of one machine in the order in which it sent them
	Folders []Folder

	Forgotten []string // SHA-256 of contents that were deleted permanently on some machine

	known map[string]*State
}

// A State is a state of a folder.
type State struct {
	ID      string
	Record  json.RawMessage
	Records []join.Element // all elements with a record; the first one counts
	Links   []join.Element
}

// A Folder is a directory of a machine.
type Folder struct {
	ID      string
	About   join.Register
	Objects []join.Element // each a run of items, whose content is a pack of objects
}

// Project returns the states of files of a joined state.
func Project(s *join.State) *Files {
	f := &Files{known: map[string]*State{}}
	for name, e := range s.Entities(statePrefix) {
		one := State{ID: strings.TrimPrefix(name, statePrefix), Records: withValue(e.Sets["record"]), Links: withValue(e.Sets["links"])}
		if e.Alive && len(one.Records) > 0 {
			one.Record = one.Records[0].Value
			f.States = append(f.States, one)
		}
	}
	slices.SortFunc(f.States, func(a, b State) int { return a.Records[0].Stamp.Compare(b.Records[0].Stamp) })
	for i := range f.States {
		f.known[f.States[i].ID] = &f.States[i]
	}
	for name, e := range s.Entities(folderPrefix) {
		one := Folder{ID: strings.TrimPrefix(name, folderPrefix), About: e.Registers["about"]}
		for _, el := range e.Sets[objectsField] {
			if el.Body != nil {
				one.Objects = append(one.Objects, el)
			}
		}
		if e.Alive {
			f.Folders = append(f.Folders, one)
		}
	}
	if e := s.Entity(forgotten); e != nil {
		for _, el := range e.Sets["all"] {
			var id string
			if el.Value != nil && json.Unmarshal(el.Value, &id) == nil && !slices.Contains(f.Forgotten, id) {
				f.Forgotten = append(f.Forgotten, id)
			}
		}
	}
	return f
}

func withValue(list []join.Element) (values []join.Element) {
	for _, el := range list {
		if el.Value != nil {
			values = append(values, el)
		}
	}
	return values
}

// Sessions returns the sessions to which a state belongs.
func (st *State) Sessions() (list []string) {
	list = append(list, gjson.GetBytes(st.Record, "session_id").Str)
	for _, l := range st.Links {
		list = append(list, gjson.GetBytes(l.Value, "session_id").Str)
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
}

// Holders returns the machines with records of states that belong to a session, or with links to it.
func (f *Files) Holders(session string) (list []record.Machine) {
	for _, st := range f.States {
		if !slices.Contains(st.Sessions(), session) {
			continue
		}
		for _, el := range slices.Concat(st.Records, st.Links) {
			if !slices.Contains(list, el.Stamp.Machine) {
				list = append(list, el.Stamp.Machine)
			}
		}
	}
	return list
}

func add(entity, field string, value json.RawMessage) plan.Op {
	return plan.Op{Op: record.Op{Do: record.Add, Entity: entity, Field: field, Value: value}}
}

func drop(entity, field string, stamps []record.Stamp) plan.Op {
	return plan.Op{Op: record.Op{Do: record.Drop, Entity: entity, Field: field, Stamps: stamps}}
}

func valueOf(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is of strings
	}
	return data
}
