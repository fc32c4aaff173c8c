package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/sjson"
)

// SetConfigs replaces the configs of a line; configs is an object. With merge,
// its members are set and the others stay; null removes a member.
func (ln Line) SetConfigs(ctx context.Context, configs json.RawMessage, merge bool) (*lines.Entry, error) {
	if configs == nil {
		configs = json.RawMessage("{}")
	}
	if err := checkObject("configs", configs); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "configure", Args: store.Args{"session": ln.name}}
	return store.Update(ctx, ln.w.store, op, func(tx *store.Tx) (*lines.Entry, error) {
		first, err := firstOf(tx.View, ln.name)
		if err != nil {
			return nil, err
		}
		tx.Op.Args["session"] = first.ID
		all := configs
		if was := first.Own(ownConfigs); merge && checkObject("configs", was) == nil {
			all = merged(was, configs)
		}
		all = ownConfigsOf(all)
		if err := checkSize("configs", all); err != nil {
			return nil, err
		}
		edit := first.Edit()
		edit.SetOwn(ownConfigs, all)
		if err := tx.Replace(edit); err != nil {
			return nil, err
		}
		return lineEntryOf(tx.View, first.ID)
	})
}

// firstOf returns the first file of the line of a session. It returns an error
// if bough must not change that file.
func firstOf(v *store.View, name string) (*session.Outline, error) {
	o, err := ownSession(v, name)
	if err != nil || v.Kind(o.ID) == session.Checkpoint {
		return o, err
	}
	ids, err := v.LineIDs(o.ID)
	if err != nil {
		return nil, err
	}
	return v.Outline(ids[0])
}

// maxOwn limits the size, in bytes, of the configs of a line and of the
// metadata that a user adds to a message.
const maxOwn = 1 << 20

// checkSize returns an error if an object is larger than maxOwn.
func checkSize(what string, object json.RawMessage) error {
	if len(object) <= maxOwn {
		return nil
	}
	return &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("the %s would have %d bytes; at most %d are allowed", what, len(object), maxOwn),
		Hint:    "null removes a member",
		Err:     ErrTooLarge,
	}
}

// merged returns the members of was, overwritten by those of with; null removes
// a member. Both must be valid; was may be nil.
func merged(was, with json.RawMessage) json.RawMessage {
	var pairs []rawjson.Pair
	if was != nil {
		pairs = rawjson.Pairs(was, rawjson.Root(was))
	}
	for _, p := range rawjson.Pairs(with, rawjson.Root(with)) {
		i := slices.IndexFunc(pairs, func(q rawjson.Pair) bool { return q.Key == p.Key })
		switch null := string(p.Value) == "null"; {
		case null && i >= 0:
			pairs = slices.Delete(pairs, i, i+1)
		case null:
		case i >= 0:
			pairs[i] = p
		default:
			pairs = append(pairs, p)
		}
	}
	return rawjson.AppendObject(nil, pairs, 0)
}

// maxEvents is how many events a line can have.
const maxEvents = 10_000

// AddEvent adds an event to a line. data must be an object.
func (ln Line) AddEvent(ctx context.Context, kind string, data json.RawMessage) (*lines.Event, error) {
	if data == nil {
		data = json.RawMessage("{}")
	}
	if err := cmp.Or(store.CheckUTF8("type", kind), checkObject("data", data)); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "note", Args: store.Args{"session": ln.name, "type": kind}}
	return store.Update(ctx, ln.w.store, op, func(tx *store.Tx) (*lines.Event, error) {
		first, err := firstOf(tx.View, ln.name)
		if err != nil {
			return nil, err
		}
		tx.Op.Args["session"] = first.ID
		events, err := eventsIn(first)
		if err != nil {
			return nil, err
		}
		if len(events) >= maxEvents {
			return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s already has %d events", first.ID, len(events))}
		}
		e := &lines.Event{Type: kind, Data: data, CreatedAt: tx.View.Now(nil)}
		if n := len(events); n > 0 && !e.CreatedAt.After(events[n-1].CreatedAt) {
			e.CreatedAt = events[n-1].CreatedAt.Add(time.Microsecond)
		}
		if e.ID, err = sessionid.NewMessage(tx.View.Store.Opts.Random); err != nil {
			return nil, err
		}
		edit := first.Edit()
		all := first.Own(ownEvents)
		if all == nil {
			all = []byte("[]")
		}
		if all, err = sjson.SetRawBytes(all, "-1", rawjson.Compact(e)); err != nil { // the other events stay as they are
			return nil, err
		}
		edit.SetOwn(ownEvents, all)
		return e, tx.Replace(edit)
	})
}

// Events returns the events that [Line.AddEvent] added, oldest first.
func (ln Line) Events(ctx context.Context) ([]lines.Event, error) {
	return store.Read(ctx, ln.w.store, func(v *store.View) ([]lines.Event, error) {
		id, err := v.Resolve(ln.name)
		if err != nil {
			return nil, err
		}
		l, err := lineEntryOf(v, id)
		if err != nil {
			return nil, err
		}
		first, err := v.Outline(l.ID)
		if err != nil {
			return nil, err
		}
		return eventsIn(first)
	})
}

// eventsIn returns the events in the first file of a line. If another program
// stored something else there, it returns an error.
func eventsIn(first *session.Outline) (list []lines.Event, err error) {
	data := first.Own(ownEvents)
	if data == nil {
		return nil, nil
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &fault.Error{Code: fault.Refused, Message: "metadata.bough.events of " + first.ID + " are malformed: " + err.Error(), Err: err}
	}
	return list, nil
}

// checkObject returns an error unless data is a JSON object or nil.
func checkObject(what string, data json.RawMessage) error {
	if data == nil {
		return nil
	}
	err := rawjson.Check(data)
	if err == nil {
		_, err = rawjson.Members(data, rawjson.Root(data))
	}
	if err != nil || !json.Valid(data) || data[rawjson.Root(data).Start] != '{' {
		return &fault.Error{Code: fault.Usage, Message: "the " + what + " must be a JSON object", Err: err}
	}
	return nil
}
