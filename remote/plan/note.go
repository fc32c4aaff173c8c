package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// A Note says what was published of a message.
type Note struct {
	ID     string
	Parent string // "" for a root
	Sum    string // of its bytes
	In     string // the session whose items have the bytes, "" if it is the message's own
}

// MarshalJSON encodes the note as a list.
func (n Note) MarshalJSON() ([]byte, error) {
	return valueOf([4]string{n.ID, n.Parent, n.Sum, n.In}), nil
}

// UnmarshalJSON decodes what MarshalJSON encoded.
func (n *Note) UnmarshalJSON(data []byte) error {
	var list [4]string
	err := json.Unmarshal(data, &list)
	*n = Note{list[0], list[1], list[2], list[3]}
	return err
}

// Notes are what was published of the messages of a session, by id.
type Notes map[string]Note

// Has reports whether a message was published.
func (n Notes) Has(message string) bool {
	_, ok := n[message]
	return ok
}

// runPrefix begins the ids of notes of runs, and those of no messages.
const runPrefix = "\x00run "

// RunNote returns the note for a run, which is the element with a stamp. It says that all messages
// of the run have notes.
func RunNote(s record.Stamp) Note {
	return Note{ID: fmt.Sprintf(runPrefix+"%s/%d/%d", s.Machine, s.Seq, s.Index)}
}

// NotesOf returns the notes of items of a session, none of which is a path.
func NotesOf(items []record.Item) (list []Note) {
	for _, it := range items {
		if it.ID != "" {
			list = append(list, Note{ID: it.ID, Parent: parentOf(it), Sum: sumOf(it.Raw)})
		}
	}
	return list
}

func parentOf(it record.Item) string {
	if it.Parent == nil {
		return ""
	}
	return *it.Parent
}

func itemOf(m mirror.Message) record.Item {
	it := record.Item{ID: m.ID, Raw: m.Raw, Header: m.Header}
	if m.Parent != "" {
		parent := string(m.Parent)
		it.Parent = &parent
	}
	return it
}

// minPath is how many bytes messages must have to be published as a path.
const minPath = 512

// itemsOf returns messages as items. Consecutive ones that follow each other and that were published
// with the same bytes for a session of sources become a path.
func itemsOf(messages []mirror.Message, sources []string, notes func(session string) Notes) (items []record.Item, list []Note) {
	for at := 0; at < len(messages); {
		in, n := published(messages[at:], sources, notes)
		if size := sizeOf(messages[at : at+n]); n == 0 || size < minPath {
			n = max(n, 1)
			for _, m := range messages[at : at+n] {
				items = append(items, itemOf(m))
				list = append(list, Note{ID: m.ID, Parent: string(m.Parent), Sum: sumOf(m.Raw)})
			}
			at += n
			continue
		}
		run := messages[at : at+n]
		it := record.Item{Path: &record.Path{Session: in, First: run[0].ID, Last: run[n-1].ID, Count: n}}
		if parent := string(run[0].Parent); parent != "" {
			it.Parent = &parent
		}
		hash := sha256.New()
		for _, m := range run {
			hash.Write(m.Raw)
			hash.Write([]byte("\n"))
			list = append(list, Note{ID: m.ID, Parent: string(m.Parent), Sum: sumOf(m.Raw), In: in})
		}
		it.Path.SHA256 = hex.EncodeToString(hash.Sum(nil))
		items = append(items, it)
		at += n
	}
	return items, list
}

func sizeOf(messages []mirror.Message) (n int) {
	for _, m := range messages {
		n += len(m.Raw)
	}
	return n
}

// published returns how many of the first messages are a path of one session, and which.
func published(messages []mirror.Message, sources []string, notes func(string) Notes) (in string, n int) {
	for _, source := range sources {
		known := notes(source)
		var holder string
		length := 0
		for i, m := range messages {
			note, ok := known[m.ID]
			if !ok || m.Header || note.Sum != sumOf(m.Raw) {
				break
			}
			at := note.In
			if at == "" {
				at = source
			}
			if i == 0 {
				holder = at
			} else if at != holder || string(m.Parent) != messages[i-1].ID || note.Parent != messages[i-1].ID {
				break
			}
			length++
		}
		if length > n {
			in, n = holder, length
		}
	}
	return in, n
}

// A loader returns the messages of a session that items can repeat, by id.
type loader = func(session string) (map[string]record.Item, error)

// Expand returns items with messages in place of paths. If there are more than a quota allows, the
// error is that of [Quota.Take]. Each loader returns the messages of a session that it knows, by
// id. For each path, Expand tries the loaders in order until one returns the messages that the path
// describes.
func Expand(items []record.Item, quota *Quota, loaders ...func(session string) (map[string]record.Item, error)) (list []record.Item, notes []Note, err error) {
	for _, it := range items {
		if it.Path == nil {
			if it.ID == "" {
				return nil, nil, &PathError{"an item is neither a message nor a path"}
			}
			if m := gjson.ParseBytes(it.Raw); !m.IsObject() || m.Get("id").Str != it.ID {
				return nil, nil, &PathError{"the message " + strconv.Quote(it.ID) + " is not one"}
			}
			list = append(list, it)
			notes = append(notes, NotesOf([]record.Item{it})...)
			continue
		}
		run, err := find(*it.Path, loaders)
		if err == nil {
			err = quota.Take(run...)
		}
		if err != nil {
			return nil, nil, err
		}
		run[0].Parent = it.Parent
		list = append(list, run...)
		for _, m := range NotesOf(run) {
			m.In = it.Path.Session
			notes = append(notes, m)
		}
	}
	return list, notes, nil
}

func find(p record.Path, loaders []loader) (run []record.Item, err error) {
	for _, load := range loaders {
		held, failed := load(p.Session)
		if failed == nil {
			run, failed = follow(p, held)
		}
		if err = failed; err == nil {
			return run, nil
		}
	}
	return nil, err
}

// ByID returns messages as items, by id, for [Expand].
func ByID(messages []mirror.Message) map[string]record.Item {
	items := make(map[string]record.Item, len(messages))
	for _, m := range messages {
		if !m.Header {
			items[m.ID] = itemOf(m)
		}
	}
	return items
}

// A PathError reports a path whose messages are missing or differ from its description, or an item
// that is neither a message nor a path.
type PathError struct{ Message string }

func (e *PathError) Error() string { return e.Message }

func badPath(p record.Path, format string, args ...any) error {
	return &PathError{"a path in " + p.Session + " " + fmt.Sprintf(format, args...)}
}

// follow returns the messages of a path.
func follow(p record.Path, held map[string]record.Item) ([]record.Item, error) {
	if p.Count < 1 || p.Count > len(held) {
		return nil, badPath(p, "has %d messages, and that has %d", p.Count, len(held))
	}
	run := make([]record.Item, p.Count)
	id := p.Last
	for i := p.Count - 1; i >= 0; i-- {
		it, ok := held[id]
		if !ok {
			return nil, badPath(p, "has the message %q, which that does not have", id)
		}
		it.Header = false
		run[i] = it
		id = parentOf(it)
	}
	hash := sha256.New()
	for _, it := range run {
		hash.Write(it.Raw)
		hash.Write([]byte("\n"))
	}
	if run[0].ID != p.First || hex.EncodeToString(hash.Sum(nil)) != p.SHA256 {
		return nil, badPath(p, "has other messages than when it was written")
	}
	return run, nil
}
