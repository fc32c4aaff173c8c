package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"math"
	"os"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/stored"
	"github.com/bough-dev/bough/internal/title"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A Spool is a conversation that was read but is not stored yet. Its messages
// are in their stored form, in memory or, beyond maxMemory, in a temporary
// file.
type Spool struct {
	format   *convert.Format
	path     string
	number   int      // index of the conversation in its file
	row      *FileRow // of the file, nil if it has none
	tail     *tail    // of the file, nil if it is not kept
	digests  bool     // compute digests of messages
	named    bool     // the file was named, not found in a folder or archive
	grown    bool     // an operation of this import added a part of it to a session
	conv     transcript.Conversation
	messages []spooled
	problems []transcript.Problem
	records  int // number of records of its messages
	troubles int // number of problems, including dropped ones
	lastTime time.Time
	Title    string // derived from the user's first words
	weak     bool   // a later message may give a better title
	first    string // the first time of a message, in stored form
	last     string // the latest time of a message, in stored form
	latest   time.Time

	maxMemory int64
	size      int64
	memory    []byte // the part that is not in the temporary file
	memoryAt  int64  // offset of memory in the spool
	temp      *os.File
	window    []byte // a part of the temporary file that was read
	windowAt  int64
}

// spoolWindow is how many bytes of a conversation are kept in memory if it has
// a temporary file, for reading and for writing.
const spoolWindow = 128 << 10

// A spooled is the entry of a message in the index of the spool.
type spooled struct {
	id, parent string
	joined     string
	copyOf     string
	at         int64 // offset of the message in the spool
	size       int32
	parentAt   int32  // offset of the value of parent_id, which is still null; 0 if it needs no change
	says       uint64 // hash of role and text
	digest     uint64 // see [convert.Digest]; 0 if nothing was exported from the workspace
	records    uint64 // see [sumOf]
	system     bool
	answer     bool // it is an assistant's
	open       bool
	guessed    bool // see [convert.Message]
}

// saysOf returns a hash of role and text of a stored message. It does not
// depend on the layout of the JSON.
func saysOf(seed maphash.Seed, raw []byte) uint64 {
	v := gjson.GetManyBytes(raw, "role", "content")
	return saysOfParts(seed, []byte(v[0].Raw), []byte(v[1].Raw))
}

// saysOfParts is saysOf with the role and the content, as JSON.
func saysOfParts(seed maphash.Seed, role, content []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, value := range [][]byte{role, content} {
		h.Write(rawjson.Dense(value))
		h.WriteByte(0)
	}
	return h.Sum64()
}

// add spools a message in the form of the dialect.
func (s *Spool) add(m *transcript.Message, dialect session.Dialect, now time.Time, seed maphash.Seed) error {
	raw := m.Raw
	var says uint64
	var parentAt int32
	if raw != nil {
		says = saysOf(seed, raw)
	} else {
		root := *m
		root.Parent = ""
		message := stored.Of(&root, dialect, now)
		raw = message.Encode()
		says = saysOfParts(seed, rawjson.Compact(message.Role), message.Content)
		parentAt = parentPlace(raw, message.Content)
		if !m.Time.IsZero() {
			if s.first == "" {
				s.first = message.Time
			}
			if m.Time.After(s.latest) {
				s.last, s.latest = message.Time, m.Time
			}
		}
	}
	if len(raw) > math.MaxInt32 {
		return errors.New("a message is larger than 2 GiB")
	}
	n := spooled{
		id: m.ID, parent: m.Parent, joined: m.Joined, copyOf: m.CopyOf, at: s.size, size: int32(len(raw)),
		says: says, system: m.Own.Role != "", answer: m.Role == "assistant", open: m.Open, guessed: m.Guessed,
	}
	if m.Raw == nil {
		n.parentAt = parentAt
		n.records = sumOf(seed, m.Records)
		s.records += len(m.Records)
	}
	if s.digests {
		n.digest = transcript.Digest(m)
	}
	s.Entitle(m)
	s.messages = append(s.messages, n)
	return s.put(raw)
}

// parentPlace returns the offset of the value of metadata.parent_id in a
// message that was encoded with this content.
func parentPlace(raw, content []byte) int32 {
	const before, key = `"content":`, `"metadata":{"parent_id":`
	at := bytes.Index(raw, []byte(before)) + len(before) + len(content)
	return int32(at + bytes.Index(raw[at:], []byte(key)) + len(key))
}

// sumOf returns a hash of a list of records.
func sumOf(seed maphash.Seed, records []json.RawMessage) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, r := range records {
		h.Write(r)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// Entitle derives the title from the text of m if it is better than the present
// one.
func (s *Spool) Entitle(m *transcript.Message) {
	if s.Title != "" && !s.weak || m.Role != "user" || m.Own.Role != "" || m.Kind != transcript.Said || m.IsToolAnswer() {
		return
	}
	switch title, ok := title.Of(m); {
	case ok:
		s.Title, s.weak = title, false
	case title != "" && s.Title == "":
		s.Title, s.weak = title, true
	}
}

func (s *Spool) put(raw []byte) (err error) {
	if s.temp == nil && s.size+int64(len(raw)) > s.maxMemory {
		if s.temp, err = os.CreateTemp("", "bough-"); err != nil {
			return err
		}
		os.Remove(s.temp.Name()) // if the system allows it, so that nothing remains if bough is killed
		if err := s.empty(); err != nil {
			return err
		}
		s.memory = nil
	}
	s.size += int64(len(raw))
	if s.temp != nil && len(raw) >= spoolWindow {
		if err := s.empty(); err != nil {
			return err
		}
		n, err := s.temp.Write(raw)
		s.memoryAt += int64(n)
		return err
	}
	if len(raw) > cap(s.memory)-len(s.memory) {
		s.memory = slices.Grow(s.memory, len(s.memory)+len(raw)) // at least double the capacity
	}
	s.memory = append(s.memory, raw...)
	if s.temp != nil && len(s.memory) >= spoolWindow {
		return s.empty()
	}
	return nil
}

// empty moves the messages in memory to the temporary file.
func (s *Spool) empty() error {
	n, err := s.temp.Write(s.memory)
	s.memory, s.memoryAt = s.memory[:0], s.memoryAt+int64(n)
	return err
}

// copy returns a copy of s that shares the bytes of messages. Only one of them
// may be dropped.
func (s *Spool) copy() *Spool {
	c := *s
	c.problems = slices.Clip(s.problems)
	c.window, c.windowAt = nil, 0
	return &c
}

// drop removes the temporary file.
func (s *Spool) drop() {
	if s.temp != nil {
		s.temp.Close()
		os.Remove(s.temp.Name())
		s.temp = nil
	}
	s.memory, s.window = nil, nil
}

// end records the properties of the conversation, which are known at the end of
// its transcript.
func (s *Spool) end(c *transcript.Conversation) {
	s.conv = *c
	for i := range s.messages {
		if parent, ok := c.Parents[s.messages[i].id]; ok {
			s.messages[i].parent = parent
		}
	}
	s.conv.Parents = nil
}

// raw returns the stored form of message i.
func (s *Spool) raw(i int) ([]byte, error) {
	m := s.messages[i]
	if m.parentAt == 0 || m.parent == "" {
		return s.rawOf(m)
	}
	const null = len("null")
	parent := rawjson.Compact(m.parent)
	raw := make([]byte, int(m.size)-null+len(parent))
	at := int(m.parentAt)
	copy(raw[at:], parent)
	if err := s.read(raw[:at], m.at); err != nil {
		return nil, err
	}
	return raw, s.read(raw[at+len(parent):], m.at+int64(at+null))
}

// rawOf returns the spooled form of a message.
func (s *Spool) rawOf(m spooled) ([]byte, error) {
	raw := make([]byte, m.size)
	return raw, s.read(raw, m.at)
}

// read fills p from an offset, within one message.
func (s *Spool) read(p []byte, at int64) error {
	switch {
	case at >= s.memoryAt:
		copy(p, s.memory[at-s.memoryAt:])
		return nil
	case len(p) > spoolWindow:
		_, err := s.temp.ReadAt(p, at)
		return err
	case at < s.windowAt || at+int64(len(p)) > s.windowAt+int64(len(s.window)):
		s.window, s.windowAt = slices.Grow(s.window[:0], spoolWindow)[:min(spoolWindow, s.memoryAt-at)], at
		if _, err := s.temp.ReadAt(s.window, at); err != nil {
			s.window = s.window[:0]
			return err
		}
	}
	copy(p, s.window[at-s.windowAt:])
	return nil
}

// runs returns the messages for a document, in the order of the transcript.
func (s *Spool) runs() []session.Run {
	runs := make([]session.Run, len(s.messages))
	for i := range s.messages {
		runs[i] = session.Run{Make: func() ([]byte, error) { return s.raw(i) }}
	}
	return runs
}

// links returns the ids of the messages and of their parents.
func (s *Spool) links() (ids, parents []string) {
	known := make(map[string]bool, len(s.messages))
	for i := range s.messages {
		known[s.messages[i].id] = true
	}
	ids, parents = make([]string, len(s.messages)), make([]string, len(s.messages))
	for i, m := range s.messages {
		ids[i], parents[i] = m.id, m.parent
		if !known[m.parent] && known[m.joined] {
			parents[i] = m.joined
		}
	}
	return ids, parents
}

// EndsOf counts the messages without a reply, and those whose parent is not
// among them.
func EndsOf(ids, parents []string) (ends, orphans int) {
	known, inner := make(map[string]bool, len(ids)), make(map[string]bool, len(ids))
	for i, id := range ids {
		known[id] = true
		inner[parents[i]] = true
	}
	for i, id := range ids {
		if !inner[id] {
			ends++
		}
		if p := parents[i]; p != "" && !known[p] {
			orphans++
		}
	}
	return ends, orphans
}

// setRaw sets a member of a valid message.
func setRaw(raw []byte, path string, value []byte) []byte {
	out, err := sjson.SetRawBytes(raw, path, value)
	if err != nil {
		panic("workspace: " + err.Error())
	}
	return out
}
