package searcher

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/search"
)

// file returns the matches in a file, last one first. To decode little, it
// first checks the bytes of the file, then those of each message, and then
// decodes the message.
func (s *finder) file(f *searchFile) (found []hit, err error) {
	f.before, f.family = s.repeated(f)
	look := func(file *session.Session) error {
		r := &reading{finder: s, searchFile: f, Session: file}
		found, err = r.matches()
		return err
	}
	if f.line.penguin {
		file, err := checkpoint.ReadPenguin(s.v.Root, f.id)
		if err != nil {
			return nil, err
		}
		err = look(file)
		return found, err
	}
	err = s.v.Folder.Look(f.id, func(data []byte) bool { return s.q.May(data) }, look)
	return found, err
}

// A reading is a file that is searched message by message.
type reading struct {
	*finder
	*searchFile
	*session.Session
	calls   map[string]int  // index of the message with a call, by id of the call; nil if not needed
	repeats map[string]bool // ids in the earlier files; nil if not needed
}

func (r *reading) matches() (found []hit, err error) {
	ofPersons := 0
	for i := len(r.Messages) - 1; i >= r.Header; i-- {
		if i%1024 == 0 && r.v.Ctx.Err() != nil {
			return nil, r.v.Ctx.Err()
		}
		m := r.Messages[i]
		if !r.q.May(m.Raw) || !r.isRole(m) {
			continue
		}
		if r.Meta.Snapshot { // most of its messages are in other files too
			again, err := r.isRepeated((*earlier).hasBytes, m)
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
		}
		if !r.q.May(content.Saying(m.Raw)...) {
			continue
		}
		match, ok := r.match(m)
		if !ok {
			continue
		}
		again, err := r.isRepeated((*earlier).hasWords, m)
		if err != nil {
			return nil, err
		}
		if again {
			continue
		}
		found = append(found, match)
		if match.Speaker == search.Person {
			ofPersons++
		}
		if i > r.Header && r.enoughOf(len(found), ofPersons) {
			r.cut = true
			break
		}
	}
	return found, nil
}

// match returns a message as a match if it is one. It sets only the members needed
// to choose among matches; [finder.describe] sets the rest.
func (r *reading) match(m session.Message) (hit, bool) {
	at, ok := r.inTime(m, r.line)
	if !ok {
		return hit{}, false
	}
	said := content.Read(m.Raw)
	text := messageText(said)
	if !r.q.Match(text) {
		return hit{}, false
	}
	tools := r.toolsOf(said)
	if r.o.Tool != "" && !slices.ContainsFunc(tools, func(name string) bool { return strings.EqualFold(name, r.o.Tool) }) {
		return hit{}, false
	}
	match := hit{
		Match: search.Match{
			Session:   r.line.id,
			Title:     r.line.title,
			ID:        m.ID,
			Role:      m.Role(),
			Speaker:   speakerOf(m, said, r.q),
			CreatedAt: store.Instant(at),
			Tools:     tools,
			Also:      []string{},
		},
		family: r.family,
		file:   r.id,
		line:   r.line,
		copied: r.copiedOf(m, text),
	}
	if r.o.Limit == 0 && r.o.PerSession == 0 { // all matches are shown
		match.Snippet, match.Spans = snippetOf(r.q, text)
	}
	return match, true
}

// speakerOf returns the speaker of the text in a message that q matches. A
// result of a tool belongs to the tool regardless of the message's role.
func speakerOf(m session.Message, said *content.Message, q *pattern) search.Speaker {
	var spoken []content.Part
	for _, p := range said.Parts {
		if p.Type != content.TypeToolResult {
			spoken = append(spoken, p)
		}
	}
	switch category := m.Category(); {
	case len(spoken) < len(said.Parts) && (len(spoken) == 0 || !q.Match(messageText(&content.Message{Parts: spoken}))):
		return search.Tool
	case said.Role == "assistant":
		return search.Assistant
	case said.Own.Role != "" || category == "SYSTEM" || category == "CONTEXT":
		return search.System
	case category == "SYSTEM_OUTPUT" || m.Role() == "tool" || m.Role() == "function":
		return search.Tool
	}
	return search.Person
}

// toolsOf returns the names of the tools that a message calls or has results
// of; the list is not nil. If a result has no name, that of its call is used.
func (r *reading) toolsOf(m *content.Message) []string {
	names := []string{}
	for _, use := range m.ToolUses() {
		name := use.Name
		if name == "" && use.Result && use.Call != "" {
			name = r.called(use.Call)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// called returns the name of the tool of a call, "" if unknown.
func (r *reading) called(call string) string {
	if r.calls == nil {
		r.calls = callsIn(r.Outline)
	}
	if i, ok := r.calls[call]; ok {
		return nameIn(r.Messages[i], call)
	}
	for _, id := range slices.Backward(r.before) {
		if name := r.earlierFile(id).called(call); name != "" {
			return name
		}
	}
	return ""
}

// callsIn returns the index of the message with each call in a file, by id of
// the call.
func callsIn(o *session.Outline) map[string]int {
	at := map[string]int{}
	if o.UsesTools() {
		for i := range o.Len() {
			calls, _ := o.Tools(i)
			for _, call := range calls {
				at[call] = i
			}
		}
	}
	return at
}

func nameIn(m session.Message, call string) string {
	for _, use := range content.Read(m.Raw).ToolUses() {
		if use.Call == call && !use.Result {
			return use.Name
		}
	}
	return ""
}

// repeated returns the files whose messages a file may repeat: those of its
// lineage or, if one is missing, the other sessions that were copied from it.
// It returns none if the search is limited to one conversation, where all
// messages are found. It also returns the known root of the lineage.
func (s *finder) repeated(f *searchFile) (ids []string, family string) {
	if s.o.In != "" {
		return f.line.files[:slices.Index(f.line.files, f.id)], f.line.id
	}
	s.mu.Lock() // the index remembers lineages
	defer s.mu.Unlock()
	lineage, _ := s.v.LineageOf(f.id)
	if len(lineage) == 0 {
		return nil, f.id
	}
	for _, id := range lineage[:len(lineage)-1] {
		if s.v.Index.Entry(id) != nil {
			ids = append(ids, id)
			continue
		}
		for _, other := range s.gone()[id] {
			if other == f.id {
				break
			}
			ids = append(ids, other)
		}
	}
	return ids, lineage[0]
}

// withGone returns, for each missing session, the sessions that were copied
// from it, after their own possible origins, and oldest first.
func (s *finder) withGone() map[string][]string {
	from := map[string][]string{}
	depth := map[string]int{}
	for _, e := range s.v.Index.Entries() { // oldest first
		lineage, _ := s.v.LineageOf(e.ID)
		depth[e.ID] = len(lineage)
		for _, id := range lineage {
			if s.v.Index.Entry(id) == nil {
				from[id] = append(from[id], e.ID)
			}
		}
	}
	for _, ids := range from {
		slices.SortStableFunc(ids, func(a, b string) int { return depth[a] - depth[b] })
	}
	return from
}

// isRepeated reports whether an earlier file has the message m. has compares m
// with the message of the same id there.
func (r *reading) isRepeated(has func(*earlier, session.Message) (bool, error), m session.Message) (bool, error) {
	if len(r.before) == 0 {
		return false, nil
	}
	if r.repeats == nil {
		r.repeats = make(map[string]bool, len(r.before))
		for _, id := range r.before {
			r.repeats[id] = true
			r.place(id)
		}
	}
	r.mu.Lock()
	files := r.where[m.ID]
	r.mu.Unlock()
	for _, id := range files {
		if r.repeats[id] {
			again, err := has(r.earlierFile(id), m)
			if again || err != nil {
				return again, err
			}
		}
	}
	return false, nil
}

// place records the messages of a file.
func (s *finder) place(id string) {
	at := s.earlierFile(id).at()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.placed[id] {
		return
	}
	s.placed[id] = true
	for message := range at {
		s.where[message] = append(s.where[message], id)
	}
}

// An earlier is a file whose messages others may repeat.
type earlier struct {
	outline func() (*session.Outline, error)
	at      func() map[string]int // index of each message, by id
	calls   func() map[string]int
	sums    func() ([]uint64, error) // of the bytes of each message
	message func(i int) (session.Message, error)
	seed    maphash.Seed
}

// earlierFile returns the earlier of a session. It opens each file once.
func (s *finder) earlierFile(id string) *earlier {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.earlier[id]
	if e == nil {
		e = s.newEarlier(id)
		s.earlier[id] = e
	}
	return e
}

func (s *finder) newEarlier(id string) *earlier {
	e := &earlier{seed: maphash.MakeSeed()}
	all := func([]byte) bool { return true }
	e.outline = sync.OnceValues(func() (*session.Outline, error) {
		if o := s.v.Outlines[id]; o != nil {
			return o, nil
		}
		return s.v.ReadOutline(id)
	})
	e.at = sync.OnceValue(func() map[string]int {
		at := map[string]int{}
		if o, err := e.outline(); err == nil {
			for i := o.Header; i < o.Len(); i++ {
				at[o.MessageID(i)] = i
			}
		}
		return at
	})
	e.calls = sync.OnceValue(func() map[string]int {
		o, err := e.outline()
		if err != nil {
			return nil
		}
		return callsIn(o)
	})
	e.sums = sync.OnceValues(func() (sums []uint64, err error) {
		err = s.v.Folder.Look(id, all, func(file *session.Session) error {
			for _, m := range file.Messages {
				sums = append(sums, maphash.Bytes(e.seed, m.Raw))
			}
			return nil
		})
		return sums, err
	})
	e.message = func(i int) (m session.Message, err error) {
		err = s.v.Folder.Look(id, all, func(file *session.Session) error {
			if i >= len(file.Messages) {
				return fmt.Errorf("%s %w", session.FileName(id), session.ErrChanged)
			}
			m = session.Message{ID: file.Messages[i].ID, Raw: slices.Clone(file.Messages[i].Raw)}
			return nil
		})
		return m, err
	}
	return e
}

// hasBytes reports whether the file has a message with the same bytes. For an
// unreadable file it returns false.
func (e *earlier) hasBytes(m session.Message) (bool, error) {
	i, ok := e.at()[m.ID]
	if !ok {
		return false, nil
	}
	sums, err := e.sums()
	if err != nil || i >= len(sums) {
		return false, unlessDamaged(err)
	}
	return sums[i] == maphash.Bytes(e.seed, m.Raw), nil
}

// hasWords reports whether the file has a message with the same words, role and time.
func (e *earlier) hasWords(m session.Message) (bool, error) {
	i, ok := e.at()[m.ID]
	if !ok {
		return false, nil
	}
	other, err := e.message(i)
	if err != nil {
		return false, unlessDamaged(err)
	}
	at, _ := m.Time()
	otherAt, _ := other.Time()
	return at.Equal(otherAt) && m.Role() == other.Role() && messageText(content.Read(m.Raw)) == messageText(content.Read(other.Raw)), nil
}

// called returns the name of the tool of a call in the file, "" if unknown.
func (e *earlier) called(call string) string {
	i, ok := e.calls()[call]
	if !ok {
		return ""
	}
	m, err := e.message(i)
	if err != nil {
		return ""
	}
	return nameIn(m, call)
}

// unlessDamaged returns err, or nil if it reports a malformed session file.
func unlessDamaged(err error) error {
	var damage *session.DamageError
	if errors.As(err, &damage) {
		return nil
	}
	return err
}
