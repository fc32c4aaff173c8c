package index

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

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
	e.CreatedAt = timeOf(s.CreatedAt, e.stat.ModTime)
	e.LastActive = timeOf(s.LastActive, e.CreatedAt)
	add := func(key string, value []byte) { e.fresh = append(e.fresh, rawjson.Pair{Key: key, Value: value}) }
	copyOf := func(key string) {
		i := slices.IndexFunc(s.Metadata, func(p rawjson.Pair) bool { return p.Key == key })
		if i >= 0 && !bytes.Equal(s.Metadata[i].Value, []byte("null")) {
			add(key, rawjson.Layout(s.Metadata[i].Value, 2))
		}
	}
	e.fresh = nil
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
	add("bough", e.own())
}

// own is what bough keeps of e beside the copied members.
func (e *Entry) own() []byte {
	own := struct {
		Kind   session.Kind `json:"kind"`
		Auto   bool         `json:"auto,omitempty"`
		Header int          `json:"header,omitempty"`
		Size   int64        `json:"size"`
		MTime  string       `json:"mtime"` // in nanoseconds, as a string: it is more than a float holds
	}{e.Meta.Kind(), e.Auto, e.HeaderCount, e.stat.Size, strconv.FormatInt(e.stat.ModTime.UnixNano(), 10)}
	return rawjson.Value(own, 2)
}

// spoil fills e for a file that cannot be used. Penguin wants an entry for
// every file; this one keeps what an earlier entry said and describes no file,
// so that the file is looked at again.
func (e *Entry) spoil(err error) {
	e.Err = err
	if e.raw != nil {
		return
	}
	at := rawjson.Compact(e.Dialect().Time(e.stat.ModTime))
	e.fresh = []rawjson.Pair{
		{Key: "created_at", Value: at},
		{Key: "last_active", Value: at},
		{Key: "message_count", Value: []byte("0")},
		{Key: "title", Value: rawjson.Compact(session.DefaultTitle(e.ID))},
	}
}

// describes reports whether e was taken from the file as it now is.
func (e *Entry) describes(st session.Stat) bool {
	return e.stat.Size == st.Size && e.stat.ModTime.Equal(st.ModTime) && st.Size > 0
}

// timeOf reads a time of a session, or takes another where it cannot be read.
func timeOf(s string, other time.Time) time.Time {
	if t, ok := session.ParseTime(s); ok {
		return t
	}
	return other
}

// decode reads an index file: the entries that can be used, and all the keys in
// their order.
func decode(data []byte) (map[string]*Entry, []string, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, nil, err
	}
	members, err := rawjson.Members(data, rawjson.Root(data))
	if err != nil {
		return nil, nil, err
	}
	entries := make(map[string]*Entry, len(members))
	order := make([]string, 0, len(members))
	for _, m := range members {
		order = append(order, m.Key)
		entries[m.Key] = decodeEntry(m.Key, data, m.Value)
	}
	return entries, order, nil
}

// decodeEntry reads one entry. One that bough did not write, or that cannot be
// used, has a stat that fits no file.
func decodeEntry(id string, data []byte, span rawjson.Span) *Entry {
	e := &Entry{ID: id}
	members, err := rawjson.Members(data, span)
	if err != nil {
		return e
	}
	if e.Meta, err = session.DecodeMeta(data, members); err != nil {
		return e
	}
	e.raw = span.Of(data)
	var created, active string
	for _, m := range members {
		v := gjson.ParseBytes(m.Value.Of(data))
		switch m.Key {
		case "created_at":
			created = v.String()
		case "last_active":
			active = v.String()
		case "message_count":
			e.MessageCount = int(v.Int())
		case "bough":
			e.HeaderCount = int(v.Get("header").Int())
			if ns, err := strconv.ParseInt(v.Get("mtime").String(), 10, 64); err == nil {
				e.stat = session.Stat{ID: id, Size: v.Get("size").Int(), ModTime: time.Unix(0, ns)}
			}
		}
	}
	e.CreatedAt = timeOf(created, e.stat.ModTime)
	e.LastActive = timeOf(active, e.CreatedAt)
	if e.Title == session.DefaultTitle(id) {
		e.Title = ""
	}
	return e
}

// differs reports whether the index said something else of a session than its
// file does, of what a person would notice.
func (e *Entry) differs(file *Entry) bool {
	return e.MessageCount != file.MessageCount ||
		e.DisplayTitle() != file.DisplayTitle() ||
		!slices.Equal(e.ContinuedFrom, file.ContinuedFrom)
}

// encode returns the index file.
func (x *Index) encode() []byte {
	pairs := make([]rawjson.Pair, 0, len(x.order))
	for _, id := range x.order {
		pairs = append(pairs, rawjson.Pair{Key: id, Value: x.entryBytes(x.entries[id])})
	}
	return append(rawjson.AppendObject(nil, pairs, 0), '\n')
}

// entryBytes returns an entry as it is to be written: as it stood where it
// still holds, else with what the file says in it and with all that bough does
// not know.
func (x *Index) entryBytes(e *Entry) []byte {
	to := x.continuedTo(e)
	if e.Err != nil && e.raw != nil {
		return e.raw
	}
	if e.fresh == nil && bytes.Equal(to, memberOf(e.raw, "continued_to")) {
		return e.raw
	}
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
	for _, p := range e.rawPairs() {
		switch {
		case p.Key == "bough" && e.fresh == nil && to != nil:
			pairs = append(pairs, rawjson.Pair{Key: "continued_to", Value: to}, p)
		case !known[p.Key]:
			pairs = append(pairs, p)
		}
	}
	return rawjson.AppendObject(nil, pairs, 1)
}

// rawPairs returns the members of the entry as it stands in the index.
func (e *Entry) rawPairs() []rawjson.Pair {
	if e.raw == nil {
		return nil
	}
	return rawjson.Pairs(e.raw, rawjson.Root(e.raw))
}

// continuedTo returns the derived member in the dialect of the entry: a list,
// or for Penguin a string where it can be one, or nothing.
func (x *Index) continuedTo(e *Entry) []byte {
	children := x.childrenOf(e.ID)
	switch {
	case e.ListLinks && children == nil:
		return []byte("[]")
	case e.ListLinks || len(children) > 1:
		return rawjson.Value(children, 2)
	case len(children) == 1:
		return rawjson.Compact(children[0])
	}
	return nil
}

func memberOf(object []byte, key string) []byte {
	if v := gjson.GetBytes(object, key); v.Exists() {
		return []byte(v.Raw)
	}
	return nil
}
