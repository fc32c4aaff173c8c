package copilotchat

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// The kinds of entries of a journal.
const (
	initial = iota // the whole session
	set            // of the value at a path
	push           // to the list at a path, of which all from an index on is removed before
	remove         // of the value at a path
)

// maxPath is the maximum number of steps in the path of an entry; VS Code writes at most
// four.
const maxPath = 64

// A journal is the state of a session after the entries that were read.
type journal struct {
	to    transcript.Sink
	state *value // nil before the first entry

	requests []request      // all that were ever in the session, in the order of arrival
	places   map[string]int // of the requests, by id
}

// A request is a prompt with its answer.
type request struct {
	id, parent string // parent is the id of the request before it when it arrived, "" for none
	value      *value
	raw        []byte
}

// readJournal reads a journal. It returns the session without its requests, all requests
// that it ever had, and the ids of those that it has at the end. The session is nil if
// there is no entry.
func readJournal(in io.Reader, to transcript.Sink) (around []byte, all []request, live []string, err error) {
	j := &journal{to: to, places: map[string]int{}}
	if err := jsonl.Read(in, to, func(l jsonl.Line) error {
		if what := j.apply(gjson.ParseBytes(bytes.Clone(l.Raw))); what != "" {
			to.Problem(l.Problem(what))
		}
		return nil
	}); err != nil || j.state == nil {
		return nil, nil, nil, err
	}
	list := j.list()
	for _, v := range list {
		live = append(live, v.id)
	}
	for i := range j.requests {
		j.requests[i].raw = j.requests[i].value.encode()
	}
	if list != nil {
		j.state.put("requests", &value{raw: []byte("[]")})
	}
	return j.state.encode(), j.requests, live, nil
}

// list returns the requests of the session.
func (j *journal) list() []*value {
	v := j.state.child("requests")
	if v == nil || !v.parse() {
		return nil
	}
	return v.list
}

// apply applies an entry. It returns a description of an error, "" if there is none.
func (j *journal) apply(entry gjson.Result) string {
	kind, v := entry.Get("kind"), entry.Get("v")
	if kind.Type != gjson.Number {
		return "not an entry of a journal"
	}
	switch kind.Num {
	case initial:
		if !v.IsObject() {
			return "the initial session is not an object"
		}
		j.state = &value{raw: []byte(v.Raw)}
		j.notice(0, len(j.list()))
		return ""
	case set, push, remove:
	default:
		return "an entry of an unknown kind: " + kind.Raw
	}
	missing := ""
	if j.state == nil {
		j.state, missing = &value{raw: []byte("{}")}, "the journal has no initial session"
	}
	path, ok := pathOf(entry.Get("k"))
	if !ok {
		return "the path of an entry is not a list of names and numbers"
	}
	at := j.state
	for i := range len(path) - 1 {
		if at = at.child(path[i]); at == nil {
			return fmt.Sprintf("an entry changes %s, which does not exist", member.Compact(entry.Get("k").Raw))
		}
	}
	name := path[len(path)-1]
	if path[0] == "requests" && len(path) <= 2 {
		before := len(j.list())
		defer func() { j.notice(changed(entry, path, before, len(j.list()))) }()
	}
	switch kind.Num {
	case set:
		if !at.put(name, &value{raw: []byte(v.Raw)}) {
			return fmt.Sprintf("an entry changes %s, which does not exist", member.Compact(entry.Get("k").Raw))
		}
	case push:
		list := at.child(name)
		if list == nil || string(list.raw) == "null" {
			list = &value{raw: []byte("[]")}
			if !at.put(name, list) {
				return fmt.Sprintf("an entry changes %s, which does not exist", member.Compact(entry.Get("k").Raw))
			}
		}
		if !list.parse() || list.names != nil {
			return fmt.Sprintf("an entry adds to %s, which is not a list", member.Compact(entry.Get("k").Raw))
		}
		if i := entry.Get("i"); i.Exists() {
			if n, ok := natural(i); !ok || n > len(list.list) {
				missing = fmt.Sprintf("an entry removes from place %s of a list with %d", i.Raw, len(list.list))
			} else {
				list.list = list.list[:n] // not a copy: there are as many entries as an answer has parts
			}
		}
		for _, item := range v.Array() {
			list.list = append(list.list, &value{raw: []byte(item.Raw)})
		}
	case remove:
		at.drop(name)
	}
	return missing
}

// changed returns the range of the requests that an entry changed. There were before requests, and
// there are after.
func changed(entry gjson.Result, path []string, before, after int) (from, to int) {
	switch n, ok := natural(entry.Get("i")); {
	case len(path) == 2:
		n, ok = natural(entry.Get("k.1"))
		if !ok || n >= after {
			return after, after
		}
		return n, n + 1
	case entry.Get("kind").Num != push:
		return 0, after
	case ok && n < before:
		return n, after
	}
	return before, after
}

// natural returns an index, and false if the value is none.
func natural(v gjson.Result) (int, bool) {
	if v.Type != gjson.Number || v.Num < 0 || v.Num > math.MaxInt32 || v.Num != math.Trunc(v.Num) {
		return 0, false
	}
	return int(v.Num), true
}

// notice records those of a range of requests that are not known. One that is not known by its id
// follows the one before it.
func (j *journal) notice(from, to int) {
	list := j.list()
	before := ""
	if from > 0 {
		before = list[from-1].id
	}
	for i := from; i < to; i++ {
		v := list[i]
		v.at = i
		if v.id == "" {
			j.keep(v, before, list[:i])
		}
		before = v.id
	}
}

// keep records a request after another one. It replaces one with its id, unless that is in the
// list too.
func (j *journal) keep(v *value, before string, list []*value) {
	raw := v.encode()
	if !gjson.ParseBytes(raw).IsObject() {
		j.to.Problem(noRequest)
		v.id = before
		return
	}
	v.id = idOf(raw, before)
	if i, known := j.places[v.id]; known {
		if old := j.requests[i].value; old.at >= len(list) || list[old.at] != old {
			j.requests[i].value = v
			return
		}
		j.to.Problem(duplicate(v.id))
		v.id = otherID(raw, before)
	}
	j.places[v.id] = len(j.requests)
	j.requests = append(j.requests, request{id: v.id, parent: before, value: v})
}

// pathOf returns the path of an entry, and false if it is not one.
func pathOf(k gjson.Result) (path []string, ok bool) {
	for _, step := range k.Array() {
		if step.Type != gjson.String && step.Type != gjson.Number || len(path) == maxPath {
			return nil, false
		}
		path = append(path, nameOf(step))
	}
	return path, k.IsArray() && len(path) > 0
}
