package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A ledger records earlier imports: files, so that unchanged ones are not read
// again, and conversations, so that removed ones are skipped.
type ledger struct {
	files map[string]*FileRow // by path
	Said  map[string]*ConvRow // by [SourceKey]
	Ends  map[string]*ConvRow // conversations without an id, by the id of the last message
	news  []byte              // lines to write

	written int64 // bytes that were written
}

// reader is the version of what is read of a file. Files that were imported by an earlier version
// are read once more: 1 reads the conversations of sub-agents, and which calls began them, 2 those in
// the files of their sessions.
const reader = 2

// A FileRow is the line for a file that was read completely.
type FileRow struct {
	File struct {
		Path   string           `json:"path"`
		Size   int64            `json:"size"`
		Time   int64            `json:"mtime"` // in nanoseconds since 1970
		Change int64            `json:"ctime,omitempty"`
		Inode  uint64           `json:"inode,omitempty"`
		Log    *LogState        `json:"log,omitempty"`    // of a database; nil for other files
		Format string           `json:"format"`           // the requested format, "" if it was detected
		Side   bool             `json:"side,omitempty"`   // the file was named, and side conversations are included
		Reader int              `json:"reader,omitempty"` // see [reader]
		Rows   []LedgerImported `json:"rows"`
	} `json:"file"`

	left  int  // how many conversations are not stored yet
	whole bool // the file was read completely
	void  bool // do not record: the result depends on more than the file
}

// A LogState is the state of the file beside a database where the newest changes are. It is zero
// if there is none.
type LogState struct {
	Size   int64  `json:"size,omitempty"`
	Time   int64  `json:"mtime,omitempty"`
	Change int64  `json:"ctime,omitempty"`
	Inode  uint64 `json:"inode,omitempty"`
}

// logOf returns the state of the log of the database at path.
func logOf(path string) *LogState {
	info, err := os.Stat(convert.DatabaseLog(path))
	if err != nil {
		info = nil
	}
	id := durable.Identify(info)
	return &LogState{id.Size, id.ModTime, id.Changed, id.Inode}
}

// A LedgerImported is the result for one conversation of a file.
type LedgerImported struct {
	imports.Transcript
	ID   string `json:"id,omitempty"`   // the id of the conversation in the other program
	Last string `json:"last,omitempty"` // the id of the last message, if there is no ID
	Tip  string `json:"tip,omitempty"`  // see [imports.Transcript]
}

// MarshalJSON implements [json.Marshaler]. It shadows the method of the
// embedded type, which would omit the other members.
func (r LedgerImported) MarshalJSON() ([]byte, error) {
	type row imports.Transcript
	return rawjson.Compact(struct {
		row
		ID   string `json:"id,omitempty"`
		Last string `json:"last,omitempty"`
		Tip  string `json:"tip,omitempty"`
	}{row(r.Transcript), r.ID, r.Last, r.Tip}), nil
}

// A ConvRow is the line for a conversation.
type ConvRow struct {
	Conversation struct {
		Format  string `json:"format"`
		ID      string `json:"id,omitempty"`
		Last    string `json:"last,omitempty"` // the id of the last message, if there is no ID
		Session string `json:"session_id"`
		Out     bool   `json:"out,omitempty"` // its import was undone
	} `json:"conversation"`
}

func newLedger() *ledger {
	return &ledger{files: map[string]*FileRow{}, Said: map[string]*ConvRow{}, Ends: map[string]*ConvRow{}}
}

// ReadLedger reads [importsPath] and ignores malformed lines.
func ReadLedger(root *os.Root) (*ledger, error) {
	l := newLedger()
	data, err := store.ReadRegular(root, store.ImportsPath)
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		switch {
		case bytes.HasPrefix(line, []byte(`{"file":`)):
			row := &FileRow{}
			if json.Unmarshal(line, row) == nil {
				l.files[row.File.Path] = row
			}
		case bytes.HasPrefix(line, []byte(`{"conversation":`)):
			row := &ConvRow{}
			if json.Unmarshal(line, row) == nil {
				l.take(row)
			}
		}
	}
	return l, err
}

func (l *ledger) take(row *ConvRow) {
	if c := &row.Conversation; c.ID != "" {
		l.Said[SourceKey(c.Format, c.ID)] = row
	} else {
		l.Ends[c.Last] = row
	}
}

// file returns the record of a file, nil if there is none or the file changed
// since.
func (l *ledger) file(path string, id durable.Identity, format string, named bool) *FileRow {
	row := l.files[path]
	if row == nil {
		return nil
	}
	f := &row.File
	if f.Size != id.Size || f.Time != id.ModTime || f.Change != id.Changed || f.Inode != id.Inode || f.Format != format || f.Side != named || f.Reader != reader {
		return nil
	}
	if f.Log != nil && *f.Log != *logOf(path) {
		return nil
	}
	return row
}

// conversation returns the record of a conversation, nil if there is none.
func (l *ledger) conversation(s *Spool) *ConvRow {
	if s.conv.ID != "" {
		return l.Said[SourceKey(s.format.Name, s.conv.ID)]
	}
	for _, m := range slices.Backward(s.messages) { // the last known one counts
		if row := l.Ends[m.id]; row != nil && row.Conversation.Format == s.format.Name {
			return row
		}
	}
	return nil
}

// of returns the record of a row's conversation, nil if there is none.
func (l *ledger) of(r LedgerImported) *ConvRow {
	if r.ID != "" {
		return l.Said[SourceKey(r.Format, r.ID)]
	}
	return l.Ends[r.Last]
}

// note records the result for a conversation.
func (l *ledger) note(s *Spool, session string) {
	row := &ConvRow{}
	c := &row.Conversation
	c.Format, c.ID, c.Session = s.format.Name, s.conv.ID, session
	if c.ID == "" {
		c.Last = s.messages[len(s.messages)-1].id
	}
	if was := l.conversation(s); was != nil && was.Conversation == *c {
		return
	}
	l.take(row)
	l.news = append(append(l.news, rawjson.Answer(row)...), '\n')
}

// noteFile records the result for a file that was read completely.
func (l *ledger) noteFile(row *FileRow) {
	l.files[row.File.Path] = row
	l.news = append(append(l.news, rawjson.Answer(row)...), '\n')
}

// saveLedger writes the new records.
func saveLedger(ctx context.Context, w *store.Store, l *ledger) error {
	if len(l.news) == 0 {
		return nil
	}
	lines := l.news
	l.news = nil
	return w.Patient().WithLock(ctx, "import", func(root *os.Root) error {
		_, err := durable.Append(root, store.ImportsPath, lines)
		if err == nil {
			l.written += int64(len(lines))
		}
		return err
	})
}

// KeepOut records that imports were undone, so that their sources are skipped.
// If out is false, it records that they were redone.
func KeepOut(root *os.Root, ops []*operation.Operation, out bool) error {
	l, err := ReadLedger(root)
	if err != nil {
		return err
	}
	var lines []byte
	for _, o := range ops {
		text := func(name string) string { s, _ := o.Args[name].(string); return s }
		row := l.Ends[text("last")]
		if id := text("source"); id != "" {
			row = l.Said[SourceKey(text("format"), id)]
		}
		if row != nil && row.Conversation.Out != out {
			row.Conversation.Out = out
			lines = append(append(lines, rawjson.Answer(row)...), '\n')
		}
	}
	if len(lines) == 0 {
		return nil
	}
	_, err = durable.Append(root, store.ImportsPath, lines)
	return err
}
