package store

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
)

// mayBeMessage reports whether name looks like the id of a message. If not, a
// name that has another meaning is not searched in all files.
func mayBeMessage(name string) bool {
	return strings.ContainsFunc(name, unicode.IsDigit) && !strings.ContainsFunc(name, unicode.IsSpace)
}

// placeOfMessage searches all sessions for a message whose id is the name of
// one of forms, in this order. Messages with equal bytes are one message: that
// of the line that had it first, else the oldest copy. It returns nil if there
// is none.
func (v *View) placeOfMessage(forms []refForm, partial bool) (*Place, error) {
	var names []refForm
	for _, f := range forms {
		if f.sep == 0 && f.name != "" && !strings.Contains(f.name, "@") && !strings.HasPrefix(f.name, urn) && !strings.ContainsFunc(f.name, unicode.IsSpace) {
			names = append(names, f)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	copies, err := v.copiesOf(names)
	if err != nil {
		return nil, err
	}
	for _, f := range names {
		of := copies[f.name]
		if len(of) == 0 {
			continue
		}
		p, err := v.placeOfCopies(f.name, of, partial)
		if err == nil {
			err = p.goUp(f.up)
		}
		return p, err
	}
	return nil, nil
}

// placeOfCopies returns the place of the oldest copy of a message. It returns
// an error if the copies differ.
func (v *View) placeOfCopies(name string, copies []messageCopy, partial bool) (*Place, error) {
	slices.SortFunc(copies, messageCopy.compare)
	first := copies[0]
	if !slices.ContainsFunc(copies, func(c messageCopy) bool { return !bytes.Equal(c.raw, first.raw) }) {
		return v.PlaceAt(first.session, name, partial)
	}
	var places []*Place
	for _, c := range copies {
		p, err := v.PlaceAt(c.session, name, true)
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return nil, v.ambiguousMessages(name, places)
}

// A messageCopy is a message in one file.
type messageCopy struct {
	session string
	began   time.Time // creation time of the session
	copied  bool      // copied from another session
	raw     []byte
}

// compare orders originals before copies, and then by age.
func (c messageCopy) compare(other messageCopy) int {
	if c.copied != other.copied {
		if other.copied {
			return -1
		}
		return 1
	}
	return cmp.Or(c.began.Compare(other.began), cmp.Compare(c.session, other.session))
}

// copiesOf searches all readable files for messages by id. It reads Penguin's
// checkpoints only if no session has one of them.
func (v *View) copiesOf(names []refForm) (map[string][]messageCopy, error) {
	if err := v.Whole(); err != nil {
		return nil, err
	}
	entries := v.Index.Entries()
	var total, done int64 // bytes
	for _, e := range entries {
		total += e.Size()
	}
	found := map[string][]messageCopy{}
	var mu sync.Mutex
	take := func(s *session.Session, began time.Time) {
		point := copiedUntil(s.Outline)
		for i := s.Header; i < len(s.Messages); i++ {
			id := s.Messages[i].ID
			if !slices.ContainsFunc(names, func(f refForm) bool { return f.name == id }) {
				continue
			}
			mu.Lock()
			found[id] = append(found[id], messageCopy{s.ID, began, i <= point, bytes.Clone(s.Messages[i].Raw)})
			mu.Unlock()
		}
	}
	parallel.Do(len(entries), func(i int) {
		if v.Ctx.Err() != nil {
			return
		}
		e := entries[i]
		_ = v.Folder.Look(e.ID, func(data []byte) bool { return mayHold(data, names) }, func(s *session.Session) error {
			take(s, e.CreatedAt)
			return nil
		}) // skip unreadable files
		mu.Lock()
		defer mu.Unlock()
		done += e.Size()
		v.Store.Opts.Progress("searching", done, total)
	})
	if err := v.Ctx.Err(); err != nil || len(found) > 0 {
		return found, err
	}
	for _, id := range v.PenguinIDs() {
		if s, err := checkpoint.ReadPenguin(v.Root, id); err == nil {
			take(s, v.Penguin[id].CreatedAt)
		}
	}
	return found, v.Ctx.Err()
}

// mayHold reports whether data may contain a message with one of these ids.
func mayHold(data []byte, names []refForm) bool {
	return slices.ContainsFunc(names, func(f refForm) bool {
		plain := strings.IndexFunc(f.name, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' || r == '/' }) < 0
		return !plain || bytes.Contains(data, []byte(`"`+f.name+`"`))
	})
}

// copiedUntil returns the index of the last message of a session that was copied from
// another one, -1 if none was.
func copiedUntil(o *session.Outline) int {
	if !o.Meta.Snapshot {
		return -1
	}
	for i := range o.Len() {
		if o.MessageID(i) == o.Meta.BranchPoint {
			return i
		}
	}
	return o.Len() - 1
}
