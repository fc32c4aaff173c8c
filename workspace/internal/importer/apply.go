package importer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A destination is the file to which a message is added: a part of the line, or
// a new continuation.
type destination int

// apply executes the plan for one file of the line, and reports whether more
// files must change. A message is added to the file of its parent while that is
// not full, else to the newest file or a new continuation of it. All messages
// of a live transcript are added to the newest file.
func (m *merging) apply() (r *imports.Transcript, more bool, err error) {
	p, err := m.plan()
	if err != nil {
		return nil, false, err
	}
	row := m.s.result(imports.Updated)
	r, row.Session, row.Tip = &row, session.ID(m.line.Parts[0].ID), session.ID(m.name(m.s.tip()))
	if p.empty() {
		r.Status = imports.Unchanged
		return r, false, nil
	}
	if m.dry {
		r.Added, r.Replaced = len(p.added), len(p.complete)
		return r, false, nil
	}
	if m.v.View.Kind(m.line.Parts[0].ID) == session.Checkpoint {
		if len(p.added) == 0 {
			r.Status = imports.Unchanged
			return r, false, nil
		}
		return m.fork(p, r)
	}
	to := m.destinations(p)
	at := m.firstFile(p, to)
	if int(at) == len(m.line.Parts) {
		return m.continued(p, to, r)
	}
	return m.edited(p, to, at, r)
}

// destinations returns the destination of each new message.
func (m *merging) destinations(p *plan) map[int]destination {
	parts := m.line.Parts
	room := make([]int, len(parts)+1)
	for i, part := range parts {
		room[i] = m.v.View.Store.Opts.Limit - (part.Len() - part.Header)
	}
	room[len(parts)] = m.v.View.Store.Opts.Limit
	newest := destination(len(parts) - 1)
	if m.v.View.Kind(parts[newest].ID) == session.Checkpoint || room[newest] <= 0 {
		newest++
	}
	in := map[string]destination{} // of the new messages, by id
	to := make(map[int]destination, len(p.added))
	for _, n := range p.added {
		message := &m.s.messages[n]
		d, parent := newest, m.name(message.parent)
		if !m.i.o.Live {
			if e := m.has(parent); e != nil {
				d = destination(e.part)
			} else if there, ok := in[parent]; ok {
				d = there
			}
		}
		if room[d] <= 0 && d < newest {
			d = newest
		}
		if room[d] <= 0 && int(d) < len(parts) {
			d = destination(len(parts))
		}
		room[d]--
		to[n], in[m.name(message.id)] = d, d
	}
	return to
}

// firstFile returns the file to change first: one with an open message, because
// other messages may follow that, else the destination of the first new
// message.
func (m *merging) firstFile(p *plan, to map[int]destination) destination {
	first := func(list map[string]int) (destination, bool) {
		at := -1
		for id := range list {
			if e := m.has(id); at < 0 || e.part < at {
				at = e.part
			}
		}
		return destination(at), at >= 0
	}
	if at, ok := first(p.complete); ok {
		return at
	}
	if len(p.added) > 0 {
		return to[p.added[0]]
	}
	if at, ok := first(p.amended); ok {
		return at
	}
	if at, ok := first(p.outdated); ok {
		return at
	}
	for id := range p.adopted {
		return destination(m.has(id).part)
	}
	return 0
}

// here returns the new messages that can be added to a file now, in the order
// of the transcript: their parents are in the line, or are added to the same
// file.
func (m *merging) here(p *plan, to map[int]destination, at destination) (list []int) {
	elsewhere := map[string]bool{} // new messages that will not be in the line yet
	for _, n := range p.added {
		if to[n] != at {
			elsewhere[m.name(m.s.messages[n].id)] = true
		}
	}
	for _, n := range p.added {
		switch {
		case to[n] != at:
		case elsewhere[m.name(m.s.messages[n].parent)], int(at) == len(m.line.Parts) && len(list) == m.v.View.Store.Opts.Limit:
			elsewhere[m.name(m.s.messages[n].id)] = true
		default:
			list = append(list, n)
		}
	}
	return list
}

// edited stages the changes of one file of the line.
func (m *merging) edited(p *plan, to map[int]destination, at destination, r *imports.Transcript) (*imports.Transcript, bool, error) {
	part := m.line.Parts[at]
	edit := part.Edit()
	list := m.here(p, to, at)
	left := len(p.added) - len(list)
	for id, n := range p.complete {
		if m.has(id).part != int(at) {
			left++
			continue
		}
		raw, err := m.added(n, m.isContinued(m.has(id)))
		if err != nil {
			return nil, false, err
		}
		edit.ReplaceMessage(m.has(id).index, raw)
		r.Replaced++
		m.replacedBy(part.ID, id, m.name(m.s.messages[n].id))
	}
	for id, n := range p.amended {
		if m.has(id).part != int(at) {
			left++
		} else if err := m.amend(edit, m.has(id), n); err != nil {
			return nil, false, err
		}
	}
	for id, n := range p.outdated {
		if m.has(id).part != int(at) {
			left++
		} else if err := m.outdate(edit, m.has(id), m.name(m.s.messages[n].id)); err != nil {
			return nil, false, err
		}
	}
	for id, to := range p.adopted {
		if _, amended := p.amended[id]; amended || m.has(id).part != int(at) {
			left++
		} else if err := m.adopt(edit, m.has(id), to); err != nil {
			return nil, false, err
		}
	}
	continued := len(m.v.View.Index.Continuations(part.ID)) > 0
	for _, n := range list {
		raw, err := m.added(n, continued)
		if err != nil {
			return nil, false, err
		}
		edit.Append(raw)
		m.logAdded(part.ID, n, raw, len(list))
	}
	if r.Added = len(list); r.Added > 0 {
		edit.SetMeta("message_count", part.Len()+r.Added)
	}
	if title := m.retitled(); title != "" && at == 0 {
		edit.SetMeta("title", title)
	}
	if p.sources && at == 0 {
		edit.SetOwn(OwnSources, m.newSources())
		m.recorded = true
	} else if p.sources && (m.own < 0 || !m.i.o.Live || m.retitled() != "") {
		left++
	}
	if last, ok := session.ParseTime(m.s.last); ok && r.Added > 0 {
		if was, known := session.ParseTime(part.LastActive); !known || last.After(was) {
			edit.SetActive(m.s.last)
		}
	}
	return r, left > 0, m.v.Replace(edit)
}

// continued stages a continuation of the line with new messages.
func (m *merging) continued(p *plan, to map[int]destination, r *imports.Transcript) (*imports.Transcript, bool, error) {
	list := m.here(p, to, destination(len(m.line.Parts)))
	last := m.line.Parts[len(m.line.Parts)-1]
	var raws [][]byte
	for _, n := range list {
		raw, err := m.added(n, false)
		if err != nil {
			return nil, false, err
		}
		raws = append(raws, raw)
	}
	at := cmp.Or(m.s.last, m.v.View.Index.Dialect().Time(m.v.View.Now(m.line)))
	parent := m.parentOf(&m.s.messages[list[0]])
	made, err := m.v.Continuation(&store.Place{Line: m.line}, last, parent, at, raws...)
	for i, n := range list {
		if err == nil {
			m.logAdded(made, n, raws[i], len(list))
		}
	}
	r.Added = len(list)
	return r, len(p.added) > len(list) || len(p.amended)+len(p.outdated)+len(p.adopted) > 0 || m.own < 0, err
}

// maxLogged is how many added messages of a live transcript are logged for watchers, and
// maxLoggedNew for a new conversation: one that is imported when it is long is no news.
const (
	maxLogged    = 100
	maxLoggedNew = 8
)

// logAdded logs for watchers that message n of a live transcript, one of several, is added
// to a session.
func (m *merging) logAdded(session string, n int, raw []byte, of int) {
	if !m.i.o.Live || of > maxLogged {
		return
	}
	parent := m.parentOf(&m.s.messages[n])
	e := m.has(parent)
	m.v.LogMessage(session, parent, raw, e != nil && !m.line.IsLeaf(e.node))
}

// isContinued reports whether a message was added to its file after that had a
// continuation.
func (m *merging) isContinued(e *existing) bool {
	return len(m.v.View.Index.Continuations(m.line.Parts[e.part].ID)) > 0
}

// replacedBy records for the log that a message replaced an open one.
func (m *merging) replacedBy(session, id, by string) {
	list, _ := m.v.Op.Args["replaced"].([]store.Replacement)
	m.v.Op.Args["replaced"] = append(list, store.Replacement{Session: session, Message: id, By: by})
}

// amend replaces the metadata of a message of the line with that of the
// transcript.
func (m *merging) amend(edit *session.Edit, e *existing, n int) error {
	now, err := m.added(n, false)
	if err != nil {
		return err
	}
	return m.rewrite(edit, e, func(raw []byte) ([]byte, error) {
		own := gjson.GetBytes(now, "metadata.bough")
		pairs := rawjson.Pairs([]byte(own.Raw), rawjson.Root([]byte(own.Raw)))
		gjson.GetBytes(raw, "metadata.bough").ForEach(func(key, value gjson.Result) bool {
			if name := key.Str; name != "source" && name != session.OwnOpen && name != session.OwnJoined && !own.Get(name).Exists() {
				pairs = append(pairs, rawjson.Pair{Key: name, Value: []byte(value.Raw)})
			}
			return true
		})
		if m.corrects(e, &m.s.messages[n]) {
			var err error
			if raw, err = sjson.SetRawBytes(raw, "metadata.parent_id", []byte(gjson.GetBytes(now, "metadata.parent_id").Raw)); err != nil {
				return nil, err
			}
		}
		return sjson.SetRawBytes(raw, "metadata.bough", rawjson.AppendLine(nil, pairs))
	})
}

// outdate marks an open message as replaced by a sibling that is complete.
func (m *merging) outdate(edit *session.Edit, e *existing, by string) error {
	return m.rewrite(edit, e, func(raw []byte) ([]byte, error) {
		return sjson.SetRawBytes(raw, "metadata.bough."+session.OwnReplacedBy, rawjson.Compact(by))
	})
}

// adopt joins an orphan to a message.
func (m *merging) adopt(edit *session.Edit, e *existing, to string) error {
	return m.rewrite(edit, e, func(raw []byte) ([]byte, error) {
		return sjson.SetRawBytes(raw, "metadata.bough."+session.OwnJoined, rawjson.Compact(to))
	})
}

// rewrite changes the metadata of a message.
func (m *merging) rewrite(edit *session.Edit, e *existing, change func(raw []byte) ([]byte, error)) error {
	s, err := m.v.View.Reopen(m.line.Parts[e.part])
	if err != nil {
		return err
	}
	raw, err := change(slices.Clone([]byte(s.Messages[e.index].Raw)))
	if err = cmp.Or(err, rawjson.Check(raw)); err != nil {
		return fmt.Errorf("the message %s cannot be changed: %w", e.id, err)
	}
	edit.ReplaceMessage(e.index, raw)
	return nil
}

// newSources returns the sources of the line, including the transcript.
func (m *merging) newSources() []byte {
	var list [][]rawjson.Pair
	for n, source := range m.sources {
		raw := []byte(source.Raw)
		pairs := rawjson.Pairs(raw, rawjson.Root(raw))
		if n == m.own {
			pairs = m.s.source()
		}
		list = append(list, pairs)
	}
	if m.own < 0 {
		list = append(list, m.s.source())
	}
	return rawjson.AppendObjects(nil, list, 3)
}
