// Package inspect examines files that need not be in a workspace: what kind of
// file it is, whether it is complete, and where each problem is. It writes
// nothing.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/unpack"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// A Kind is the kind of a file.
type Kind string

// The kinds of files that [File] detects.
const (
	SessionFile     Kind = "session"
	TranscriptFile  Kind = "transcript" // of another program
	CheckpointFile  Kind = "penguin_checkpoint"
	RecipeFile      Kind = "recipe" // of a packed checkpoint
	IndexFile       Kind = "session_index"
	BookmarksFile   Kind = "bookmarks"
	HeadFile        Kind = "head"
	AgentFile       Kind = "agent"
	ExplorationFile Kind = "exploration"
	LogFile         Kind = "operations" // the log of operations
	LinesFile       Kind = "json_lines" // a JSON value on each line
	JSONFile        Kind = "json"       // any other JSON value
	UnknownFile     Kind = "unknown"    // not JSON
)

// A Result describes one file.
type Result struct {
	Path   string `json:"path"` // as given; in an archive, the archive's path and the file's
	Bytes  int64  `json:"bytes"`
	Kind   Kind   `json:"kind"`
	Format string `json:"format"` // of a session or a transcript, else ""
	Whole  bool   `json:"whole"`  // it has no problems; notes do not count
	// Entries is the number of members, elements or lines of a file without
	// conversations.
	Entries       int            `json:"entries"`
	Problems      []Problem      `json:"problems"`
	Conversations []Conversation `json:"conversations"`
}

// A Problem is a problem in a file.
type Problem struct {
	Offset int64  `json:"offset"` // in bytes, in the unpacked file
	Line   int    `json:"line"`   // from 1; 0 if the file does not have one record per line
	Detail string `json:"detail"`
	Note   bool   `json:"note"` // harmless, nothing is lost
}

// A Conversation describes a conversation in a file.
type Conversation struct {
	ID       session.ID     `json:"session_id"` // in its own program, null if the file does not have one
	Title    string         `json:"title"`
	Kind     string         `json:"kind"` // of a session file, else ""
	Messages int            `json:"message_count"`
	Roles    map[string]int `json:"roles"`   // number of messages, by role
	Orphans  int            `json:"orphans"` // messages whose parent is missing in the file
	First    *Message       `json:"first"`
	Ends     []End          `json:"ends"` // the leaves, in the order of the file
	Begins   time.Time      `json:"created_at"`
	LastTime time.Time      `json:"last_active"`
}

// A Message describes a message in a file.
type Message struct {
	ID   string    `json:"id"`
	Role string    `json:"role"`
	Time time.Time `json:"created_at"` // zero if the file has none
	Text string    `json:"text"`       // its first words
}

// An End is a leaf, with the number of messages on its path.
type End struct {
	Message
	Depth int `json:"depth"`
}

// maxInspected is the size of the largest file that is inspected, unpacked, in
// bytes.
const maxInspected = 1 << 30

// File detects what the file at path is, and checks it. It knows all files of a
// workspace, transcripts of other programs, and JSON in general, plain,
// compressed or in an archive. The path "-" means stdin. Malformed content is
// reported in a [Result]; an error means that the file cannot be read.
func File(ctx context.Context, path string, stdin io.Reader) ([]Result, error) {
	if path != "-" {
		switch info, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &fault.Error{Code: fault.NotFound, Message: "no such file: " + path, Err: err}
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, &fault.Error{Code: fault.Refused, Message: path + " is not a regular file", Hint: "name a file"}
		}
	}
	list := []Result{}
	add := func(f unpack.File) error {
		data, err := bounded.ReadAll(f.In, maxInspected)
		if errors.As(err, new(*bounded.TooLongError)) {
			return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is larger than %d MiB", f.Path, maxInspected>>20)}
		}
		i := inspectData(f.Path, data)
		if err != nil {
			i.damage(int64(len(data)), 0, err.Error())
		}
		list = append(list, i)
		return ctx.Err()
	}
	err := unpack.Walk(ctx, []string{path}, unpack.Options{Stdin: stdin, Head: convert.HeadSize}, add, func(failed string, err error) {
		i := Result{Path: failed, Kind: UnknownFile, Whole: true, Problems: []Problem{}, Conversations: []Conversation{}}
		i.damage(0, 0, err.Error())
		list = append(list, i)
	})
	return list, err
}

func (i *Result) damage(offset int64, line int, detail string) {
	i.Whole = false
	i.Problems = append(i.Problems, Problem{Offset: offset, Line: line, Detail: detail})
}

// check adds the damage of err, if any, and reports whether there is none. from
// is the offset of the data.
func (i *Result) check(err error, from int) bool {
	var syntax *rawjson.SyntaxError
	var damage *session.DamageError
	switch {
	case err == nil:
		return true
	case errors.As(err, &syntax):
		i.damage(int64(from+syntax.Offset), 0, syntax.Problem)
	case errors.As(err, &damage):
		i.damage(int64(from+damage.Offset), 0, damage.Problem)
	default:
		i.damage(int64(from), 0, err.Error())
	}
	return false
}

// inspectData inspects the content of a file.
func inspectData(path string, data []byte) Result {
	i := Result{Path: path, Bytes: int64(len(data)), Whole: true, Problems: []Problem{}, Conversations: []Conversation{}}
	format := convert.Detect(data[:min(len(data), convert.HeadSize)])
	syntax := rawjson.Check(data)
	switch {
	case bytes.HasPrefix(data, []byte(`{"packed":`)) || syntax == nil && gjson.GetBytes(data, "packed.runs").IsArray():
		i.Kind = RecipeFile
		i.recipe(path, data)
	case format != nil && format.Sessions || syntax != nil && format == nil && isSessionHead(data):
		i.Kind = SessionFile
		i.session(path, data)
	case format != nil:
		i.Kind = TranscriptFile
		i.transcript(format, data, syntax)
	case syntax != nil && isLines(data):
		i.lines(data)
	case syntax != nil:
		i.Kind = UnknownFile
		if first := bytes.TrimLeft(data, " \t\r\n\xef\xbb\xbf"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
			i.Kind = JSONFile
		}
		i.check(syntax, 0)
	default:
		i.document(path, data)
	}
	return i
}

// isSessionHead reports whether a file that is not valid JSON begins like a
// session file.
func isSessionHead(data []byte) bool {
	head := data[:min(len(data), convert.HeadSize)]
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\xef\xbb\xbf"), []byte("{")) &&
		bytes.Contains(head, []byte(`"created_at"`)) && bytes.Contains(head, []byte(`"metadata"`)) && bytes.Contains(head, []byte(`"messages"`))
}

// session inspects a session file, or the intact part of a damaged one.
func (i *Result) session(path string, data []byte) {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	format, _ := convert.Named("penguin")
	s, err := session.Decode(id, data)
	if !i.check(err, 0) {
		recovered, _, ok := session.Recover(data)
		if !ok {
			return
		}
		data = recovered
		if s, err = session.Decode(id, data); err != nil {
			return
		}
	}
	i.read(format, data)
	for n := range i.Conversations {
		i.Conversations[n].ID = session.ID(cmp.Or(s.OwnID, id))
		i.Conversations[n].Kind = string(s.Meta.Kind())
	}
	i.Format = format.Name
}

// recipe inspects the recipe of a packed checkpoint, whose messages are in other files.
func (i *Result) recipe(path string, data []byte) {
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	r, err := sessions.DecodeRecipe(id, data)
	if !i.check(err, 0) {
		return
	}
	s := r.Summary()
	begins, _ := session.ParseTime(s.CreatedAt)
	last, _ := session.ParseTime(s.LastActive)
	i.Conversations = append(i.Conversations, Conversation{
		ID: session.ID(id), Title: cmp.Or(s.Meta.Title, r.Opening), Kind: string(s.Meta.Kind()), Messages: r.Messages,
		Roles: map[string]int{}, Ends: []End{}, Begins: begins, LastTime: last,
	})
}

// transcript inspects a transcript of another program. syntax is the error of
// parsing data as one JSON value.
func (i *Result) transcript(format *convert.Format, data []byte, syntax error) {
	i.Format = format.Name
	err := i.read(format, data)
	var wrong *rawjson.SyntaxError
	switch {
	case format.Ext == ".json" && errors.As(syntax, &wrong) && !isLines(data):
		i.Problems = slices.DeleteFunc(i.Problems, func(p Problem) bool { return p.Offset == 0 && !p.Note })
		i.check(syntax, 0)
	case err != nil:
		i.damage(0, 0, err.Error())
	}
}

// read adds the conversations and problems that a format finds in data.
func (i *Result) read(format *convert.Format, data []byte) error {
	r := &inspector{file: i, data: data}
	return format.Read(bytes.NewReader(data), r)
}

// isLines reports whether data has several lines, with a JSON value on the
// first or the second.
func isLines(data []byte) bool {
	n := 0
	for line := range bytes.Lines(data) {
		if n++; n > 2 {
			break
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' && rawjson.Check(line) == nil {
			return bytes.IndexByte(data, '\n') >= 0
		}
	}
	return false
}

// lines inspects a file with a JSON value on each line.
func (i *Result) lines(data []byte) {
	i.Kind = LinesFile
	number, offset, operations := 0, 0, 0
	for line := range bytes.Lines(data) {
		number++
		text := bytes.TrimSpace(line)
		lead := len(line) - len(bytes.TrimLeft(line, " \t\r\n"))
		if len(text) > 0 {
			var syntax *rawjson.SyntaxError
			if err := rawjson.Check(text); errors.As(err, &syntax) {
				i.damage(int64(offset+lead+syntax.Offset), number, syntax.Problem)
			} else {
				i.Entries++
				if v := gjson.GetManyBytes(text, "seq", "verb", "changes"); v[0].Exists() && v[1].Exists() && v[2].Exists() {
					operations++
				}
			}
		}
		offset += len(line)
	}
	if operations > 0 && operations == i.Entries {
		i.Kind = LogFile
	}
}

// document inspects a JSON value that is neither a session nor a transcript.
func (i *Result) document(path string, data []byte) {
	i.Kind = JSONFile
	v := gjson.ParseBytes(data)
	base := filepath.Base(path)
	v.ForEach(func(_, _ gjson.Result) bool {
		i.Entries++
		return v.IsObject() || v.IsArray()
	})
	if !v.IsObject() {
		return
	}
	switch inside := v.Get("session"); {
	case v.Get("metadata").IsObject() && inside.Get("messages").IsArray():
		i.Kind, i.Entries = CheckpointFile, 0
		s, err := session.Decode(v.Get("metadata.id").String(), []byte(inside.Raw))
		if i.check(err, inside.Index) {
			format, _ := convert.Named("penguin")
			i.Format = format.Name
			i.read(format, []byte(inside.Raw))
			for n := range i.Conversations {
				i.Conversations[n].ID, i.Conversations[n].Kind = session.ID(cmp.Or(s.ID, s.OwnID)), string(session.Checkpoint)
			}
		}
	case v.Get("messages").IsArray() && (v.Get("created_at").Exists() || v.Get("last_active").Exists()):
		i.Kind, i.Entries = SessionFile, 0
		i.session(path, data)
	case v.Get("bookmarks").IsArray():
		i.Kind = BookmarksFile
		file, err := bookmark.Decode(data)
		if i.check(err, 0) {
			i.Entries = len(file.Bookmarks)
		}
	case v.Get("name").Exists() && v.Get("head").Exists() && (v.Get("tree_ids").Exists() || v.Get("trees").Exists()):
		i.Kind = AgentFile
		_, err := agent.Decode(strings.TrimSuffix(base, ".json"), data)
		i.check(err, 0)
		i.Entries = int(v.Get("tree_ids.#").Int())
	case v.Get("session_id").Exists() && v.Get("message_id").Exists() && v.Get("read_only").Exists():
		i.Kind = HeadFile
	case v.Get("parent_node_id").Exists() && v.Get("branches").IsArray():
		i.Kind, i.Entries = ExplorationFile, int(v.Get("branches.#").Int())
	case isIndex(base, v):
		i.Kind = IndexFile
	}
}

// isIndex reports whether v is an index of sessions: an object of objects with
// the time when each session was active.
func isIndex(base string, v gjson.Result) bool {
	n, entries := 0, 0
	v.ForEach(func(_, entry gjson.Result) bool {
		n++
		if entry.Get("last_active").Exists() {
			entries++
		}
		return true
	})
	return n == entries && (n > 0 || base == filepath.Base(session.IndexPath))
}
