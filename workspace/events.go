package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/watch"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Events returns the events of the workspace: first those after operation from,
// none if from is negative, then new ones until ctx ends. A slow reader misses
// no event.
//
// Events checks the workspace when a file changes and every few seconds.
// Changes by other programs are logged as an operation, completed in the index,
// and returned as events: a message event for each message that was appended to
// a session, at most a thousand at once, and a session event for any other
// change. While the sessions folder is missing, nothing is written and no event
// occurs; Options.Note is called. The text of a reply in progress is returned
// only if the agent runs through w. An error ends the sequence; the error of
// ctx is not returned.
func (w *Workspace) Events(ctx context.Context, from events.Seq) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		r := &eventReader{w: w.store, last: from}
		if err := r.begin(ctx); err != nil {
			yield(events.Event{}, err)
			return
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		wakes := watch.Paths(ctx, &watch.Options{Note: w.store.Opts.Note},
			filepath.Join(w.store.Dir, session.Dir), filepath.Join(w.store.Dir, filepath.FromSlash(operation.Path)))
		heard, leave := w.store.Live.Listen()
		defer leave()
		away := absence{w: w.store}
		var looked time.Time // when the last check of every session ended
		var took time.Duration
		for {
			var wake watch.Wake
			open, content := true, false
			select {
			case wake, open = <-wakes:
			case <-heard.More:
				content = true
			}
			if !open {
				return
			}
			if away.look() {
				continue
			}
			if !content && (wake.Notice || time.Since(looked) >= checkShare*took) {
				start := time.Now()
				err := heal(ctx, w.store)
				if away.look() {
					continue
				}
				if err != nil && ctx.Err() == nil {
					w.store.Opts.Note("detecting changes of other programs failed: " + err.Error())
				}
				looked = time.Now()
				took = looked.Sub(start)
			}
			for e, err := range r.next(ctx, func() []store.LivePiece { return w.store.Live.Take(heard) }) {
				if ctx.Err() != nil {
					return
				}
				if err != nil && away.look() {
					break
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// An absence records whether the sessions folder of a workspace is missing.
// While it is, nothing may be written: a write would create the folder and log
// that every session was removed.
type absence struct {
	w    *store.Store
	seen bool // the folder has existed
	away bool
}

// look reports whether the sessions folder is missing.
func (a *absence) look() bool {
	dir := filepath.Join(a.w.Dir, session.Dir)
	_, err := os.Stat(dir)
	gone := a.seen && errors.Is(err, fs.ErrNotExist)
	switch {
	case gone && !a.away:
		a.w.Opts.Note(dir + " is missing; events resume when it is restored")
	case a.away && !gone:
		a.w.Opts.Note(dir + " was restored; events resume")
	}
	a.seen, a.away = a.seen || err == nil, gone
	return gone
}

// checkShare limits the time for checks of every session that no change caused:
// one part of this many.
const checkShare = 50

// heal checks every session and, if the index is stale, logs the changes of
// other programs and completes the index.
func heal(ctx context.Context, w *store.Store) error {
	quiet := *w
	quiet.Opts.Note = func(string) {}
	stale, err := store.Read(ctx, &quiet, func(v *store.View) (stale bool, err error) {
		err = v.Whole()
		return v.Index.Stale() || v.Index.Old, err
	})
	if err != nil || !stale || !store.Is(w.Dir) {
		return err
	}
	_, err = store.Locked(ctx, &quiet, operation.Operation{Verb: "watch"}, store.Mode{Present: true}, func(tx *store.Tx) (store.Nothing, error) {
		return store.Nothing{}, tx.Conclude(cmp.Or(tx.View.Whole(), tx.View.CheckPresent()))
	})
	if errors.Is(err, fault.Locked) || errors.Is(err, store.ErrAway) {
		return nil // the owner of the lock sees it too, or the folder reappears
	}
	return err
}

// An eventReader reads the log of a workspace.
type eventReader struct {
	w    *store.Store
	last events.Seq // the last operation returned, or the last before the reader began
	at   int64      // offset in the log of the next operation, or of the last one that was read
	read *operation.Operation
	held []store.LivePiece // that follow an operation that was not read yet
	full operation.Filler  // for the operations that were returned
}

// complete returns an operation of log with the contents of its small files.
func (r *eventReader) complete(log *operation.Log, o *operation.Operation) *operation.Operation {
	full, ok := r.full.Fill(o)
	if !ok {
		full, _ = operation.Full(log.Operations(), o)
		r.full.Fill(full)
	}
	return full
}

// begin finds the offset in the log after the last operation.
func (r *eventReader) begin(ctx context.Context) error {
	root, err := r.w.Open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	log, err := operation.Open(root)
	if err != nil {
		return err
	}
	defer log.Close()
	r.at = log.Size()
	for line, err := range log.Newest() {
		var damage *operation.DamageError
		if errors.As(err, &damage) {
			continue
		}
		if err != nil {
			return err
		}
		if r.last < 0 && line.Settled {
			r.last = line.Seq
		}
		if r.last >= 0 && line.Seq <= r.last {
			r.at, r.read = line.At, line.Operation
			return nil
		}
		r.at = line.At
	}
	r.last = max(r.last, 0)
	return nil
}

// next returns the events of new operations and, between them, the pieces that take
// returns. It reads the operations first: then take returns every piece that comes before
// one of them. Pieces after an operation that was not read yet are held until then.
func (r *eventReader) next(ctx context.Context, take func() []store.LivePiece) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		done, err := r.operations(ctx)
		var list []events.Event
		for _, o := range done {
			list = append(list, eventsOf(o)...)
		}
		pieces := append(r.held, take()...)
		r.held = nil
		pieces = slices.DeleteFunc(pieces, func(p store.LivePiece) bool {
			early := p.After > r.last
			if early {
				r.held = append(r.held, p)
			}
			return early
		})
		list = store.Merge(list, pieces)
		for i, e := range list {
			e.Behind = len(list) - 1 - i
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(events.Event{}, err)
		}
	}
}

// same reports whether log is the log that was read before: the last operation
// is at its offset.
func (r *eventReader) same(log *operation.Log) bool {
	if r.read == nil {
		return log.Size() >= r.at
	}
	for line, err := range log.From(r.at) {
		return err == nil && line.Seq == r.read.Seq && line.Time == r.read.Time
	}
	return false
}

// compacted reports whether log has the operation that was read last, at
// another offset.
func (r *eventReader) compacted(log *operation.Log) bool {
	if r.read == nil {
		return false
	}
	for line, err := range log.Newest() {
		if err == nil && line.Seq <= r.read.Seq {
			return line.Seq == r.read.Seq && line.Time == r.read.Time
		}
	}
	return false
}

// operations returns the operations since the last call.
func (r *eventReader) operations(ctx context.Context) (done []*operation.Operation, err error) {
	root, err := r.w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	log, err := operation.Open(root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	v := &store.View{Store: r.w, Ctx: ctx, Root: root}
	if log.Size() == 0 {
		return nil, nil // the workspace is new, or was moved
	}
	if !r.same(log) {
		if r.at = 0; !r.compacted(log) {
			r.last = 0
			r.w.Opts.Note("the log of operations was replaced; events continue with its first operation")
		}
	}
	for line, err := range log.From(r.at) {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			continue
		case err != nil:
			return done, err
		case !line.Settled && len(line.Changes) > 0 && !v.Made(line.Changes[0]):
			return done, nil // it is still being committed
		}
		if r.at, r.read = line.At, line.Operation; line.Seq > r.last {
			r.last = line.Seq
			done = append(done, r.complete(log, line.Operation))
		}
	}
	return done, nil
}

// eventsOf returns the events of an operation.
func eventsOf(o *operation.Operation) []events.Event {
	var list []events.Event
	add := func(t events.Type, id, message, role string) {
		list = append(list, events.Event{
			Seq: o.Seq, Time: store.TimeOf(o.Time), Type: t, Session: session.ID(id), Message: session.ID(message), Role: role,
			Verb: o.Verb, External: o.Verb == operation.External,
		})
	}
	text := func(name string) string {
		s, _ := o.Args[name].(string)
		return s
	}
	if o.Verb == operation.External {
		return external(o)
	}
	for _, c := range o.Changes {
		if c.File == bookmark.Path {
			bookmarked(c, func(t events.Type, b bookmark.Bookmark) {
				add(t, b.Session, b.Message, "")
				list[len(list)-1].Label = b.Label
			})
			continue
		}
		if store.IsAgent(c.File) {
			if name, was, is := agentMove(c); is != was && is.Tree != "" {
				add(events.HeadMoved, is.Tree, is.Node, "")
				list[len(list)-1].Agent = name
			}
			continue
		}
		if exchanged(o, c) {
			if c.Is != nil {
				add(events.SessionChanged, store.SessionOf(c.File), "", "")
			}
			continue
		}
		if t, id, message, ok := eventOf(o.Verb, c); ok {
			add(t, id, message, "")
		}
	}
	if message := text("message"); message != "" && len(o.Sessions) > 0 && (o.Verb == "append" || o.Args["chat"] != nil) {
		at := slices.IndexFunc(list, func(e events.Event) bool { return e.Type == events.HeadMoved })
		if at < 0 {
			at = len(list)
		}
		added, _ := store.Argument[store.Addition](o, store.ArgAdded)
		for i := range list {
			if added.Copy && list[i].Type == events.SessionCreated {
				list[i].Type = events.BranchCreated
			}
		}
		e := events.Event{
			Seq: o.Seq, Time: store.TimeOf(o.Time), Type: events.MessageAdded, Session: session.ID(o.Sessions[0]), Message: session.ID(message),
			Role: text("role"), Agent: text("agent"), Verb: o.Verb,
		}
		list = slices.Insert(list, at, added.Events(e)...)
	}
	list = append(list, store.QueueEvents(o)...)
	for _, r := range replacedIn(o) {
		add(events.MessageReplaced, r.Session, r.By, "")
		list[len(list)-1].Replaces = session.ID(r.Message)
	}
	return chatEvents(o, list)
}

// exchanged reports whether c creates or removes one of the two files of a checkpoint that
// was packed or unpacked: o has the opposite change of the other one.
func exchanged(o *operation.Operation, c operation.Change) bool {
	id := store.SessionOf(c.File)
	return id != "" && slices.ContainsFunc(o.Changes, func(d operation.Change) bool {
		return d.File != c.File && store.SessionOf(d.File) == id && (c.Was == nil) == (d.Is == nil) && (c.Is == nil) == (d.Was == nil)
	})
}

func replacedIn(o *operation.Operation) []store.Replacement {
	list, _ := store.Argument[[]store.Replacement](o, "replaced")
	return list
}

// eventOf returns the event for the change of a file. ok is false if the change
// only follows from others.
func eventOf(verb string, c operation.Change) (t events.Type, id, message string, ok bool) {
	id = store.SessionOf(c.File)
	switch {
	case c.File == store.HeadFile:
		var h store.StoredHead
		if json.Unmarshal([]byte(c.After), &h) != nil {
			h = store.StoredHead{}
		}
		return events.HeadMoved, h.Session, string(h.Message), true
	case id == "", c.Link:
		return "", "", "", false
	case c.Is == nil:
		return events.SessionRemoved, id, "", true
	case c.Was == nil && verb == "checkpoint":
		return events.CheckpointCreated, id, "", true
	case c.Was == nil && (verb == "branch" || verb == "copy" || verb == "agent branch"):
		return events.BranchCreated, id, "", true
	case c.Was == nil:
		return events.SessionCreated, id, "", true
	case verb == "rename":
		return events.SessionRenamed, id, "", true
	case verb == "append":
		return "", "", "", false // the event of the message covers it
	}
	return events.SessionChanged, id, "", true
}

// external returns the events for changes by other programs.
func external(o *operation.Operation) (list []events.Event) {
	var f store.Foreign
	data, err := json.Marshal(o.Args)
	if err != nil || json.Unmarshal(data, &f) != nil {
		return nil
	}
	event := func(t events.Type, id string) events.Event {
		return events.Event{Seq: o.Seq, Time: store.TimeOf(o.Time), Type: t, Session: session.ID(id), Verb: o.Verb, External: true}
	}
	grown := map[string]bool{}
	for _, m := range f.Messages {
		grown[m.Session] = true
	}
	for _, id := range f.Added {
		list = append(list, event(events.SessionCreated, id))
	}
	for _, id := range f.Changed {
		if !grown[id] {
			list = append(list, event(events.SessionChanged, id))
		}
	}
	for _, m := range f.Messages {
		e := event(events.MessageAdded, m.Session)
		e.Message, e.Role = session.ID(m.Message), m.Role
		list = append(list, m.Addition.Events(e)...)
	}
	for _, id := range f.Removed {
		list = append(list, event(events.SessionRemoved, id))
	}
	return list
}

// bookmarked adds the events for a change of the bookmarks file.
func bookmarked(c operation.Change, add func(events.Type, bookmark.Bookmark)) {
	read := func(text string) *bookmark.File {
		f, err := bookmark.Decode([]byte(text))
		if err != nil {
			return &bookmark.File{} // missing or unreadable
		}
		return f
	}
	was, is := read(c.Before), read(c.After)
	for _, b := range was.Bookmarks {
		if len(is.Labelled(b.Label)) == 0 {
			add(events.BookmarkRemoved, b)
		}
	}
	for _, b := range is.Bookmarks {
		if !slices.Contains(was.Bookmarks, b) {
			add(events.NodeBookmarked, b)
		}
	}
}
