package store

import (
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
)

// Foreign are the arguments of the operation for changes by other programs.
type Foreign struct {
	Added    []string       `json:"added"`
	Changed  []string       `json:"changed"`
	Removed  []string       `json:"removed"`
	Messages []AddedMessage `json:"messages,omitempty"`
}

// An AddedMessage is a message that another program or a live import added.
type AddedMessage struct {
	Session string `json:"session_id"`
	Message string `json:"message_id"`
	Role    string `json:"role"`
	Addition
}

// OnlyOwn reports whether the index lacks nothing but writes of bough that were
// interrupted.
func (v *View) OnlyOwn() bool {
	f := v.Index.Foreign
	ids := slices.Concat(f.Added, f.Changed, f.Removed, f.Touched)
	return len(ids) > 0 && !v.Index.Torn && !slices.ContainsFunc(ids, func(id string) bool { return !v.isOwn(id) })
}

// isOwn reports whether a session that the index lacks is as bough wrote it.
func (v *View) isOwn(id string) bool {
	if v.asLogged == nil {
		f := v.Index.Foreign
		v.asLogged = v.compareLogged(slices.Concat(f.Added, f.Changed, f.Removed, f.Touched))
	}
	return v.own[id] || v.asLogged[id]
}

// others returns the changes by other programs that the index lacks: files that
// differ from their state after a recent operation. A file with the same size and
// content that no operation mentions was only touched, or copied with the folder.
func (v *View) others() Foreign {
	f := v.Index.Foreign
	without := func(ids []string) []string { return slices.DeleteFunc(append([]string{}, ids...), v.isOwn) }
	touched := slices.DeleteFunc(without(f.Touched), func(id string) bool {
		_, logged := v.asLogged[id]
		return !logged
	})
	return Foreign{Added: without(f.Added), Changed: append(without(f.Changed), touched...), Removed: without(f.Removed)}
}

// compareLogged looks up sessions in the recent log, and reports for each that it
// finds whether its file is as logged.
func (v *View) compareLogged(ids []string) map[string]bool {
	as := map[string]bool{}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return as
	}
	defer log.Close()
	recent := 10_000 // more than a journal of the index can have
	for line, err := range log.Newest() {
		if recent--; recent < 0 || len(wanted) == 0 {
			break
		}
		if err != nil {
			continue
		}
		for _, c := range slices.Concat(line.Changes, line.Seen) {
			if id := SessionOf(c.File); wanted[id] {
				delete(wanted, id)
				as[id] = v.StillAs(c) && (!slices.Contains(v.Index.Foreign.Changed, id) || v.holdsAsLeft(c))
			}
		}
	}
	return as
}

// seen returns the contents of session files that other programs changed, so that
// the changes are not reported again if the index is lost.
func (v *View) seen(ids []string) (list []operation.Change) {
	for _, id := range ids {
		c := operation.Change{File: session.FileName(id)}
		if st, err := v.Folder.Stat(id); err == nil {
			c.Is = &operation.State{Size: st.Size, MTime: mtimeOf(st.ModTime)}
			c.Was = c.Is
		}
		list = append(list, c)
	}
	return list
}

// foreignLine returns the log line for changes by other programs, nil if there
// are none.
func (tx *Tx) foreignLine() []byte {
	if tx.View.Index.Blank {
		return nil
	}
	seen := tx.View.others()
	ids := slices.Concat(seen.Added, seen.Changed, seen.Removed)
	if len(ids) == 0 {
		return nil
	}
	tx.Seq++
	o := operation.Operation{
		Seq:      tx.Seq,
		Time:     session.Bough.Time(tx.View.Store.Opts.Now()),
		Verb:     operation.External,
		Args:     Args{"added": seen.Added, "changed": seen.Changed, "removed": seen.Removed, "messages": tx.View.messagesAdded(seen)},
		Sessions: ids,
		Seen:     tx.View.seen(ids),
	}
	return o.Encode()
}

// Limits of the logged changes by other programs: sessions with new messages, and
// messages of each.
const (
	mostGrown    = 100
	mostMessages = 1000
)

// messagesAdded returns the messages that other programs added to sessions.
func (v *View) messagesAdded(f Foreign) (list []AddedMessage) {
	had := v.Index.Foreign.Had
	n := 0
	for _, id := range slices.Concat(f.Added, f.Changed) {
		from, grown := had[id]
		if !grown && !slices.Contains(f.Added, id) {
			continue
		}
		if n++; n > mostGrown {
			break
		}
		s, err := v.Folder.Read(id)
		if err != nil {
			continue
		}
		to := len(s.Messages)
		if e := v.Index.Entry(id); e != nil {
			to = min(to, e.MessageCount) // it may have grown meanwhile
		}
		from = min(max(from, s.Header, to-mostMessages), to)
		added := v.additionsIn(id, s.Messages[from:to])
		for i, m := range s.Messages[from:to] {
			list = append(list, AddedMessage{id, m.ID, m.Role(), added[i]})
		}
	}
	return list
}
