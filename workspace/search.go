package workspace

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

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// SearchOptions select messages. The zero value selects all.
type SearchOptions struct {
	// Text lists words that must all occur in the message, ignoring case; "quoted
	// words" must occur as a phrase; a word after a hyphen must not occur.
	Text string
	// Words is like Text, but a hyphen has no special meaning.
	Words string
	// Regexp is a regular expression of package regexp that must match too.
	Regexp string

	Role       string    // only messages of this role
	Tool       string    // only calls of this tool, ignoring case, and their results
	Since      time.Time // only messages written at this time or later
	Until      time.Time // only messages written before this time
	In         string    // only the line of this session
	Where      Where     // only conversations with this setting
	Limit      int       // maximum number of matches, 0 for no limit
	PerSession int       // maximum number per conversation, 0 for no limit
	Context    int       // how many messages to include before and after each match, on its path
}

// A SearchResult is the result of a search.
type SearchResult struct {
	Matches  []Match        `json:"matches"`
	Sessions []FoundSession `json:"sessions"` // the conversations of Matches
	Total    int            `json:"total"`    // number of matches in the conversations that were searched
	More     bool           `json:"more"`     // the limits omitted some matches
	// NotSearched is the number of conversations that were not searched because more
	// recently active ones had enough matches.
	NotSearched int `json:"not_searched"`
}

// A FoundSession is a conversation with matches.
type FoundSession struct {
	Session    string    `json:"session_id"` // id of its first file
	Title      string    `json:"title"`
	LastActive time.Time `json:"last_active"`
	Total      int       `json:"total"`    // number of matches in it
	AtLeast    bool      `json:"at_least"` // its search stopped early, so there may be more than Total matches

	// Piece is a part of the conversation's id that is unique.
	Piece string `json:"-"`
}

// A Match is a message that was found.
type Match struct {
	Session   string           `json:"session_id"` // the conversation: id of its first file
	Title     string           `json:"title"`      // of the conversation
	ID        string           `json:"message_id"`
	Ref       string           `json:"ref"` // the shortest REF to it
	Role      string           `json:"role"`
	Speaker   Speaker          `json:"speaker"`
	CreatedAt time.Time        `json:"created_at"` // if unknown, when the session was created
	Tools     []string         `json:"tools"`      // that it calls or has results of
	Snippet   string           `json:"snippet"`    // the text around the match, on one line
	Spans     [][2]int         `json:"spans"`      // of the matches in the snippet: start and end, in characters
	Also      []string         `json:"also"`       // the other conversations with a copy of it, oldest first
	Before    []ContextMessage `json:"before"`     // the messages before it, root first
	After     []ContextMessage `json:"after"`      // the messages after it, on the newest path
}

// A ContextMessage is a message near a match.
type ContextMessage struct {
	ID   string `json:"message_id"`
	Ref  string `json:"ref"`
	Role string `json:"role"`
	Text string `json:"text"` // its first words, on one line
}

// A Speaker is the author of the text that was found.
type Speaker string

// The speakers, in the order of their matches.
const (
	SpeakerPerson    Speaker = "person"
	SpeakerAssistant Speaker = "assistant"
	SpeakerTool      Speaker = "tool"
	SpeakerSystem    Speaker = "system"
)

// rank is the position of a speaker in this order.
func (s Speaker) rank() int {
	return slices.Index([]Speaker{SpeakerPerson, SpeakerAssistant, SpeakerTool, SpeakerSystem}, s)
}

// Search searches the messages of all sessions. Matches are ordered by
// conversation, last active first as in [Workspace.List]; within one, by
// speaker: the user, the assistant, then results of tools; then newest first,
// by position in the files. A message is found once, in the conversation where
// it began; conversations with copies of it are listed in Match.Also. If o.In
// selects such a conversation, its copies are found too. Search skips
// unreadable files, with a note.
func (w *Workspace) Search(ctx context.Context, o SearchOptions) (*SearchResult, error) {
	if o.Role != "" {
		if err := checkRole(strings.ToLower(o.Role)); err != nil {
			return nil, err
		}
	}
	return searchIn(ctx, w.store, o)
}

// searchIn searches the messages of all sessions of a workspace.
func searchIn(ctx context.Context, w *base, o SearchOptions) (*SearchResult, error) {
	p, err := newPattern(o)
	if err != nil {
		return nil, &fault.Error{Code: fault.Usage, Message: err.Error()}
	}
	return read(ctx, w, func(v *View) (*SearchResult, error) {
		if err := v.whole(); err != nil {
			return nil, err
		}
		s := &search{v: v, o: o, q: p, earlier: map[string]*earlier{}, placed: map[string]bool{}, where: map[string][]string{}, seed: maphash.MakeSeed()}
		return s.run()
	})
}

// run returns what the search finds.
func (s *search) run() (*SearchResult, error) {
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

// pieceOf returns the shown part of a session's id if that refers to the
// session, else the whole id.
func (v *View) pieceOf(id string) string {
	if named, err := v.resolve(lookup.Short(id)); err != nil || named != id {
		return id
	}
	return lookup.Short(id)
}

// A search is one search, in one view.
type search struct {
	v *View
	o SearchOptions
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
	Match
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

	enough atomic.Bool // see [search.enoughOf]
	cut    bool        // its search stopped early
}

// enoughOf reports whether the search of a conversation can stop: no later
// match, in the order of files from the last, would be shown, and the exact
// count is not needed.
func (s *search) enoughOf(matches, ofPersons int) bool {
	const counted = 100
	return s.o.PerSession > 0 && ofPersons >= s.o.PerSession && matches >= counted
}

// files returns the files to search, in the order of the matches.
func (s *search) files() ([]*searchFile, error) {
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
func (s *search) lines() ([]*searchLine, error) {
	if s.o.In != "" {
		id, err := s.v.resolve(s.o.In)
		if err != nil {
			return nil, err
		}
		ids, err := s.v.lineIDs(id)
		if err != nil {
			if len(ids) == 0 {
				return nil, err
			}
			s.v.store.opts.Note(err.Error())
		}
		for _, file := range ids {
			if err := s.v.index.Broken(file); err != nil {
				s.v.store.opts.Note(err.Error())
			}
		}
		return []*searchLine{s.searchLine(ids[0], ids)}, nil
	}
	s.v.noteUnusable()
	return s.everyLine(true), nil
}

// everyLine returns all conversations, last active first. With note, it adds
// notes for unreadable files.
func (s *search) everyLine(note bool) []*searchLine {
	var firsts []string
	files := map[string][]string{} // by first file of the line
	for _, e := range s.v.index.Entries() {
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
			if line, err := s.v.index.Line(first); err == nil {
				slices.SortStableFunc(ids, func(a, b string) int { return slices.Index(line, a) - slices.Index(line, b) })
			}
		}
		lines = append(lines, s.searchLine(first, ids))
	}
	for _, id := range s.v.penguinIDs() {
		if err := s.v.penguin[id].Err; err != nil {
			if note {
				s.v.store.opts.Note(err.Error())
			}
			continue
		}
		lines = append(lines, s.searchLine(id, []string{id}))
	}
	lines = slices.DeleteFunc(lines, func(l *searchLine) bool { return !s.o.Where.matches(l.setting) })
	slices.SortFunc(lines, func(a, b *searchLine) int {
		return cmp.Or(b.active.Compare(a.active), cmp.Compare(b.id, a.id))
	})
	return lines
}

// firstOf returns the first existing file of the line to which the matches in a
// file belong. Those in a continuation of a checkpoint belong to the
// continuation.
func (s *search) firstOf(id string) string {
	seen := map[string]bool{}
	for first := id; ; {
		e := s.v.index.Entry(first)
		if e.Snapshot || len(e.ContinuedFrom) == 0 {
			return first
		}
		from := e.ContinuedFrom[0]
		if before := s.v.index.Entry(from); before == nil || before.Kind() == session.Checkpoint {
			return first
		}
		if seen[first] {
			return id // a cycle
		}
		seen[first] = true
		first = from
	}
}

func (s *search) searchLine(first string, files []string) *searchLine {
	about := s.v.overview(first)
	return &searchLine{
		id: first, title: about.title, setting: about.setting, began: about.created, active: s.v.lastActive(files...),
		files: files, penguin: s.v.isPenguin(first),
	}
}

// all returns the matches in files, in order: all, or those of the first
// conversations that have more than s.limit together. left is how many
// conversations it did not search.
func (s *search) all(files []*searchFile) (matches []hit, left int, err error) {
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
		if enough.Load() || s.v.ctx.Err() != nil {
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
				if m.Speaker == SpeakerPerson {
					ofPersons++
				}
			}
			f.line.cut = f.line.cut || f.cut
			f.line.enough.Store(s.enoughOf(inLine, ofPersons))
			if first+1 < len(files) && files[first+1].line == f.line {
				continue
			}
			end, wanted = first+1, wanted+atMost(inLine, s.o.PerSession)
			inLine, ofPersons = 0, 0
			enough.Store(s.limit > 0 && wanted > s.limit)
		}
		read += s.size(files[i].id)
		s.v.store.opts.Progress("searching", read, total)
	})
	if err := s.v.ctx.Err(); err != nil {
		return nil, 0, err
	}
	var damage *session.DamageError
	for i, err := range errs[:end] {
		switch {
		case errors.As(err, &damage):
			s.v.store.opts.Note(err.Error())
		case err != nil:
			return nil, 0, gone(files[i].id, err)
		}
	}
	for i := end; i < len(files); i++ {
		if files[i].line != files[i-1].line {
			left++
		}
	}
	return slices.Concat(found[:end]...), left, nil
}

func (s *search) size(id string) int64 {
	if e := s.v.index.Entry(id); e != nil {
		return e.Size()
	}
	return 0
}

// isRole reports whether a message has the selected role.
func (s *search) isRole(m session.Message) bool {
	return s.o.Role == "" || strings.EqualFold(m.Role(), s.o.Role)
}

// inTime reports whether a message was written in the selected time, and
// returns its time.
func (s *search) inTime(m session.Message, l *searchLine) (at time.Time, ok bool) {
	at, said := m.Time()
	if !said {
		at = l.began
	}
	return at, (s.o.Since.IsZero() || !at.Before(s.o.Since)) && (s.o.Until.IsZero() || at.Before(s.o.Until))
}
