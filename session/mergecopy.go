package session

import (
	"bytes"
	"fmt"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A CopyMerge is a session with what only a copy of its file has.
type CopyMerge struct {
	Data     []byte // of the session file; nil if the copy has nothing that s lacks
	Messages int    // how many messages were added
	Records  int    // how many records of tools and of requests were added
}

// A MergeError says why a copy cannot be merged.
type MergeError struct {
	Message string // the id of the message that is in the way, "" for none
	Problem string
}

func (e *MergeError) Error() string {
	if e.Message == "" {
		return e.Problem
	}
	return fmt.Sprintf("message %q %s", e.Message, e.Problem)
}

// MergeCopy returns s with the messages and records that only other has, another copy of
// the same file that went on by itself. All messages of s stay where they are, byte for
// byte; those of other come behind them, and say their parents where the order does not.
//
// The error is a *[MergeError] where both have a message with one id and different
// contents or parents, and where s is a checkpoint, which takes no messages.
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
				return nil, &MergeError{m.ID, "has other contents in the copy"}
			case parents[at] != others[i]:
				return nil, &MergeError{m.ID, "follows another message in the copy"}
			}
			continue
		}
		raw := m.Raw
		if i == other.Header && i > 0 && others[i] == "" && last != other.Messages[i-1].ID && !hasParent(raw) {
			marker := gjson.GetBytes(other.Messages[i-1].Raw, "metadata.parent_id")
			if marker.Type != gjson.String {
				return nil, &MergeError{m.ID, "does not say which message of an earlier file it follows"}
			}
			others[i] = marker.Str
		}
		if !hasParent(raw) && others[i] != last {
			if v := gjson.GetBytes(raw, "metadata"); v.Exists() && !v.IsObject() {
				return nil, &MergeError{m.ID, "has metadata that cannot say its parent"}
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
		return nil, &MergeError{"", fmt.Sprintf("the copy has %d more messages, and a checkpoint takes none", merge.Messages)}
	}
	return merge, merge.write(edit, s, other)
}

// write sets the data of the merge.
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

// parents returns the id of the parent of each message in its file, "" for none.
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

// hasParent reports whether a message says its parent itself.
func hasParent(raw []byte) bool { return gjson.GetBytes(raw, "metadata.parent_id").Exists() }

// sameMessage reports whether two messages are the same but for metadata.bough, which may
// change later, for a parent that only one of them says, and for white space.
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
