package index

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// An Index is the sessions of a workspace and their links.
//
// One that was opened by [Open] may know a session only once it is asked for
// it; the answers are the same. Entry and Err may be called from several
// goroutines, while nothing else is.
type Index struct {
	// Trouble says in one sentence why the index file could not be used as it
	// was, "" if it could.
	Trouble string
	// Torn reports that the index file is there and is no JSON object.
	Torn bool
	// Old reports that the index file is older than a session file, which for
	// Penguin makes it out of date.
	Old bool
	// Blank reports that the index file says nothing: it is not there, is torn,
	// cannot be read or lists no session.
	Blank bool
	// Temporary is the paths of temporary files beside the sessions, where these
	// were listed. Under the lock nobody is writing them.
	Temporary []string
	// Foreign is what changed since the index was written, as far as was looked:
	// by another program, or by a command that was interrupted.
	Foreign Foreign

	root    *os.Root
	aliases map[string]string
	reader  Reader
	limits  limits

	mu      sync.Mutex
	entries map[string]*Entry // nil for a session that is gone
	last    *last             // what else there is, nil if entries is all of it
	failed  error             // why entries is not all of it, where it had to be

	names    map[name][]string   // sessions of entries by what others call them, and some that no longer are; nil until somebody asks
	lineages map[string][]string // whole ones, as far as they were asked for
	sorted   []string            // the ids of all entries, oldest session first; nil after a change
	count    count
	places   int // how many places among the members of the index are taken

	changed map[string]bool // sessions of which the index says something else, or nothing; true if they were put in or removed
	rewrite bool            // the index has to be written whole
	absent  bool            // the index is not there
	found   string          // Trouble, as it was when every session was looked at
	claimed bool            // an entry has a link that only another session's file tells
	newest  int64           // modification time of the session files, in nanoseconds since 1970

	files  files
	folder watch
	before look // the one that x was opened from, if it was of an index that held; else zero
}

// Foreign is sessions whose files are not what the index says.
type Foreign struct {
	Added   []string // that the index does not list
	Changed []string // whose file has another size, or says something else
	Touched []string // whose file has another time and says the same, as far as the index tells
	Removed []string // that are gone
	// Had is how many messages those of Changed had that have more now.
	Had map[string]int
}

// A count sums up sessions.
type count struct {
	Sessions int64
	Lists    int64 // how many of them have a list of links
	Bytes    int64 // of the index that is made of them, at least
}

func (c *count) add(e *Entry, sign int64) {
	c.Sessions += sign
	c.Bytes += sign * int64(e.size)
	if e.ListLinks {
		c.Lists += sign
	}
}

// A name is what a session is called by.
type name struct {
	kind byte
	text string
}

// The kinds of names.
const (
	ownID     = 'i'
	ownTitle  = 't' // folded
	continues = 'c' // the session that it continues
	copies    = 's' // the session in a snapshot's continued_from
	branches  = 'b' // the origin of a session without a continued_from
)

// names returns what others may ask for e by.
func (e *Entry) names() []name {
	list := []name{{ownTitle, fold(e.DisplayTitle())}}
	switch {
	case e.Origin() == "":
	case len(e.ContinuedFrom) == 0:
		list = append(list, name{branches, e.Origin()})
	case e.Kind() == session.Continuation:
		list = append(list, name{continues, e.ContinuedFrom[0]})
	default:
		list = append(list, name{copies, e.ContinuedFrom[0]})
	}
	return list
}

// set makes e what is known of id, nil for a session that is gone.
func (x *Index) set(id string, e *Entry) {
	if old := x.entries[id]; old != nil {
		x.count.add(old, -1)
	}
	x.entries[id] = e
	if e != nil {
		x.count.add(e, 1)
	}
	if e != nil && x.names != nil {
		x.register(id, e.names())
	}
	x.sorted = nil
	if len(x.lineages) > 0 {
		x.lineages = map[string][]string{}
	}
}

// register makes a session be found by its names.
func (x *Index) register(id string, names []name) {
	for _, n := range names {
		x.names[n] = append(x.names[n], id)
	}
}

// entry returns what is known of id, nil if there is no such session.
func (x *Index) entry(id string) *Entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, known := x.entries[id]
	if !known && x.last != nil {
		e = x.recall(id)
	}
	if x.failed != nil {
		return &Entry{ID: id, Err: x.failed}
	}
	return e
}

// named returns the sessions that n is a name of, and some that it is not.
func (x *Index) named(n name) []string {
	ids := x.remembered(n)
	if x.names == nil {
		x.names = make(map[name][]string, 2*len(x.entries))
		for _, e := range x.entries {
			if e != nil {
				x.register(e.ID, e.names())
			}
		}
		if x.last != nil {
			for id, r := range x.last.recent {
				x.register(id, r.names)
			}
		}
	}
	ids = append(ids, x.names[n]...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// byAge sorts entries by when the sessions were made.
func byAge(a, b *Entry) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// all looks at every session and returns their ids, the oldest first.
func (x *Index) all() []string {
	if x.Whole() != nil {
		return nil
	}
	return x.ids()
}

// ids returns the ids of all entries, the oldest session first.
func (x *Index) ids() []string {
	if x.sorted == nil {
		list := make([]*Entry, 0, len(x.entries))
		for _, e := range x.entries {
			if e != nil {
				list = append(list, e)
			}
		}
		slices.SortFunc(list, byAge)
		x.sorted = make([]string, len(list))
		for i, e := range list {
			x.sorted[i] = e.ID
		}
	}
	return x.sorted
}

// Entry returns the entry of a session that is there and whole, nil if there is
// none.
func (x *Index) Entry(id string) *Entry {
	if e := x.entry(id); e != nil && e.Err == nil {
		return e
	}
	return nil
}

// Err returns why the file of id cannot be used, nil if it can or is not there.
func (x *Index) Err(id string) error {
	if e := x.entry(id); e != nil {
		return e.Err
	}
	return nil
}

// Titled returns the sessions with that [Entry.DisplayTitle], oldest first, then
// those that cannot be used.
func (x *Index) Titled(title string) ([]string, error) {
	return x.matching(x.named(name{ownTitle, fold(title)}), func(e *Entry) bool { return e.DisplayTitle() == title })
}

// TitledFold is [Index.Titled] without regard to case, as [strings.EqualFold] compares.
func (x *Index) TitledFold(title string) ([]string, error) {
	return x.matching(x.named(name{ownTitle, fold(title)}), func(e *Entry) bool { return strings.EqualFold(e.DisplayTitle(), title) })
}

// fold returns the same string for all strings that [strings.EqualFold] holds for equal.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// IDs returns the ids of all sessions, in no order, some of which may be gone.
func (x *Index) IDs() []string {
	ids := x.rememberedWith("")
	for id := range x.entries {
		ids = append(ids, id)
	}
	return ids
}

// Containing returns the sessions whose id contains piece, oldest first, then
// those that cannot be used.
func (x *Index) Containing(piece string) ([]string, error) {
	ids := x.rememberedWith(piece)
	for id := range x.entries {
		if strings.Contains(id, piece) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return x.matching(slices.Compact(ids), func(e *Entry) bool { return strings.Contains(e.ID, piece) })
}

// matching returns those of ids that match: oldest first, then, by id, those
// that cannot be used.
func (x *Index) matching(ids []string, match func(*Entry) bool) ([]string, error) {
	var list []*Entry
	for _, id := range ids {
		if e := x.entry(id); e != nil && match(e) {
			list = append(list, e)
		}
	}
	if x.failed != nil {
		return nil, x.failed
	}
	slices.SortFunc(list, func(a, b *Entry) int {
		switch {
		case a.Err != nil && b.Err != nil:
			return cmp.Compare(a.ID, b.ID)
		case a.Err != nil:
			return 1
		case b.Err != nil:
			return -1
		}
		return byAge(a, b)
	})
	return idsOf(list), nil
}

// Entries returns the sessions, oldest first. It looks at every session.
func (x *Index) Entries() []*Entry {
	var list []*Entry
	for _, id := range x.all() {
		if e := x.entries[id]; e.Err == nil {
			list = append(list, e)
		}
	}
	return list
}

// Unusable returns the files that cannot be used, by id. It looks at every
// session.
func (x *Index) Unusable() []*Entry {
	var list []*Entry
	for _, id := range x.all() {
		if e := x.entries[id]; e.Err != nil {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *Entry) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Dialect returns the dialect of the folder: bough's if it is empty or any
// session, or the entry of one that cannot be read, has a list for its
// continued_from; else Penguin's.
func (x *Index) Dialect() session.Dialect {
	if x.count.Lists > 0 || x.count.Sessions == 0 {
		return session.Bough
	}
	return session.Penguin
}

// Mixed returns a session whose links are written in each dialect, and whether
// the folder has both. It looks at every session.
func (x *Index) Mixed() (bough, penguin string, mixed bool) {
	for _, e := range x.Entries() {
		switch {
		case e.ListLinks:
			bough = e.ID
		case e.Origin() != "":
			penguin = e.ID
		}
	}
	return bough, penguin, bough != "" && penguin != ""
}

// A Reader returns what the index keeps of a session, from its file. The error
// is [session.ErrNotFound] if there is none. The file has size bytes, and all
// that have to be read for the index have total.
type Reader func(id string, size, total int64) (session.Summary, error)

// Put takes in a session that was written, or is going to be, as the file that
// st describes.
func (x *Index) Put(s session.Summary, st session.Stat) { x.put(s, st.Identity()) }

// Written tells x what the file system says of the file of a session that was
// put in, once the file has its name, which changes that.
func (x *Index) Written(st session.Stat) {
	if e := x.entries[st.ID]; e != nil {
		e.file = st.Identity()
	}
}

func (x *Index) put(s session.Summary, file durable.Identity) {
	e := &Entry{ID: s.ID, file: file, place: x.places}
	if old := x.entry(s.ID); old != nil {
		e.keep(old)
	} else {
		x.places++
	}
	e.take(s)
	x.set(s.ID, e)
	x.changed[s.ID] = true
	x.newest = max(x.newest, file.ModTime)
	for _, to := range e.Meta.ContinuedTo {
		x.claim(x.entry(to), e.ID)
	}
}

// claim makes e, if it cannot be used and nothing says what it continues, a
// continuation of the session whose file names it.
func (x *Index) claim(e *Entry, from string) {
	if e == nil || e.Err == nil || len(e.ContinuedFrom) > 0 || e.ID == from {
		return
	}
	e.ContinuedFrom = []string{from}
	x.claimed = true
	if x.names != nil {
		x.register(e.ID, e.names())
	}
}

// Says reports whether the index says of a session what its file says, of what a
// person would notice.
func (x *Index) Says(s session.Summary) bool {
	file := &Entry{ID: s.ID}
	file.take(s)
	e := x.Entry(s.ID)
	return e != nil && !e.differs(file)
}

// Correct takes in what the file of a session says, where the index said
// something else of the same file.
func (x *Index) Correct(s session.Summary) { x.put(s, x.entry(s.ID).file) }

// Remove forgets a session.
func (x *Index) Remove(id string) {
	x.entry(id) // and it is counted
	x.set(id, nil)
	x.changed[id] = true
}

// Rewrite has the whole index written by the next [Index.Save], without a journal, so that
// nothing is left of what was removed.
func (x *Index) Rewrite() { x.rewrite = true }

// Stale reports whether the index does not say what the Index knows.
func (x *Index) Stale() bool { return x.rewrite || len(x.changed) > 0 }

// note notes that the index says something else of a session than its file.
func (x *Index) note(id string) {
	if !x.changed[id] {
		x.changed[id] = false
	}
}

// outOfDate notes that the index said something else than the files.
func (x *Index) outOfDate(why string) {
	if x.Trouble == "" {
		x.Trouble = "the index is out of date: " + why
	}
}
