package index

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// An Entry is the index's record of one session.
type Entry struct {
	ID string
	session.Meta
	CreatedAt    time.Time
	LastActive   time.Time
	MessageCount int
	HeaderCount  int // number of initial messages that repeat messages of the line
	Setting      session.Setting
	Sources      []Source // of a root or branch that was imported
	Merges       bool     // see [session.Outline.Merges]
	Opening      string   // the first words of the first user message, "" if there are none
	Packed       *Packed  // of a packed checkpoint, else nil
	Err          error    // why the file cannot be used, such as damage or missing permission; nil if it can

	file  durable.Identity // the file that the entry describes; only size and time if read from an index file
	raw   []byte           // the entry in the index, nil if not in it
	to    []byte           // its continued_to in the index
	flat  bool             // raw is in the journal, on one line
	fresh []rawjson.Pair   // members of the file, in Penguin's order; nil if raw has the same ones
	place int              // position among the members of the index
	size  int              // lower bound of the size of the entry in the index or journal, in bytes
}

// DisplayTitle is the title of the session, or a default derived from its id.
func (e *Entry) DisplayTitle() string { return cmp.Or(e.Title, sessionid.DefaultTitle(e.ID)) }

// Size is the size of the session's file in bytes, of a packed checkpoint that of its
// plain file.
func (e *Entry) Size() int64 {
	if e.Packed != nil {
		return e.Packed.Bytes
	}
	return e.file.Size
}

// Version identifies the content of the session's file, of a packed checkpoint that of its
// recipe, by size and time. It is "" if that is unknown.
func (e *Entry) Version() string {
	if e.file.Size == 0 {
		return ""
	}
	return fmt.Sprintf("%x-%x", e.file.Size, e.file.ModTime)
}

// The members of an entry that come from its file: those computed from it, those
// that Penguin copies from the metadata, in its order, and those that bough copies
// in addition.
var (
	written = []string{"created_at", "last_active", "message_count", "token_count", "title",
		"continued_from", "source_session_tokens", "continued_to", "bough"}
	copiedByPenguin = []string{"directory", "title_source", "agent_mode", "parentID", "parent_id",
		"agent_id", "providerID", "modelID", "variant", "_penguin_goal_v1"}
	copiedLinks = []string{"branched_from", "branch_point", "lineage", "flattened_snapshot"}
)

// fill sets e from the summary of its session file.
func (e *Entry) fill(s session.Summary) {
	e.Meta = s.Meta
	e.MessageCount, e.HeaderCount = s.Messages, s.Header
	e.Setting, e.Merges = s.Setting, s.Merges
	if e.hasSources() {
		e.Sources = sourcesOf(gjson.GetBytes(s.Metadata.Get("bough"), "sources"))
	}
	if s.Opening != nil {
		e.Opening = *s.Opening
	}
	e.CreatedAt = timeOf(s.CreatedAt, e.modTime())
	e.LastActive = timeOf(s.LastActive, e.CreatedAt)
	var pairs []rawjson.Pair
	add := func(key string, value []byte) { pairs = append(pairs, rawjson.Pair{Key: key, Value: value}) }
	copyOf := func(key string) {
		if value := s.Metadata.Get(key); value != nil && !bytes.Equal(value, []byte("null")) {
			add(key, rawjson.Layout(value, 2))
		}
	}
	add("created_at", rawjson.Compact(cmp.Or(s.CreatedAt, e.Dialect().Time(e.CreatedAt))))
	add("last_active", rawjson.Compact(cmp.Or(s.LastActive, e.Dialect().Time(e.LastActive))))
	add("message_count", rawjson.Compact(e.MessageCount))
	copyOf("token_count")
	add("title", rawjson.Compact(e.DisplayTitle()))
	for _, key := range copiedByPenguin {
		copyOf(key)
	}
	copyOf("continued_from")
	if len(e.ContinuedFrom) > 0 {
		copyOf("source_session_tokens")
	}
	for _, key := range copiedLinks {
		copyOf(key)
	}
	add("bough", e.own(s.Opening))
	e.renew(pairs)
}

// own returns the member bough of e. opening is nil if it is unknown.
func (e *Entry) own(opening *string) []byte {
	own := struct {
		Kind      session.Kind `json:"kind"`
		Auto      bool         `json:"auto,omitempty"`
		Header    int          `json:"header,omitempty"`
		Opening   *string      `json:"opening,omitempty"`
		Tool      string       `json:"tool,omitempty"`
		Directory string       `json:"directory,omitempty"`
		GitBranch string       `json:"git_branch,omitempty"`
		Model     string       `json:"model,omitempty"`
		Sources   *[]Source    `json:"sources,omitempty"`
		Merges    bool         `json:"merges"`
		Size      int64        `json:"size"`
		MTime     string       `json:"mtime"` // in nanoseconds, as a string: a float64 cannot represent it
	}{
		e.Meta.Kind(), e.Auto, e.HeaderCount,
		opening, e.Setting.Tool, e.Setting.Directory, e.Setting.GitBranch, e.Setting.Model, nil, e.Merges,
		e.file.Size, strconv.FormatInt(e.file.ModTime, 10),
	}
	if e.hasSources() {
		list := append([]Source{}, e.Sources...)
		own.Sources = &list
	}
	return rawjson.Value(own, 2)
}

// markUnusable sets e for a file that cannot be used. Penguin needs an entry for
// every file; this one keeps the members of an earlier entry and describes no file,
// so that the file is examined again.
func (e *Entry) markUnusable(err error) {
	e.Err = err
	if e.raw != nil {
		e.size = len(e.ID) + len(e.raw)
		return
	}
	at := rawjson.Compact(e.Dialect().Time(e.modTime()))
	e.renew([]rawjson.Pair{
		{Key: "created_at", Value: at},
		{Key: "last_active", Value: at},
		{Key: "message_count", Value: []byte("0")},
		{Key: "title", Value: rawjson.Compact(sessionid.DefaultTitle(e.ID))},
	})
}

// keep copies the position of old in the index.
func (e *Entry) keep(old *Entry) {
	e.raw, e.to, e.flat, e.place = old.raw, old.to, old.flat, old.place
}

// renew sets the members of e that come from its file.
func (e *Entry) renew(pairs []rawjson.Pair) {
	e.fresh = pairs
	e.size = len(e.ID)
	for _, p := range pairs {
		e.size += len(p.Key) + len(appendFlat(nil, p.Value)) + len(`"": `)
	}
}

// describes reports whether e was made from the current file, judging by size and
// time.
func (e *Entry) describes(file durable.Identity) bool {
	return e.file.Size == file.Size && e.file.ModTime == file.ModTime && file.Size > 0
}

func (e *Entry) modTime() time.Time { return time.Unix(0, e.file.ModTime) }

// timeOf parses a time of a session. If it cannot be parsed, it returns other.
func timeOf(s string, other time.Time) time.Time {
	if t, ok := session.ParseTime(s); ok {
		return t
	}
	return other
}

// decodeEntry decodes the entry of id. An entry that bough did not write, or that
// is invalid, describes no file.
func decodeEntry(id string, raw []byte) *Entry {
	e := &Entry{ID: id}
	if rawjson.Check(raw) != nil {
		return e
	}
	if members, err := rawjson.Members(raw, rawjson.Root(raw)); err == nil {
		e.decode(raw, rawjson.Root(raw), members)
	}
	return e
}

// decode sets e from the members of the object at span in data.
func (e *Entry) decode(data []byte, span rawjson.Span, members []rawjson.Member) {
	var meta session.Meta
	for _, m := range members {
		if meta.Set(m.Key, m.Value.Of(data)) != nil {
			return
		}
	}
	e.Meta = meta
	e.raw = span.Of(data)
	e.size = len(e.ID) + len(e.raw)
	var created, active string
	for _, m := range members {
		switch m.Key {
		case "created_at":
			created = gjson.ParseBytes(m.Value.Of(data)).String()
		case "last_active":
			active = gjson.ParseBytes(m.Value.Of(data)).String()
		case "message_count":
			e.MessageCount = int(gjson.ParseBytes(m.Value.Of(data)).Int())
		case "continued_to":
			e.to = m.Value.Of(data)
		case "bough":
			e.decodeOwn(gjson.ParseBytes(m.Value.Of(data)))
		}
	}
	e.CreatedAt = timeOf(created, e.modTime())
	e.LastActive = timeOf(active, e.CreatedAt)
	if e.Title == sessionid.DefaultTitle(e.ID) {
		e.Title = ""
	}
}

// decodeOwn decodes the entry's member bough, the inverse of own. An entry without
// an opening, without merges, or without the sources that it should have describes no
// file: an older version wrote it, or the file must be read for the opening.
func (e *Entry) decodeOwn(v gjson.Result) {
	e.HeaderCount = int(v.Get("header").Int())
	opening, merges := v.Get("opening"), v.Get("merges")
	e.Merges = merges.Bool()
	e.Opening = opening.String()
	e.Setting = session.Setting{
		Tool:      v.Get("tool").String(),
		Directory: v.Get("directory").String(),
		GitBranch: v.Get("git_branch").String(),
		Model:     v.Get("model").String(),
	}
	sources := v.Get("sources")
	if e.hasSources() {
		e.Sources = sourcesOf(sources)
	}
	ns, err := strconv.ParseInt(v.Get("mtime").String(), 10, 64)
	if err == nil && opening.Exists() && merges.Exists() && sources.IsArray() == e.hasSources() && coherent(&e.Meta, v.Get("kind").Str) {
		e.file = durable.Identity{Size: v.Get("size").Int(), ModTime: ns}
	}
}

// coherent reports whether the links of an entry agree with its kind and with each
// other. A corrupt byte that removes one of them would make it a different session.
func coherent(m *session.Meta, kind string) bool {
	return string(m.Kind()) == kind &&
		(len(m.Lineage) == 0 || m.Origin() != "") &&
		(m.BranchedFrom == "" || m.BranchedFrom == m.Origin())
}

// differs reports whether a visible property of the session in the index differs
// from its file.
func (e *Entry) differs(file *Entry) bool {
	return e.MessageCount != file.MessageCount ||
		e.DisplayTitle() != file.DisplayTitle() ||
		!slices.Equal(e.ContinuedFrom, file.ContinuedFrom)
}

// bytes returns the entry without computed members: raw if it is still valid, else
// the members of the file and the unknown members of raw.
func (e *Entry) bytes() []byte {
	if e.fresh == nil {
		return e.raw
	}
	return e.encode(nil)
}

// encode returns the entry for the index with to as its continued_to; if to is nil,
// without one.
func (e *Entry) encode(to []byte) []byte {
	var pairs []rawjson.Pair
	known := map[string]bool{"continued_to": true}
	for _, p := range e.fresh {
		if p.Key == "bough" && to != nil {
			pairs = append(pairs, rawjson.Pair{Key: "continued_to", Value: to})
		}
		pairs = append(pairs, p)
	}
	if e.fresh != nil {
		for _, key := range slices.Concat(written, copiedByPenguin, copiedLinks) {
			known[key] = true
		}
	}
	if e.raw == nil {
		return rawjson.AppendObject(nil, pairs, 1)
	}
	for _, p := range rawjson.Pairs(e.raw, rawjson.Root(e.raw)) {
		if known[p.Key] {
			continue
		}
		if e.flat {
			p.Value = rawjson.Layout(p.Value, 2)
		}
		if p.Key == "bough" && to != nil {
			pairs = append(pairs, rawjson.Pair{Key: "continued_to", Value: to})
		}
		pairs = append(pairs, p)
	}
	return rawjson.AppendObject(nil, pairs, 1)
}
