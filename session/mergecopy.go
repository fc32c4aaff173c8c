package session

import (
	"bytes"
	"fmt"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A CopyMerge is the result of [Session.MergeCopy].
type CopyMerge struct {
	Data     []byte // content of the merged file; nil if the copy has nothing to add
	Messages int    // number of added messages
	Records  int    // number of added records of tools and requests
}

// A MergeError says why a copy cannot be merged.
type MergeError struct {
	Message string // id of the conflicting message, or ""
	Problem string
}

func (e *MergeError) Error() string {
	if e.Message == "" {
		return e.Problem
	}
	return fmt.Sprintf("message %q %s", e.Message, e.Problem)
}

// MergeCopy adds to s the messages and records that only other has. other is a copy
// of the same file that was changed independently. The messages of s keep their
// places and bytes; those of other are appended, with a parent_id where their order
// does not imply it.
//
// The error is a *[MergeError] if the two have a message with the same id and
// different contents or parents, or if s is a checkpoint and other has additional
// messages.
func (s *Session) MergeCopy(other *Session) (*CopyMerge, error) {
	parents, err := s.parents()
	if err != nil {
		return nil, err
	}
	others, err := other.parents()
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(s.Messages))
	for i, m := range s.Messages {
		place[m.ID] = i
	}
	merge := &CopyMerge{}
	edit := s.Edit()
	last := ""
	if n := len(s.Messages); n > 0 {
		last = s.Messages[n-1].ID
	}
	for i, m := range other.Messages {
		if at, ok := place[m.ID]; ok {
			switch {
			case !sameMessage(s.Messages[at].Raw, m.Raw):
				return nil, &MergeError{m.ID, "has different contents in the copy"}
			case parents[at] != others[i]:
				return nil, &MergeError{m.ID, "has a different parent in the copy"}
			}
			continue
		}
		raw := m.Raw
		if i == other.Header && i > 0 && others[i] == "" && last != other.Messages[i-1].ID && !hasParent(raw) {
			marker := gjson.GetBytes(other.Messages[i-1].Raw, "metadata.parent_id")
			if marker.Type != gjson.String {
				return nil, &MergeError{m.ID, "has its parent in an earlier file, without a parent_id"}
			}
			others[i] = marker.Str
		}
		if !hasParent(raw) && others[i] != last {
			if v := gjson.GetBytes(raw, "metadata"); v.Exists() && !v.IsObject() {
				return nil, &MergeError{m.ID, "has metadata that cannot hold a parent_id"}
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
	if merge.Messages > 0 && s.Meta.Kind() == Checkpoint {
		return nil, &MergeError{"", fmt.Sprintf("the copy has %d more messages, and a checkpoint is read-only", merge.Messages)}
	}
	return merge, merge.write(edit, s, other)
}

// write sets the Data of the merge.
func (c *CopyMerge) write(edit *Edit, s, other *Session) error {
	if c.Messages > 0 {
		edit.SetMeta("message_count", s.Len()+c.Messages)
		was, ok := ParseTime(s.LastActive)
		if now, newer := ParseTime(other.LastActive); newer && (!ok || now.After(was)) {
			edit.SetActive(other.LastActive)
		}
	}
	data, err := edit.layout().bytes(func(*Outline) (*Session, error) { return s, nil })
	if err != nil {
		return err
	}
	have, more := s.Records(), other.Records()
	for i, key := range recordKeys {
		known := map[string]bool{}
		for _, r := range have.list(i) {
			known[string(rawjson.Dense(r.Raw))] = true
		}
		for _, r := range more.list(i) {
			if known[string(rawjson.Dense(r.Raw))] {
				continue
			}
			data = mustEdit(sjson.SetRawBytes(data, key+".-1", r.Raw))
			c.Records++
		}
	}
	if c.Messages > 0 || c.Records > 0 {
		c.Data = data
	}
	return nil
}

// parents returns the id of each message's parent in the same file, "" for none.
func (s *Session) parents() ([]string, error) {
	t, err := NewTree([]*Outline{s.Outline}, func(*Outline) (*Session, error) { return s, nil })
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
	if bytes.Equal(a, b) {
		return true
	}
	plain := func(raw []byte) []byte {
		raw = bytes.Clone(raw)
		for _, path := range []string{"metadata.bough", "metadata.parent_id"} {
			if gjson.GetBytes(raw, path).Exists() {
				raw = mustEdit(sjson.DeleteBytes(raw, path))
			}
		}
		return rawjson.Dense(raw)
	}
	return bytes.Equal(plain(a), plain(b))
}
