package searcher

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/search"
)

// Search searches the messages of all sessions of a workspace.
func Search(ctx context.Context, w *store.Store, o search.Options) (*search.Result, error) {
	p, err := newPattern(o)
	if err != nil {
		return nil, &fault.Error{Code: fault.Usage, Message: err.Error()}
	}
	return store.Read(ctx, w, func(v *store.View) (*search.Result, error) {
		if err := v.Whole(); err != nil {
			return nil, err
		}
		s := &finder{v: v, o: o, q: p, earlier: map[string]*earlier{}, placed: map[string]bool{}, where: map[string][]string{}, seed: maphash.MakeSeed()}
		return s.run()
	})
}

// run returns what the search finds.
func (s *finder) run() (*search.Result, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	all, err := s.apart(files)
	if err != nil {
		return nil, err
	}
	hits, f := all.chosen(s.o)
	if err := s.describe(hits); err != nil {
		return nil, err
	}
	if err := s.also(hits); err != nil {
		return nil, err
	}
	if err := s.name(hits, f.Sessions); err != nil {
		return nil, err
	}
	for _, h := range hits {
		f.Matches = append(f.Matches, h.Match)
	}
	return f, nil
}

// A finder is one search, in one view.
type finder struct {
	v *store.View
	o search.Options
	q *pattern

	limit int // limit after which the search stops, 0 for no limit
	gone  func() map[string][]string

	seed    maphash.Seed
	mu      sync.Mutex
	earlier map[string]*earlier // opened files, by session
	placed  map[string]bool     // those of earlier whose messages are in where
	where   map[string][]string // the files with a message, by message id
}

// A hit is a match, and where the search found it.
type hit struct {
	search.Match
	family string // the session that it comes from in the end
	file   string // where it was found
	line   *searchLine
	copied copied
}

// A searchFile is a file to search.
type searchFile struct {
	id     string
	line   *searchLine
	before []string // the files that may have the originals of its messages
	family string   // the root of its lineage
	cut    bool     // its search stopped early
}

// A searchLine is a conversation to search.
type searchLine struct {
	id      string // of its first file
	title   string
	setting session.Setting
	began   time.Time
	active  time.Time
	files   []string
	penguin bool // one of Penguin's checkpoints

	enough atomic.Bool // see [finder.enoughOf]
	cut    bool        // its search stopped early
}

// enoughOf reports whether the search of a conversation can stop: no later
// match, in the order of files from the last, would be shown, and the exact
// count is not needed.
func (s *finder) enoughOf(matches, ofPersons int) bool {
	const counted = 100
	return s.o.PerSession > 0 && ofPersons >= s.o.PerSession && matches >= counted
}

// files returns the files to search, in the order of the matches.
func (s *finder) files() ([]*searchFile, error) {
	s.gone = sync.OnceValue(s.withGone)
	lines, err := s.lines()
	if err != nil {
		return nil, err
	}
	var files []*searchFile
	for _, l := range lines {
		for _, id := range slices.Backward(l.files) {
			files = append(files, &searchFile{id: id, line: l})
		}
	}
	return files, nil
}

// lines returns the conversations to search, last active first.
func (s *finder) lines() ([]*searchLine, error) {
	if s.o.In != "" {
		id, err := s.v.Resolve(s.o.In)
		if err != nil {
			return nil, err
		}
		ids, err := s.v.LineIDs(id)
		if err != nil {
			if len(ids) == 0 {
				return nil, err
			}
			s.v.Store.Opts.Note(err.Error())
		}
		for _, file := range ids {
			if err := s.v.Index.Broken(file); err != nil {
				s.v.Store.Opts.Note(err.Error())
			}
		}
		return []*searchLine{s.searchLine(ids[0], ids)}, nil
	}
	s.v.NoteUnusable()
	return s.everyLine(true), nil
}

// everyLine returns all conversations, last active first. With note, it adds
// notes for unreadable files.
func (s *finder) everyLine(note bool) []*searchLine {
	var firsts []string
	files := map[string][]string{} // by first file of the line
	for _, e := range s.v.Index.Entries() {
		first := s.firstOf(e.ID)
		if files[first] == nil {
			firsts = append(firsts, first)
		}
		files[first] = append(files[first], e.ID)
	}
	var lines []*searchLine
	for _, first := range firsts {
		ids := files[first]
		if len(ids) > 1 {
			// A continuation usually is younger, but the order of the files counts.
			if line, err := s.v.Index.Line(first); err == nil {
				slices.SortStableFunc(ids, func(a, b string) int { return slices.Index(line, a) - slices.Index(line, b) })
			}
		}
		lines = append(lines, s.searchLine(first, ids))
	}
	for _, id := range s.v.PenguinIDs() {
		if err := s.v.Penguin[id].Err; err != nil {
			if note {
				s.v.Store.Opts.Note(err.Error())
			}
			continue
		}
		lines = append(lines, s.searchLine(id, []string{id}))
	}
	lines = slices.DeleteFunc(lines, func(l *searchLine) bool { return !s.o.Where.Matches(l.setting) })
	slices.SortFunc(lines, func(a, b *searchLine) int {
		return cmp.Or(b.active.Compare(a.active), cmp.Compare(b.id, a.id))
	})
	return lines
}

// firstOf returns the first existing file of the line to which the matches in a
// file belong. Those in a continuation of a checkpoint belong to the
// continuation.
func (s *finder) firstOf(id string) string {
	seen := map[string]bool{}
	for first := id; ; {
		e := s.v.Index.Entry(first)
		if e.Snapshot || len(e.ContinuedFrom) == 0 {
			return first
		}
		from := e.ContinuedFrom[0]
		if before := s.v.Index.Entry(from); before == nil || before.Kind() == session.Checkpoint {
			return first
		}
		if seen[first] {
			return id // a cycle
		}
		seen[first] = true
		first = from
	}
}

func (s *finder) searchLine(first string, files []string) *searchLine {
	about := s.v.Overview(first)
	return &searchLine{
		id: first, title: about.Title, setting: about.Setting, began: about.Created, active: s.v.LastActive(files...),
		files: files, penguin: s.v.IsPenguin(first),
	}
}

// all returns the matches in files, in order: all, or those of the first
// conversations that have more than s.limit together. left is how many
// conversations it did not search.
func (s *finder) all(files []*searchFile) (matches []hit, left int, err error) {
	found := make([][]hit, len(files))
	errs := make([]error, len(files))
	done := make([]bool, len(files))
	var total, read int64 // bytes
	for _, f := range files {
		total += s.size(f.id)
	}
	var enough atomic.Bool
	var collecting sync.Mutex
	first, end := 0, 0                   // in files: all before first are searched; those before end are complete conversations
	inLine, ofPersons, wanted := 0, 0, 0 // matches
	for _, f := range files {
		f.cut, f.line.cut = false, false
		f.line.enough.Store(false)
	}
	parallel.Do(len(files), func(i int) {
		if enough.Load() || s.v.Ctx.Err() != nil {
			return
		}
		if !files[i].line.enough.Load() {
			found[i], errs[i] = s.file(files[i])
		}
		collecting.Lock()
		defer collecting.Unlock()
		done[i] = true
		for ; first < len(files) && done[first] && !enough.Load(); first++ {
			f := files[first]
			if f.line.enough.Load() { // whether it was searched depends on timing
				found[first], errs[first], f.line.cut = nil, nil, true
			}
			for _, m := range found[first] {
				inLine++
				if m.Speaker == search.Person {
					ofPersons++
				}
			}
			f.line.cut = f.line.cut || f.cut
			f.line.enough.Store(s.enoughOf(inLine, ofPersons))
			if first+1 < len(files) && files[first+1].line == f.line {
				continue
			}
			end, wanted = first+1, wanted+AtMost(inLine, s.o.PerSession)
			inLine, ofPersons = 0, 0
			enough.Store(s.limit > 0 && wanted > s.limit)
		}
		read += s.size(files[i].id)
		s.v.Store.Opts.Progress("searching", read, total)
	})
	if err := s.v.Ctx.Err(); err != nil {
		return nil, 0, err
	}
	var damage *session.DamageError
	for i, err := range errs[:end] {
		switch {
		case errors.As(err, &damage):
			s.v.Store.Opts.Note(err.Error())
		case err != nil:
			return nil, 0, store.Gone(files[i].id, err)
		}
	}
	for i := end; i < len(files); i++ {
		if files[i].line != files[i-1].line {
			left++
		}
	}
	return slices.Concat(found[:end]...), left, nil
}

func (s *finder) size(id string) int64 {
	if e := s.v.Index.Entry(id); e != nil {
		return e.Size()
	}
	return 0
}

// isRole reports whether a message has the selected role.
func (s *finder) isRole(m session.Message) bool {
	return s.o.Role == "" || strings.EqualFold(m.Role(), s.o.Role)
}

// inTime reports whether a message was written in the selected time, and
// returns its time.
func (s *finder) inTime(m session.Message, l *searchLine) (at time.Time, ok bool) {
	at, said := m.Time()
	if !said {
		at = l.began
	}
	return at, (s.o.Since.IsZero() || !at.Before(s.o.Since)) && (s.o.Until.IsZero() || at.Before(s.o.Until))
}
