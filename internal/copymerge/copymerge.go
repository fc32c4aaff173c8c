// Package copymerge merges two copies of a session file that were changed independently,
// as on two machines that synchronize a folder.
package copymerge

import (
	"bytes"
	"fmt"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A Result is the result of a merge.
type Result struct {
	Data     []byte // content of the merged file; nil if the copy has nothing to add
	Messages int    // number of added messages
	Records  int    // number of added records of tools and requests
}

// An Error reports why a copy cannot be merged.
type Error struct {
	Message string // id of the conflicting message, or ""
	Problem string
}

func (e *Error) Error() string {
	if e.Message == "" {
		return e.Problem
	}
	return fmt.Sprintf("message %q %s", e.Message, e.Problem)
}

// Merge adds to s the messages and records that only other has. other is a copy
// of the same file that was changed independently. The messages of s keep their
// places and bytes; those of other are appended, with a parent_id where their order
// does not imply it.
//
// The error is an *[Error] if the two have a message with the same id and
// different contents or parents, or if s is a checkpoint and other has additional
// messages.
func Merge(s, other *session.Session) (*Result, error) {
	parents, err := parentsOf(s)
	if err != nil {
		return nil, err
	}
	others, err := parentsOf(other)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(s.Messages))
	for i, m := range s.Messages {
		place[m.ID] = i
	}
	merge := &Result{}
	edit := s.Edit()
	last := ""
	if n := len(s.Messages); n > 0 {
		last = s.Messages[n-1].ID
	}
	for i, m := range other.Messages {
		if at, ok := place[m.ID]; ok {
			switch {
			case !sameMessage(s.Messages[at].Raw, m.Raw):
				return nil, &Error{m.ID, "has different contents in the copy"}
			case parents[at] != others[i]:
				return nil, &Error{m.ID, "has a different parent in the copy"}
			}
			continue
		}
		raw := m.Raw
		if i == other.Header && i > 0 && others[i] == "" && last != other.Messages[i-1].ID && !hasParent(raw) {
			marker := gjson.GetBytes(other.Messages[i-1].Raw, "metadata.parent_id")
			if marker.Type != gjson.String {
				return nil, &Error{m.ID, "has its parent in an earlier file, without a parent_id"}
			}
			others[i] = marker.Str
		}
		if !hasParent(raw) && others[i] != last {
			if v := gjson.GetBytes(raw, "metadata"); v.Exists() && !v.IsObject() {
				return nil, &Error{m.ID, "has metadata that cannot hold a parent_id"}
			}
			parent := []byte("null")
			if others[i] != "" {
				parent = rawjson.Compact(others[i])
			}
			raw = mustEdit(sjson.SetRawBytes(raw, "metadata.parent_id", parent))
		}
		edit.Append(raw)
		last = m.ID
		merge.Messages++
	}
	if merge.Messages > 0 && s.Meta.Kind() == session.Checkpoint {
		return nil, &Error{"", fmt.Sprintf("the copy has %d more messages, and a checkpoint is read-only", merge.Messages)}
	}
	return merge, merge.write(edit, s, other)
}

// write sets the Data of the merge.
func (r *Result) write(edit *session.Edit, s, other *session.Session) error {
	if r.Messages > 0 {
		edit.SetMeta("message_count", s.Len()+r.Messages)
		was, ok := session.ParseTime(s.LastActive)
		if now, newer := session.ParseTime(other.LastActive); newer && (!ok || now.After(was)) {
			edit.SetActive(other.LastActive)
		}
	}
	data, err := edit.Bytes(func(*session.Outline) (*session.Session, error) { return s, nil })
	if err != nil {
		return err
	}
	have, more := s.Records(), other.Records()
	for _, kind := range []struct {
		key        string
		have, more []session.Record
	}{
		{"llm_request_lifecycles", have.Lifecycles, more.Lifecycles},
		{"tool_call_records", have.Calls, more.Calls},
		{"tool_result_records", have.Results, more.Results},
	} {
		known := map[string]bool{}
		for _, record := range kind.have {
			known[string(rawjson.Dense(record.Raw))] = true
		}
		for _, record := range kind.more {
			if known[string(rawjson.Dense(record.Raw))] {
				continue
			}
			data = mustEdit(sjson.SetRawBytes(data, kind.key+".-1", record.Raw))
			r.Records++
		}
	}
	if r.Messages > 0 || r.Records > 0 {
		r.Data = data
	}
	return nil
}

// parentsOf returns the id of each message's parent in the same file, "" for none.
func parentsOf(s *session.Session) ([]string, error) {
	t, err := session.NewTree([]*session.Outline{s.Outline}, func(*session.Outline) (*session.Session, error) { return s, nil })
	if err != nil {
		return nil, err
	}
	list := make([]string, len(s.Messages))
	for n := range t.Len() {
		if p := t.Parent(n); p >= 0 {
			list[t.Index(n)] = t.ID(p)
		}
	}
	return list, nil
}

// hasParent reports whether a message has a parent_id.
func hasParent(raw []byte) bool { return gjson.GetBytes(raw, "metadata.parent_id").Exists() }

// sameMessage reports whether two messages are equal except for white space,
// metadata.bough, which may change later, and a parent_id that only one of them
// has.
func sameMessage(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(without(a, ownData, parentID), without(b, ownData, parentID))
}

// Content returns the bytes by which a copy of a message is recognized that another program made
// under another id or at another place: the message without white space, its id, its parent_id
// and metadata.bough. It returns nil if the message has no time of its own, because then equal
// bytes can be those of two messages, such as two that say yes.
func Content(raw []byte) []byte {
	if OwnTime(raw) == "" {
		return nil
	}
	return without(raw, "id", ownData, parentID)
}

// IsCopy reports whether two messages have the same [Content].
func IsCopy(a, b []byte) bool {
	at := OwnTime(a)
	return at != "" && at == OwnTime(b) && bytes.Equal(Content(a), Content(b))
}

// OwnTime returns the timestamp of a message as it is written, or "" if it is missing or is that
// of the message before it or of an import.
func OwnTime(raw []byte) string {
	if gjson.GetBytes(raw, ownData+".source.untimed").Bool() {
		return ""
	}
	return gjson.GetBytes(raw, "timestamp").String()
}

// The members of a message that depend on its place, or may change later.
const (
	ownData  = "metadata.bough"
	parentID = "metadata.parent_id"
)

// without returns a message without white space and some of its members. Metadata that is empty
// then is removed too.
func without(raw []byte, paths ...string) []byte {
	raw = bytes.Clone(raw)
	for _, path := range paths {
		if gjson.GetBytes(raw, path).Exists() {
			raw = mustEdit(sjson.DeleteBytes(raw, path))
		}
	}
	raw = rawjson.Dense(raw)
	if gjson.GetBytes(raw, "metadata").Raw == "{}" {
		raw = mustEdit(sjson.DeleteBytes(raw, "metadata"))
	}
	return raw
}

func mustEdit(b []byte, err error) []byte {
	if err != nil {
		panic("copymerge: " + err.Error())
	}
	return b
}
