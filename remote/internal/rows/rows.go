// Package rows stores rows, each a key with a value, in a folder. Reading or changing a few rows
// takes the same time and writes the same bytes however many there are.
//
// The rows are in runs, which are sorted files that never change, and in a log with the rows that
// changed since. A log that would exceed 256 KiB becomes a run, together with the runs that are not
// much larger than it; so there are few runs, and each row is written again only a few times. The
// newest file that has a key decides. The files of the folder:
//
//	files.json   names the others: the runs, newest first, and the log
//	12           a run or a log, whichever files.json says
//
// A line of a run or a log is a CRC-32C, a key and a value, or only a CRC-32C and the key of a row
// that is deleted. After the lines of a commit, the log has a line with an empty key and their
// number: lines without it are of a commit that did not happen.
package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
)

// Rows are the rows of a folder. They are not safe for concurrent use. Other processes may read
// them, but not change them.
type Rows struct {
	root *os.Root // of the folder

	files   files
	runs    []*run            // newest first
	log     map[string][]byte // rows of the log; nil for a deleted one
	logSize int               // in bytes
	torn    bool              // the log has lines that are not part of a commit
	changed map[string][]byte // since the last commit; nil for a deleted one
	sorted  []string          // keys of log and changed; nil if it has to be made again
	err     error             // the first one of a read

	maxLog int // bytes
}

// files is the content of filesName.
type files struct {
	Format int      `json:"format"`
	Runs   []uint64 `json:"runs"`
	Log    uint64   `json:"log"`
}

const (
	filesName = "files.json"
	format    = 1
	maxLog    = 256 << 10

	everything = math.MaxInt64 / 4 // bytes; more than there are
)

// Open opens the rows in a folder, which may be empty. The error has the code [fault.Damaged] if
// they cannot be used; then [Reset] makes them empty.
func Open(root *os.Root) (*Rows, error) {
	const tries = 5 // a writer may replace files meanwhile
	for n := 1; ; n++ {
		r, err := open(root)
		if !errors.Is(err, fs.ErrNotExist) || n == tries {
			return r, err
		}
	}
}

func open(root *os.Root) (_ *Rows, err error) {
	r := &Rows{root: root, files: files{Format: format, Log: 1}, changed: map[string][]byte{}, maxLog: maxLog}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	data, err := durable.ReadFile(root, filesName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case json.Unmarshal(data, &r.files) != nil || r.files.Format != format:
		return nil, r.damaged(filesName, errors.New("it is not a list of files"))
	}
	for _, n := range r.files.Runs {
		run, err := openRun(root, nameOf(n))
		if errors.Is(err, fs.ErrNotExist) {
			if again, readErr := durable.ReadFile(root, filesName); readErr == nil && string(again) == string(data) {
				return nil, r.damaged(nameOf(n), errors.New("it is missing"))
			}
		}
		if err != nil {
			return nil, err
		}
		r.runs = append(r.runs, run)
	}
	return r, r.readLog()
}

// Reset removes all rows of a folder.
func Reset(root *os.Root) error {
	if err := durable.Remove(root, filesName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := durable.ReadDir(root, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := durable.Remove(root, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (r *Rows) Close() {
	for _, run := range r.runs {
		run.file.Close()
	}
	r.runs = nil
}

// Err returns the first error of a Get or a Scan, which returned less than there is.
func (r *Rows) Err() error { return r.err }

func (r *Rows) fail(name string, err error) {
	if r.err == nil {
		r.err = r.damaged(name, err)
	}
}

func (r *Rows) damaged(name string, err error) error {
	return &fault.Error{Code: fault.Damaged, Message: r.root.Name() + "/" + name + " is damaged: " + err.Error(), Err: err}
}

func nameOf(n uint64) string { return strconv.FormatUint(n, 10) }

// readLog reads the commits of the log, up to the first one that is not complete.
func (r *Rows) readLog() error {
	r.log = map[string][]byte{}
	data, err := durable.ReadFile(r.root, nameOf(r.files.Log))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.logSize = len(data)
	type row struct {
		key   string
		value []byte
	}
	var open []row
	for len(data) > 0 {
		key, value, size, err := parse(data)
		if err != nil {
			break
		}
		data = data[size:]
		if key != "" {
			open = append(open, row{key, value})
			continue
		}
		n, err := strconv.Atoi(string(value))
		if err != nil || n < 0 || n > len(open) {
			break
		}
		for _, o := range open[len(open)-n:] { // those before are of a commit that did not happen
			r.log[o.key] = o.value
		}
		open = nil
	}
	r.torn = len(data)+len(open) > 0
	return nil
}

// Get returns the value of a row, nil if there is none. It must not be modified.
func (r *Rows) Get(key string) []byte {
	if value, ok := r.changed[key]; ok {
		return value
	}
	if value, ok := r.log[key]; ok {
		return value
	}
	for _, run := range r.runs {
		value, found, err := run.get(key)
		if err != nil {
			r.fail(run.file.Name(), err)
			return nil
		}
		if found {
			return value
		}
	}
	return nil
}

// Scan yields the rows whose keys begin with prefix, ascending by key. Values must not be modified.
func (r *Rows) Scan(prefix string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for key, value := range r.merged(prefix, r.runs) {
			if value != nil && !yield(key, value) {
				return
			}
		}
	}
}

// merged yields the rows of the log and of runs, with a nil value those that are deleted.
func (r *Rows) merged(prefix string, runs []*run) iter.Seq2[string, []byte] {
	list := []iter.Seq2[string, []byte]{r.unsaved(prefix)}
	for _, run := range runs {
		list = append(list, run.scan(prefix, func(err error) { r.fail(run.file.Name(), err) }))
	}
	return merge(list)
}

// unsaved yields the rows that are in no run.
func (r *Rows) unsaved(prefix string) iter.Seq2[string, []byte] {
	if r.sorted == nil {
		all := maps.Clone(r.log)
		maps.Copy(all, r.changed)
		r.sorted = slices.Sorted(maps.Keys(all))
	}
	keys := r.sorted
	return func(yield func(string, []byte) bool) {
		first, _ := slices.BinarySearch(keys, prefix)
		for _, key := range keys[first:] {
			value, ok := r.changed[key]
			if !ok {
				value = r.log[key]
			}
			if !strings.HasPrefix(key, prefix) || !yield(key, value) {
				return
			}
		}
	}
}

// Put sets the value of a row, or deletes the row if the value is nil. The change is stored by the
// next Commit. Key and value must not have a line break, and the key no tab; value must not be
// modified afterwards.
func (r *Rows) Put(key string, value []byte) {
	if key == "" || strings.ContainsAny(key, "\t\n") || strings.ContainsRune(string(value), '\n') {
		panic(fmt.Sprintf("rows: invalid row %q", key))
	}
	r.changed[key], r.sorted = value, nil
}

// Erase is Commit, and then no file has a trace of what was deleted or replaced. It writes all rows.
func (r *Rows) Erase() error {
	if r.err != nil {
		return r.err
	}
	return r.compact(everything)
}

// Commit stores all changes, or none if it fails.
func (r *Rows) Commit() error {
	if r.err != nil {
		return r.err
	}
	if len(r.changed) == 0 {
		return nil
	}
	var batch []byte
	for _, key := range slices.Sorted(maps.Keys(r.changed)) {
		batch = appendRow(batch, key, r.changed[key])
	}
	batch = appendRow(batch, "", strconv.AppendInt(nil, int64(len(r.changed)), 10))
	if r.torn || r.logSize+len(batch) > r.maxLog {
		return r.compact(int64(r.logSize + len(batch)))
	}
	if _, err := durable.Append(r.root, nameOf(r.files.Log), batch); err != nil {
		r.torn = true // it may be there
		return err
	}
	r.logSize += len(batch)
	maps.Copy(r.log, r.changed)
	r.changed = map[string][]byte{}
	return nil
}
