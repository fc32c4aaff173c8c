package rows

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
)

// A run is a sorted file of rows.
type run struct {
	file *os.File
	size int64
}

func openRun(root *os.Root, name string) (*run, error) {
	f, err := durable.OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &run{f, info.Size()}, nil
}

const sumSize = len("01234567 ")

// appendRow appends the line of a row, which is deleted if the value is nil.
func appendRow(data []byte, key string, value []byte) []byte {
	row := []byte(key)
	if value != nil {
		row = append(append(row, '\t'), value...)
	}
	return append(append(appendSum(data, row), row...), '\n')
}

// appendSum appends the checksum of a row.
func appendSum(data, row []byte) []byte {
	sum := binary.BigEndian.AppendUint32(nil, crc32c.Of(row))
	return append(hex.AppendEncode(data, sum), ' ')
}

var errLine = errors.New("a line differs from its checksum")

// parse returns the row of the first line in data, and the size of the line. The error is
// io.ErrUnexpectedEOF if data does not have all of it.
func parse(data []byte) (key string, value []byte, size int, err error) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return "", nil, 0, io.ErrUnexpectedEOF
	}
	var sum [sumSize]byte
	if end < sumSize || !bytes.Equal(data[:sumSize], appendSum(sum[:0], data[sumSize:end])) {
		return "", nil, 0, errLine
	}
	name, value, ok := bytes.Cut(data[sumSize:end], []byte("\t"))
	if ok && value == nil {
		value = []byte{}
	}
	return string(name), value, end + 1, nil
}

// get returns the value of a row, nil if it is deleted.
func (r *run) get(key string) (value []byte, found bool, err error) {
	for k, v := range r.scan(key, func(e error) { err = e }) {
		return v, k == key && err == nil, err
	}
	return nil, false, err
}

// block is how much is read at once.
const block = 16 << 10

// scan yields the rows whose keys begin with prefix. It calls fail for an error, and ends.
func (r *run) scan(prefix string, fail func(error)) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		at, err := r.seek(prefix)
		var data []byte
		for size := block; err == nil; {
			key, value, n, parseErr := parse(data)
			if errors.Is(parseErr, io.ErrUnexpectedEOF) {
				if at+int64(len(data)) == r.size {
					if len(data) > 0 {
						err = errLine
					}
					break
				}
				if len(data) > 0 {
					size = min(2*size, 1<<20) // what follows is read in larger parts
				}
				data, err = r.more(at, data, size)
				continue
			}
			if err = parseErr; err != nil {
				break
			}
			if key >= prefix {
				if !strings.HasPrefix(key, prefix) || !yield(key, value) {
					return
				}
			}
			data, at = data[n:], at+int64(n)
		}
		if err != nil {
			fail(err)
		}
	}
}

// more returns data, which begins at an offset, with at least n bytes after it, if there are so many.
func (r *run) more(at int64, data []byte, n int) ([]byte, error) {
	end := at + int64(len(data))
	next := make([]byte, len(data)+int(min(int64(n), r.size-end)))
	copy(next, data)
	_, err := r.file.ReadAt(next[len(data):], end)
	return next, err
}

// seek returns the offset of a line at or before the first one whose key is not less than key, and
// at most some blocks before it.
func (r *run) seek(key string) (int64, error) {
	low, high := int64(0), r.size // low is the begin of a line with a lesser key, or 0
	for high-low > block {
		middle := low + (high-low)/2
		at, k, err := r.lineAfter(middle, high)
		switch {
		case err != nil:
			return 0, err
		case at < 0 || k >= key: // no line begins between, or the line is behind it
			high = middle
		default:
			low = at
		}
	}
	return low, nil
}

// lineAfter returns the offset and the key of the first line that begins after an offset and before
// limit; -1 if there is none.
func (r *run) lineAfter(at, limit int64) (int64, string, error) {
	var data []byte
	var err error
	for begin := -1; ; {
		if data, err = r.more(at, data, max(1<<10, len(data))); err != nil {
			return 0, "", err
		}
		if begin < 0 {
			if i := bytes.IndexByte(data, '\n'); i >= 0 {
				begin = i + 1
			}
		}
		whole := at+int64(len(data)) == r.size
		if begin >= 0 && at+int64(begin) >= limit || begin < 0 && (whole || at+int64(len(data)) >= limit) {
			return -1, "", nil
		}
		if begin < 0 {
			continue
		}
		// The checksum is verified when the row is read.
		if end := bytes.IndexAny(data[begin:], "\t\n"); end >= sumSize {
			return at + int64(begin), string(data[begin+sumSize : begin+end]), nil
		} else if end >= 0 || whole {
			return 0, "", errLine
		}
	}
}

// merge yields the rows of sorted lists. Of several with one key it yields that of the first list.
func merge(lists []iter.Seq2[string, []byte]) iter.Seq2[string, []byte] {
	if len(lists) == 1 {
		return lists[0]
	}
	rest := merge(lists[1:])
	return func(yield func(string, []byte) bool) {
		next, stop := iter.Pull2(rest)
		defer stop()
		other, value, ok := next()
		for k, v := range lists[0] {
			for ok && other < k {
				if !yield(other, value) {
					return
				}
				other, value, ok = next()
			}
			if ok && other == k {
				other, value, ok = next()
			}
			if !yield(k, v) {
				return
			}
		}
		for ok {
			if !yield(other, value) {
				return
			}
			other, value, ok = next()
		}
	}
}

// compact stores all that is in no run, which is about total bytes, as a run, with the runs that are
// not much larger.
func (r *Rows) compact(total int64) error {
	if r.manyDeleted() { // a scan reads deleted rows until they are in no run
		total = everything
	}
	n := 0
	for n < len(r.runs) && r.runs[n].size <= 2*total {
		total += r.runs[n].size
		n++
	}
	number := r.files.Log + 1
	last := n == len(r.runs) // then nothing older has the deleted rows
	_, err := durable.Replace(r.root, nameOf(number), func(w *durable.Writer) error {
		var line []byte
		for key, value := range r.merged("", r.runs[:n]) {
			if value == nil && last {
				continue
			}
			line = appendRow(line[:0], key, value)
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return r.err
	})
	if err != nil {
		return err
	}
	made, err := openRun(r.root, nameOf(number))
	if err != nil {
		return err
	}
	next := files{format, append([]uint64{number}, r.files.Runs[n:]...), number + 1}
	data, err := json.Marshal(next)
	if err == nil {
		_, err = durable.Replace(r.root, filesName, durable.Bytes(data, []byte("\n")))
	}
	if err != nil {
		made.file.Close()
		return err
	}
	for _, old := range r.runs[:n] {
		old.file.Close()
	}
	r.files, r.runs = next, append([]*run{made}, r.runs[n:]...)
	r.log, r.logSize, r.torn, r.changed, r.sorted = map[string][]byte{}, 0, false, map[string][]byte{}, nil
	return r.tidy()
}

// manyDeleted reports whether many of the rows that are in no run are deleted ones.
func (r *Rows) manyDeleted() bool {
	deleted, all := 0, 0
	for _, value := range r.unsaved("") {
		if all++; value == nil {
			deleted++
		}
	}
	return deleted > all/4
}

// tidy removes the files that are no longer needed. One that another process has open may stay until
// the next time.
func (r *Rows) tidy() error {
	needed := map[string]bool{filesName: true, nameOf(r.files.Log): true}
	for _, n := range r.files.Runs {
		needed[nameOf(n)] = true
	}
	entries, err := durable.ReadDir(r.root, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if needed[e.Name()] {
			continue
		}
		if err := durable.Remove(r.root, e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) && !durable.IsLocked(err) {
			return err
		}
	}
	return nil
}
