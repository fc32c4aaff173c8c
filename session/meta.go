package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Kind is the role of a session in its lineage.
type Kind string

const (
	Root         Kind = "root"         // has no origin
	Continuation Kind = "continuation" // the next file of the same line
	Branch       Kind = "branch"       // a snapshot that can be continued
	Checkpoint   Kind = "checkpoint"   // a read-only snapshot
)

// Meta holds the links and properties in a session's metadata. The names are those
// of docs/format.md.
type Meta struct {
	Title         string
	ContinuedFrom []string // at most one: the session that this one continues or is a copy of
	ContinuedTo   []string // as in the file; the index computes the correct list
	ListLinks     bool     // continued_from is written as a list: the file is in bough's dialect
	BranchedFrom  string   // the session, or Penguin's checkpoint, that a snapshot was copied from
	BranchPoint   string   // the last message that a snapshot copied
	Lineage       []string // of a snapshot: from the root to the source, at the time of the copy
	Snapshot      bool     // holds all messages of its path, whatever its origin
	Auto          bool     // an automatic checkpoint
	Sealed        *Seal    // of a checkpoint that bough made

	kind Kind // bough.kind
}

// A Seal records the messages of a checkpoint at its creation.
type Seal struct {
	Messages int    // number of messages
	CRC32C   string // of the span from the first to the last message, as eight hexadecimal digits
}

// Kind returns the kind of the session. A snapshot without bough.kind is a branch.
func (m *Meta) Kind() Kind {
	switch {
	case m.Snapshot && m.kind == Checkpoint:
		return Checkpoint
	case m.Snapshot:
		return Branch
	case len(m.ContinuedFrom) > 0:
		return Continuation
	}
	return Root
}

// Origin returns the session that this one continues or was copied from, "" if
// none.
func (m *Meta) Origin() string {
	if len(m.ContinuedFrom) > 0 {
		return m.ContinuedFrom[0]
	}
	return m.BranchedFrom
}

// Dialect returns the dialect of the session's links.
func (m *Meta) Dialect() Dialect {
	if m.ListLinks {
		return Bough
	}
	return Penguin
}

// Set sets the field for a member of a session's metadata, or of its entry in
// the index, which uses the same names. It ignores unknown members.
func (m *Meta) Set(name string, value []byte) error {
	v := gjson.ParseBytes(value)
	switch name {
	case "title":
		m.Title = text(v)
	case "continued_from":
		from, err := link(v)
		if err != nil {
			return fmt.Errorf("continued_from %w", err)
		}
		m.ListLinks, m.ContinuedFrom = v.IsArray(), from
	case "continued_to":
		m.ContinuedTo = names(v)
	case "branched_from":
		m.BranchedFrom = text(v)
		m.Snapshot = m.Snapshot || m.BranchedFrom != ""
	case "branch_point":
		m.BranchPoint = text(v)
		m.Snapshot = m.Snapshot || m.BranchPoint != ""
	case "lineage":
		m.Lineage = names(v)
	case "flattened_snapshot":
		m.Snapshot = m.Snapshot || v.Type == gjson.True
	case "bough":
		m.kind = Kind(text(v.Get("kind")))
		m.Auto = v.Get("auto").Bool()
		m.Snapshot = m.Snapshot || m.kind == Branch || m.kind == Checkpoint
		if sealed := v.Get("sealed"); sealed.IsObject() {
			m.Sealed = &Seal{int(sealed.Get("messages").Int()), text(sealed.Get("crc32c"))}
		}
	}
	return nil
}

// metaOf decodes the metadata of a session. An error is a *rawjson.SyntaxError.
func metaOf(data []byte, members []rawjson.Member) (m Meta, err error) {
	for _, member := range members {
		if err := m.Set(member.Key, member.Value.Of(data)); err != nil {
			return Meta{}, &rawjson.SyntaxError{Offset: member.Value.Start, Problem: err.Error()}
		}
	}
	return m, nil
}

// text returns the value of a string, "" for any other type. gjson decodes the
// escape after an unpaired surrogate as the other half of the pair, so strings with
// \u escapes are decoded by encoding/json.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if strings.Contains(v.Raw, `\u`) {
		var s string
		if err := json.Unmarshal([]byte(v.Raw), &s); err == nil {
			return s
		}
	}
	return v.Str
}

// link decodes continued_from: a string, a list of at most one, null, or absent.
func link(v gjson.Result) ([]string, error) {
	switch {
	case v.Type == gjson.Null:
		return nil, nil
	case v.Type == gjson.String && v.Str == "":
		return nil, nil
	case v.Type == gjson.String:
		return []string{v.Str}, nil
	case !v.IsArray():
		return nil, fmt.Errorf("is neither a string nor a list")
	}
	list := v.Array()
	switch {
	case len(list) > 1:
		return nil, fmt.Errorf("lists %d sessions; at most one is allowed", len(list))
	case len(list) == 1 && (list[0].Type != gjson.String || list[0].Str == ""):
		return nil, fmt.Errorf("contains a value that is not a session id")
	}
	return names(v), nil
}

// names decodes a list of strings; a single string counts as a list of one.
func names(v gjson.Result) []string {
	if v.Type == gjson.String && v.Str != "" {
		return []string{v.Str}
	}
	var list []string
	for _, e := range v.Array() {
		if s := text(e); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
