package importer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// tailsDir has tails for processes that import one after the other, each in a file: a hook
// lives shorter than its transcript grows. It is a cache.
const tailsDir = session.CacheDir + "/tails"

const (
	maxStored     = 32
	maxStoredSize = 4 << 20 // bytes of a file
	maxStoredAge  = 7 * 24 * time.Hour
)

// tailMark is the start of a stored tail.
const tailMark = "bough tail 1\n"

// isFollowed reports whether an import is that of one transcript that its program appends to.
func isFollowed(sources []imports.Source, o imports.Options) bool {
	return len(sources) == 1 && len(sources[0].Paths) == 1 && sources[0].Found &&
		o.Live && !o.DryRun && !o.Again && filepath.IsAbs(sources[0].Paths[0]) && filepath.Ext(sources[0].Paths[0]) == ".jsonl"
}

// importFollowed imports the new part of a file if an earlier process stored its tail, else the
// whole file, and stores the tail.
func importFollowed(ctx context.Context, w *store.Store, sources []imports.Source, o imports.Options) (*imports.Report, error) {
	source, path := sources[0], sources[0].Paths[0]
	ts := &Tails{old: true, list: map[string]*tail{}}
	ts.ledger, ts.exports = recordSizes(w.Dir)
	exists := store.Is(w.Dir)
	st := openStoredTails(ctx, w)
	defer func() { st.close() }()
	s := st.read(ts, path)
	switch {
	case s == nil || source.Format != nil && source.Format.Name != s.format.Name:
	case o.Limit > 0 && s.offset > o.Limit:
		return ImportTails(ctx, w, sources, o, nil) // an earlier state of the file; the tail stays
	default:
		r, err := s.grow(ctx, w, ts, o)
		switch {
		case err == nil:
			if ts.list[path] != nil {
				st.write(ts, path)
			}
			if o.Each != nil {
				o.Each(r)
			}
			return &imports.Report{Imported: []imports.Transcript{r}}, nil
		case ctx.Err() != nil || errors.Is(err, fault.Locked) || errors.Is(err, fault.Busy):
			return nil, err
		}
	}
	report, err := ImportTails(ctx, w, sources, o, ts)
	if !exists {
		st = openStoredTails(ctx, w)
	}
	if err == nil {
		st.write(ts, path)
	}
	return report, err
}

// grow imports the new part of the file. If anything is, ts has the tail then.
func (s *storedTail) grow(ctx context.Context, w *store.Store, ts *Tails, o imports.Options) (r imports.Transcript, err error) {
	lines, data, err := s.look(w, o.Skip, o.Limit)
	if err != nil {
		return r, err
	}
	if len(data) == 0 {
		if r, ok := s.unchanged(w); ok {
			return r, nil
		}
	}
	t := s.tail(w)
	if t == nil {
		return r, errWhole
	}
	t.i.o = o
	ts.list[s.path] = t
	return ts.growBy(ctx, w, s.path, lines, data)
}

// storedTails is the folder of stored tails.
type storedTails struct {
	root    *os.Root // of the workspace
	dir     *durable.CacheDir
	program durable.Identity // of this process: no other one can decode what it stores
}

// openStoredTails opens the folder, and creates it. It returns nil, which has no tails, if that is
// impossible. A tail has text of messages, which must not come back after a forget: that removes
// the folder, and nothing can be written to a folder that was opened before its removal.
func openStoredTails(ctx context.Context, w *store.Store) *storedTails {
	program, err := os.Executable()
	if err != nil || !store.Is(w.Dir) {
		return nil
	}
	info, err := os.Stat(program)
	if err != nil { // it was replaced
		return nil
	}
	root, err := w.Open(ctx)
	if err != nil {
		return nil
	}
	dir, err := durable.OpenCacheDir(root, tailsDir)
	if err != nil {
		root.Close()
		return nil
	}
	return &storedTails{root, dir, durable.Identify(info)}
}

func (st *storedTails) close() {
	if st != nil {
		st.dir.Close()
		st.root.Close()
	}
}

// nameOf returns the name of the file for the tail of a transcript.
func nameOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16])
}

// read returns the stored tail of a file, nil if there is none that fits ts.
func (st *storedTails) read(ts *Tails, path string) *storedTail {
	if st == nil {
		return nil
	}
	f, err := durable.OpenCache(st.root, tailsDir+"/"+nameOf(path), maxStoredSize)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil
	}
	head, rest, ok := splitTail(data)
	now := storedTail{program: st.program, extent: extent{path: path}, ledger: ts.ledger, exports: ts.exports}
	s := &storedTail{rest: rest, data: data}
	if !ok || fields.Decode(head, s.fields) != nil || s.program != now.program || s.path != now.path || s.ledger != now.ledger || s.exports != now.exports {
		return nil
	}
	return s
}

// write stores the tail of a file, or removes the stored one if the file has none. Errors are
// ignored.
func (st *storedTails) write(ts *Tails, path string) {
	if st == nil {
		return
	}
	name := nameOf(path)
	if data := st.encode(ts, ts.list[path]); data != nil {
		st.dir.Write(name, data)
	} else {
		st.root.Remove(tailsDir + "/" + name)
	}
	st.prune(time.Now())
}

// encode returns the content of the file of a tail. It returns nil if t is nil or too large, or
// cannot be encoded.
func (st *storedTails) encode(ts *Tails, t *tail) []byte {
	if t == nil {
		return nil
	}
	var err error
	if t.reader != nil {
		t.state, err = t.reader.State(len(t.state) + 1<<10)
	}
	if err != nil || len(t.state) > maxStoredSize {
		return nil
	}
	s := storedTail{program: st.program, ledger: ts.ledger, exports: ts.exports, extent: t.extent}
	head, err := fields.Encode(16<<10, s.fields)
	if err != nil {
		return nil
	}
	rest, err := fields.Encode(len(t.state)+32<<10, t.fields)
	if err != nil || len(tailMark)+len(head)+len(rest)+12 > maxStoredSize {
		return nil
	}
	return joinTail(head, rest)
}

// joinTail returns the content of a file of a tail: its extent, which an import without new lines
// needs, and the rest, each with a checksum of all bytes before that.
func joinTail(head, rest []byte) []byte {
	data := make([]byte, 0, len(tailMark)+len(head)+len(rest)+12)
	data = append(data, tailMark...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(head)))
	data = append(data, head...)
	data = binary.LittleEndian.AppendUint32(data, crc32c.Of(data))
	data = append(data, rest...)
	return binary.LittleEndian.AppendUint32(data, crc32c.Of(data))
}

// splitTail returns the extent and the rest in the content of a file of a tail, of which it
// verifies only the extent.
func splitTail(data []byte) (head, rest []byte, ok bool) {
	from := len(tailMark) + 4
	if len(data) < from || string(data[:len(tailMark)]) != tailMark {
		return nil, nil, false
	}
	size := int64(binary.LittleEndian.Uint32(data[len(tailMark):]))
	if size > int64(len(data)-from-8) {
		return nil, nil, false
	}
	end := from + int(size)
	return data[from:end], data[end+4 : len(data)-4], crc32c.Of(data[:end]) == binary.LittleEndian.Uint32(data[end:])
}

// prune removes the tails of files that have not grown for long, and the oldest ones if there
// are too many.
func (st *storedTails) prune(now time.Time) {
	entries, err := durable.ReadDir(st.root, tailsDir)
	if err != nil {
		return
	}
	type stored struct {
		name string
		at   time.Time
	}
	var list []stored
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list = append(list, stored{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b stored) int { return b.at.Compare(a.at) })
	for n, s := range list {
		if n >= maxStored || now.Sub(s.at) > maxStoredAge {
			st.root.Remove(tailsDir + "/" + s.name)
		}
	}
}

// A storedTail is a stored tail of which the extent is decoded, with what it depends on.
type storedTail struct {
	program         durable.Identity
	ledger, exports int64 // of [Tails]
	extent
	rest []byte // encoded
	data []byte // of the file
}

// fields encodes or decodes what an import without new lines needs.
func (s *storedTail) fields(c *fields.Coder) {
	for _, n := range []*int64{&s.program.Size, &s.program.ModTime, &s.program.Changed, &s.ledger, &s.exports, &s.offset} {
		c.Int64(n)
	}
	c.Uint64(&s.program.Inode)
	c.Uint64(&s.inode)
	c.String(&s.path)
	formatFields(c, &s.format)
	fields.Bytes(c, &s.first)
	fields.Bytes(c, &s.last)
	c.String(&s.dir)
	rowFields(c, &s.row)
	c.Bool(&s.settled)
}

// tail decodes the rest. It returns nil if that is damaged.
func (s *storedTail) tail(w *store.Store) *tail {
	end := len(s.data) - 4
	t := &tail{
		extent: s.extent, spool: &Spool{maxMemory: 1 << 40, format: s.format}, used: time.Now(),
		i: &importer{store: w, seed: maphash.MakeSeed()},
	}
	if crc32c.Of(s.data[:end]) != binary.LittleEndian.Uint32(s.data[end:]) || fields.Decode(s.rest, t.fields) != nil {
		return nil
	}
	return t
}

// fields encodes or decodes a tail without its extent, with the state of its reader.
func (t *tail) fields(c *fields.Coder) {
	dialect := int(t.i.dialect)
	c.Int(&dialect)
	t.i.dialect = session.Dialect(dialect)
	t.spool.fields(c)
	c.String(&t.conv.ID)
	fields.Map(c, &t.parents, c.String)
	c.Int(&t.stored)
	fields.Slice(c, &t.open, c.String)
	fields.Bytes(c, &t.state)
}

func formatFields(c *fields.Coder, f **convert.Format) {
	name := ""
	if *f != nil {
		name = (*f).Name
	}
	c.String(&name)
	if c.Decoding() {
		var err error
		if *f, err = convert.Named(name); err != nil {
			c.Fail(err)
		}
	}
}

// fields encodes or decodes what a tail keeps of a spool: not its messages.
func (s *Spool) fields(c *fields.Coder) {
	for _, text := range []*string{&s.path, &s.Title, &s.first, &s.last} {
		c.String(text)
	}
	for _, flag := range []*bool{&s.digests, &s.named, &s.weak} {
		c.Bool(flag)
	}
	c.Int(&s.number)
	c.Time(&s.lastTime)
	c.Time(&s.latest)
}

// rowFields encodes or decodes the result of an import that has a tail: it has no problems.
func rowFields(c *fields.Coder, r *imports.Transcript) {
	for _, text := range []*string{&r.Path, &r.Format, &r.Title} {
		c.String(text)
	}
	fields.Text(c, &r.Session)
	fields.Text(c, &r.Tip)
	fields.Text(c, &r.Status)
	for _, n := range []*int{&r.Messages, &r.Branches, &r.Orphans} {
		c.Int(n)
	}
	fields.Slice(c, &r.Notes, c.String)
	c.Bool(&r.Named)
}

// recordSizes returns the sizes of the records of imports and of exports.
func recordSizes(dir string) (ledger, exports int64) {
	return sizeOfFile(dir, store.ImportsPath), sizeOfFile(dir, store.ExportsPath)
}
