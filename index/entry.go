package index

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// An Entry is what the index knows of one session.
type Entry struct {
	ID string
	session.Meta
	CreatedAt    time.Time
	LastActive   time.Time
	MessageCount int
	HeaderCount  int // of those, how many repeat what the line already has
	Setting      session.Setting
	Opening      string // the first words of the first message of a user, "" if there are none
	Err          error  // why the file cannot be used, nil if it can: damage, or no permission

	file  durable.Identity // of the file that the entry was taken from; an index file knows size and time only
	raw   []byte           // the entry as it stands in the index, nil if it does not
	to    []byte           // its continued_to there
	flat  bool             // raw stands in the journal, on one line
	fresh []rawjson.Pair   // what the file says, in Penguin's order; nil if raw still says it
	place int              // among the members of the index
	size  int              // of the entry in the index or in the journal, in bytes, at least
}

// DisplayTitle is the title of the session, or one made from its id.
func (e *Entry) DisplayTitle() string { return cmp.Or(e.Title, session.DefaultTitle(e.ID)) }

// Size is the size of the session's file in bytes.
func (e *Entry) Size() int64 { return e.file.Size }

// The members of an entry that are taken from its file: those that are made of
// it, those that Penguin copies out of the metadata, in its order, and those
// that bough copies too.
var (
	written = []string{"created_at", "last_active", "message_count", "token_count", "title",
		"continued_from", "source_session_tokens", "continued_to", "bough"}
	copiedByPenguin = []string{"directory", "title_source", "agent_mode", "parentID", "parent_id",
		"agent_id", "providerID", "modelID", "variant", "_penguin_goal_v1"}
	copiedLinks = []string{"branched_from", "branch_point", "lineage", "flattened_snapshot"}
)

// take fills e from the session file it describes.
func (e *Entry) take(s session.Summary) {
	e.Meta = s.Meta
	e.MessageCount, e.HeaderCount = s.Messages, s.Header
	e.Setting = s.Setting
	if s.Opening != nil {
		e.Opening = *s.Opening
	}
	e.CreatedAt = timeOf(s.CreatedAt, e.modTime())
	e.LastActive = timeOf(s.LastActive, e.CreatedAt)
	var pairs []rawjson.Pair
	add := func(key string, value []byte) { pairs = append(pairs, rawjson.Pair{Key: key, Value: value}) }
	copyOf := func(key string) {
		i := slices.IndexFunc(s.Metadata, func(p rawjson.Pair) bool { return p.Key == key })
		if i >= 0 && !bytes.Equal(s.Metadata[i].Value, []byte("null")) {
			add(key, rawjson.Layout(s.Metadata[i].Value, 2))
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

// own is what bough keeps of e beside the copied members. Opening is nil if it is not
// known.
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
		Size      int64        `json:"size"`
		MTime     string       `json:"mtime"` // in nanoseconds, as a string: it is more than a float holds
	}{
		e.Meta.Kind(), e.Auto, e.HeaderCount,
		opening, e.Setting.Tool, e.Setting.Directory, e.Setting.GitBranch, e.Setting.Model,
		e.file.Size, strconv.FormatInt(e.file.ModTime, 10),
	}
	return rawjson.Value(own, 2)
}

// spoil fills e for a file that cannot be used. Penguin wants an entry for
// every file; this one keeps what an earlier entry said and describes no file,
// so that the file is looked at again.
func (e *Entry) spoil(err error) {
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
		{Key: "title", Value: rawjson.Compact(session.DefaultTitle(e.ID))},
	})
}

// keep takes over how old stands in the index.
func (e *Entry) keep(old *Entry) {
	e.raw, e.to, e.flat, e.place = old.raw, old.to, old.flat, old.place
}

// renew makes pairs the members of e that are taken from its file.
func (e *Entry) renew(pairs []rawjson.Pair) {
	e.fresh = pairs
	e.size = len(e.ID)
	for _, p := range pairs {
		e.size += len(p.Key) + len(appendFlat(nil, p.Value)) + len(`"": `)
	}
}

// describes reports whether e was taken from the file as it now is, as far as
// size and time tell.
func (e *Entry) describes(file durable.Identity) bool {
	return e.file.Size == file.Size && e.file.ModTime == file.ModTime && file.Size > 0
}

func (e *Entry) modTime() time.Time { return time.Unix(0, e.file.ModTime) }

// timeOf reads a time of a session, or takes another where it cannot be read.
func timeOf(s string, other time.Time) time.Time {
	if t, ok := session.ParseTime(s); ok {
		return t
	}
	return other
}

// decodeEntry reads the entry of id from raw. One that bough did not write, or
// that cannot be used, describes no file.
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

// decode fills e from the members of the object at span in data.
func (e *Entry) decode(data []byte, span rawjson.Span, members []rawjson.Member) {
	meta, err := session.DecodeMeta(data, members)
	if err != nil {
		return
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
	if e.Title == session.DefaultTitle(e.ID) {
		e.Title = ""
	}
}

// decodeOwn takes from the entry's object bough what its own method put there. One that
// does not say the opening describes no file: it is of a version that did not know it, or
// of a file that has to be read for it.
func (e *Entry) decodeOwn(v gjson.Result) {
	e.HeaderCount = int(v.Get("header").Int())
	opening := v.Get("opening")
	e.Opening = opening.String()
	e.Setting = session.Setting{
		Tool:      v.Get("tool").String(),
		Directory: v.Get("directory").String(),
		GitBranch: v.Get("git_branch").String(),
		Model:     v.Get("model").String(),
	}
	ns, err := strconv.ParseInt(v.Get("mtime").String(), 10, 64)
	if err == nil && opening.Exists() && coherent(&e.Meta, v.Get("kind").Str) {
		e.file = durable.Identity{Size: v.Get("size").Int(), ModTime: ns}
	}
}

// coherent reports whether the links of an entry agree with the kind that it
// names and with one another. The loss of one of them, by a byte that went bad,
// makes another session of it.
func coherent(m *session.Meta, kind string) bool {
	return string(m.Kind()) == kind &&
		(len(m.Lineage) == 0 || m.Origin() != "") &&
		(m.BranchedFrom == "" || m.BranchedFrom == m.Origin())
}

// differs reports whether the index said something else of a session than its
// file does, of what a person would notice.
func (e *Entry) differs(file *Entry) bool {
	return e.MessageCount != file.MessageCount ||
		e.DisplayTitle() != file.DisplayTitle() ||
		!slices.Equal(e.ContinuedFrom, file.ContinuedFrom)
}

// bytes returns the entry without what is derived: as it stands where it still
// holds, else with what the file says in it and with all that bough does not
// know.
func (e *Entry) bytes() []byte {
	if e.fresh == nil {
		return e.raw
	}
	return e.encode(nil)
}

// encode returns the entry as bough writes it into the index, with to as its
// continued_to; nil is none.
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
