package workspace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/gjson"
)

// Members of metadata.bough in the first file of a line that programs set.
const (
	ownUser    = "user"
	ownConfigs = "configs"
	ownEvents  = "events"
)

// NewLine creates an empty session. Unlike [Workspace.New] it does not move the
// head. If a session with the UUID exists, NewLine returns its line, and
// existed is true.
func (w *Workspace) NewLine(ctx context.Context, o lines.Options) (l *lines.Entry, existed bool, err error) {
	if err := cmp.Or(store.CheckTitle("title", o.Title), store.CheckUTF8("user", o.User), checkObject("configs", o.Configs)); err != nil {
		return nil, false, err
	}
	type line struct {
		entry   *lines.Entry
		existed bool
	}
	op := operation.Operation{Verb: "new", Args: store.Args{"title": o.Title}}
	made, err := store.Create(ctx, w.store, op, func(tx *store.Tx) (made line, err error) {
		id, existed := tx.View.ByUUID(o.UUID)
		if !existed {
			if id, err = tx.NewSession(o.UUID, o.Title, ownOf(&o)...); err != nil {
				return made, err
			}
		}
		entry, err := lineEntryOf(tx.View, id)
		return line{entry, existed}, err
	})
	return made.entry, made.existed, err
}

// ownOf returns the members of metadata.bough for o.
func ownOf(o *lines.Options) (own []rawjson.Pair) {
	if o.User != "" {
		own = append(own, rawjson.Pair{Key: ownUser, Value: rawjson.Compact(o.User)})
	}
	if o.Configs != nil {
		own = append(own, rawjson.Pair{Key: ownConfigs, Value: rawjson.Layout(ownConfigsOf(o.Configs), 3)})
	}
	if o.Untracked {
		own = append(own, rawjson.Pair{Key: store.OwnUntracked, Value: []byte("true")})
	}
	return own
}

// Entry returns the line of a session.
func (ln Line) Entry(ctx context.Context) (*lines.Entry, error) {
	return store.Read(ctx, ln.w.store, func(v *store.View) (*lines.Entry, error) {
		id, err := v.Resolve(ln.name)
		if err != nil {
			return nil, err
		}
		return lineEntryOf(v, id)
	})
}

// lineEntryOf returns the entry of the line of a session.
func lineEntryOf(v *store.View, id string) (*lines.Entry, error) {
	ids := []string{id}
	if !v.IsPenguin(id) {
		var err error
		if ids, err = v.LineIDs(id); err != nil {
			return nil, err
		}
	}
	first, err := v.Outline(ids[0])
	if err != nil {
		return nil, err
	}
	return lineEntry(v, first, ids), nil
}

// lineEntry returns the entry of the line with the files ids, of which first is
// the first.
func lineEntry(v *store.View, first *session.Outline, ids []string) *lines.Entry {
	e := entryOf(v, first.ID)
	l := &lines.Entry{ID: e.ID, UUID: sessionid.UUID(e.ID), Kind: e.Kind, Title: e.Title}
	l.CreatedAt, l.UpdatedAt = e.CreatedAt, v.LastActive(ids...)
	json.Unmarshal(first.Own(ownUser), &l.User) // ignored if it has another type
	json.Unmarshal(first.Own(store.OwnUntracked), &l.Untracked)
	if configs := first.Own(ownConfigs); checkObject("configs", configs) == nil {
		l.Configs = configs
	}
	if l.Kind == session.Checkpoint {
		l.Configs = merged(l.Configs, rawjson.Compact(map[string]any{reservedConfig: map[string]any{
			"kind": session.Checkpoint, "auto": first.Meta.Auto,
		}}))
	}
	return l
}

// reservedConfig is the member in the configs of a checkpoint that marks it as
// one. It is derived: a value that a program sets under this name is ignored.
const reservedConfig = "bough"

// ownConfigsOf returns configs without the reserved member.
func ownConfigsOf(configs json.RawMessage) json.RawMessage {
	if !gjson.GetBytes(configs, reservedConfig).Exists() {
		return configs
	}
	return merged(configs, rawjson.Compact(map[string]any{reservedConfig: nil}))
}

// Lines returns the matching lines: roots, branches and checkpoints with their
// continuations. It skips unreadable files, with a note.
func (w *Workspace) Lines(ctx context.Context, o lines.ListOptions) (*lines.Listing, error) {
	if err := checkObject("configs", o.Configs); err != nil {
		return nil, err
	}
	return store.Read(ctx, w.store, func(v *store.View) (*lines.Listing, error) {
		if err := v.Whole(); err != nil {
			return nil, err
		}
		l := &lines.Listing{Lines: []lines.Entry{}}
		v.NoteUnusable()
		for _, at := range lineCursors(v, o) {
			entry, err := lineIf(v, at.id, o)
			switch {
			case err != nil && ctx.Err() != nil:
				return nil, err
			case err != nil:
				v.Store.Opts.Note(err.Error())
			case entry != nil && o.Limit > 0 && len(l.Lines) == o.Limit:
				l.More = true
				return l, nil
			case entry != nil:
				l.Lines = append(l.Lines, *entry)
			}
		}
		return l, nil
	})
}

// A lineCursor is the position of a line in a listing.
type lineCursor struct {
	lines.Cursor
	id string // of its first file
}

// lineCursors returns the cursors of the lines after o.After, in the order of o. If
// the line of o.After still exists, its stored time is used: the time in a cursor is
// rounded, and limited to certain years.
func lineCursors(v *store.View, o lines.ListOptions) []lineCursor {
	after := o.After
	if after != nil {
		if id, ok := v.ByUUID(after.UUID); ok && v.Index.Entry(id) != nil {
			after = &lines.Cursor{Time: v.Index.Entry(id).CreatedAt, UUID: after.UUID}
		}
	}
	order := func(a, b lines.Cursor) int {
		if o.Newest {
			a, b = b, a
		}
		return a.Compare(b)
	}
	var list []lineCursor
	for _, e := range v.Index.Entries() {
		c := lineCursor{lines.Cursor{Time: e.CreatedAt, UUID: sessionid.UUID(e.ID)}, e.ID}
		if e.Kind() != session.Continuation && (after == nil || order(c.Cursor, *after) > 0) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b lineCursor) int { return order(a.Cursor, b.Cursor) })
	return list
}

// lineIf returns the entry of the line that begins with the file id, nil if it
// does not match o.
func lineIf(v *store.View, id string, o lines.ListOptions) (*lines.Entry, error) {
	first, err := v.Outline(id)
	if err != nil {
		return nil, err
	}
	ids := []string{id}
	if v.Kind(id) != session.Checkpoint {
		ids, _ = v.Index.Line(id) // the files that can be read
		ids = append([]string{id}, slices.DeleteFunc(ids, func(other string) bool { return other == id })...)
	}
	l := lineEntry(v, first, ids)
	if o.User != "" && l.User != o.User || o.Configs != nil && !holds(l.Configs, o.Configs) {
		return nil, nil
	}
	return l, nil
}

// holds reports whether a JSON object contains another one: every member of
// wanted, recursively in objects.
func holds(object, wanted json.RawMessage) bool {
	if object == nil {
		return false
	}
	a, b := decoded(object), decoded(wanted)
	return a != nil && b != nil && contains(a, b)
}

// decoded decodes a JSON value and keeps the text of numbers.
func decoded(data []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// contains reports whether the JSON value a contains b, as PostgreSQL's @> does:
// an object contains its members, an array contains each element in any position,
// any other value contains an equal one.
func contains(a, b any) bool {
	switch b := b.(type) {
	case map[string]any:
		a, ok := a.(map[string]any)
		for key, value := range b {
			inside, there := a[key]
			ok = ok && there && contains(inside, value)
		}
		return ok
	case []any:
		a, ok := a.([]any)
		for _, value := range b {
			ok = ok && slices.ContainsFunc(a, func(inside any) bool { return contains(inside, value) })
		}
		return ok
	}
	x, isNumber := a.(json.Number)
	if y, ok := b.(json.Number); ok && isNumber {
		return sameNumber(x, y)
	}
	_, object := a.(map[string]any)
	_, array := a.([]any)
	return !object && !array && a == b
}

// sameNumber reports whether two numbers are equal, as 1 and 1.0 are. Numbers
// with more digits than a float64 represents must have the same text.
func sameNumber(a, b json.Number) bool {
	const exact = 15 // digits
	x, errX := a.Float64()
	y, errY := b.Float64()
	return a == b || errX == nil && errY == nil && x == y && len(a) <= exact && len(b) <= exact
}
