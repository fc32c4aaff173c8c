package join

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/project"
)

// A View has the contents of a state in the types of a workspace, except sessions and the log. It
// is the same on all machines that have the same records. It omits values that cannot be decoded.
type View struct {
	Bookmarks    []Bookmark // in the order in which they were set
	Agents       []Agent    // in the order in which they got their names
	Explorations []mirror.File
	Learnings    []json.RawMessage // each once
	Attachments  []Attachment
	Machines     []Machine // in the order in which they got their names
}

// A Session is a session of a remote.
type Session struct {
	ID      string
	Alive   bool // false if it was removed, and no machine added to it without having seen that
	Shell   json.RawMessage
	Title   string
	Newest  string              // id of the message that was added last
	Owner   string              // who made it, "" if unknown
	Project *project.Project    // of its folder, nil if unknown
	Runs    []Element           // its messages, see [Present]
	Undone  map[string]bool     // ids of messages whose append was undone
	Marks   map[string]Register // what a user set of a message, by id
}

// A Bookmark is a bookmark of a remote.
type Bookmark struct {
	bookmark.Bookmark
	Name    string         // the label, or LABEL@MACHINE if the label is on several messages
	Machine record.Machine // that set it first
	Stamps  []record.Stamp // of the elements that a drop of it names
}

// An Agent is an agent of a remote.
type Agent struct {
	Key      string // as its entity is named
	Name     string // different from that of all other agents
	Label    string // as it was named
	Machine  record.Machine
	Owner    string // who made it, "" if unknown
	Settings json.RawMessage
	Trees    []Element
	Head     *mirror.Head
}

// An Attachment is an attachment of a remote.
type Attachment struct {
	SHA256 string
	Body   *record.Body
}

// A Machine is a machine of a remote.
type Machine struct {
	ID      record.Machine
	Name    string // different from that of all other machines
	Label   string // as it was named
	Person  string // who uses it, "" if unknown
	Records uint64
	Seen    record.Vector // the records of others that it had merged when it published its last record
	Head    *mirror.Head
	Retired bool
}

// An Operation is an operation of a machine's workspace.
type Operation struct {
	Machine record.Machine
	Stamp   record.Stamp
	Line    json.RawMessage
}

// Project returns the view of s.
func Project(s *State) *View {
	v := &View{Machines: s.machines()}
	v.Bookmarks = s.bookmarks(v.Machines)
	v.Agents = s.agents(v.Machines)
	for id, e := range s.alive("exploration/") {
		if file, ok := e.Registers["file"]; ok {
			v.Explorations = append(v.Explorations, mirror.File{ID: id, Data: file.Value})
		}
	}
	for hash, e := range s.alive("attachment/") {
		for _, el := range e.Sets["content"] {
			if el.Body != nil {
				v.Attachments = append(v.Attachments, Attachment{hash, el.Body})
				break
			}
		}
	}
	if e := s.entity("learnings"); e != nil {
		known := map[string]bool{}
		for _, el := range e.Sets["all"] {
			if el.Value != nil && !known[string(el.Value)] {
				known[string(el.Value)] = true
				v.Learnings = append(v.Learnings, el.Value)
			}
		}
	}
	return v
}

// alive yields the entities of a kind that are alive, by the rest of their names.
func (s *State) alive(kind string) iter.Seq2[string, *Entity] {
	return func(yield func(string, *Entity) bool) {
		for name, e := range s.Entities(kind) {
			if e.Alive && !yield(strings.TrimPrefix(name, kind), e) {
				return
			}
		}
	}
}

// Sessions yields the sessions of s, ascending by id.
func (s *State) Sessions() iter.Seq[Session] {
	return func(yield func(Session) bool) {
		for name, e := range s.Entities(sessionKind) {
			if !yield(sessionOf(strings.TrimPrefix(name, sessionKind), e)) {
				return
			}
		}
	}
}

const sessionKind = "session/"

// Session returns a session of s. ok is false if s has none with that id.
func (s *State) Session(id string) (one Session, ok bool) {
	e := s.entity(sessionKind + id)
	if e == nil {
		return Session{}, false
	}
	return sessionOf(id, e), true
}

func sessionOf(id string, e *Entity) Session {
	one := Session{
		ID:      id,
		Alive:   e.Alive,
		Shell:   e.Registers["shell"].Value,
		Title:   e.text("title"),
		Newest:  e.text("newest"),
		Owner:   e.person("owner"),
		Project: e.project(),
	}
	for _, el := range e.Sets["messages"] {
		if el.Body != nil {
			one.Runs = append(one.Runs, el)
		}
	}
	for _, el := range e.Sets["undone"] {
		if one.Undone == nil {
			one.Undone = map[string]bool{}
		}
		one.Undone[text(el.Value)] = true
	}
	for field, r := range e.Registers {
		if message, ok := strings.CutPrefix(field, "message/"); ok {
			if one.Marks == nil {
				one.Marks = map[string]Register{}
			}
			one.Marks[message] = r
		}
	}
	return one
}

// Log returns the operations of all machines, in the order of the join.
func (s *State) Log() []Operation {
	var list []Operation
	for _, e := range s.each(machineKind, true) {
		for _, el := range e.Sets[logField] {
			if el.Value != nil {
				list = append(list, Operation{el.Stamp.Machine, el.Stamp, el.Value})
			}
		}
	}
	slices.SortFunc(list, func(a, b Operation) int { return a.Stamp.Compare(b.Stamp) })
	return list
}

// text returns the value of a register that is a string, else "".
func (e *Entity) text(field string) string { return text(e.Registers[field].Value) }

// person returns the value of a register that is the name of a person, else "".
func (e *Entity) person(field string) string {
	name := e.text(field)
	if len(name) > maxPerson || strings.ContainsFunc(name, unicode.IsControl) {
		return ""
	}
	return name
}

// maxPerson is the maximum length of the name of a person, in bytes.
const maxPerson = 200

// project returns the value of the register project, nil if there is none that a machine can use.
func (e *Entity) project() *project.Project {
	var p *project.Project
	if value := e.Registers["project"].Value; value == nil || json.Unmarshal(value, &p) != nil || p == nil || !p.Valid() {
		return nil
	}
	return p
}

func text(value json.RawMessage) (s string) {
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// head returns the value of the register head, nil if there is none.
func (e *Entity) head() *mirror.Head {
	var h *mirror.Head
	if value := e.Registers["head"].Value; value == nil || json.Unmarshal(value, &h) != nil || h == nil || h.Session == "" {
		return nil
	}
	return h
}

// Held returns the ids of the messages that a bookmark or the head of an agent names.
func (v *View) Held() map[string]bool {
	held := map[string]bool{}
	for _, b := range v.Bookmarks {
		held[b.Message] = true
	}
	for _, a := range v.Agents {
		if a.Head != nil {
			held[a.Head.Message] = true
		}
	}
	delete(held, "")
	return held
}

// Present returns the items that a session has, in the order of items, each id once. It omits a
// message whose append was undone, unless the message is held or a message that Present returns
// follows it. If several items have one id, the first one counts; twice has the later ones whose
// content differs from it.
func Present(items []record.Item, undone, held map[string]bool) (present, twice []record.Item) {
	first := make(map[string]int, len(items))
	var once []record.Item
	for _, item := range items {
		i, known := first[item.ID]
		switch {
		case item.ID == "": // a path of another session
			once = append(once, item)
		case !known:
			first[item.ID] = len(once)
			once = append(once, item)
		case !bytes.Equal(once[i].Raw, item.Raw):
			twice = append(twice, item)
		}
	}
	stays := make([]bool, len(once))
	for i, item := range once {
		if undone[item.ID] && !held[item.ID] {
			continue
		}
		for known := true; known && !stays[i]; { // and all that it follows
			stays[i] = true
			if parent := once[i].Parent; parent != nil {
				i, known = first[*parent]
			} else {
				known = false
			}
		}
	}
	for i, item := range once {
		if stays[i] {
			present = append(present, item)
		}
	}
	return present, twice
}
