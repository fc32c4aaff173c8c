package session

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/sessionid"
)

const (
	// Dir is the folder of the session files in a workspace.
	Dir = "conversations"
	// IndexFile is the name of the index file in Dir.
	IndexFile = sessionid.IndexStem + ext
	// IndexPath is the path of the index, relative to the workspace.
	IndexPath = Dir + "/" + IndexFile

	ext = ".json"
)

// FileName returns the path of a session's file, relative to the workspace.
func FileName(id string) string { return Dir + "/" + id + ext }

// A Folder reads and writes the session files of a workspace. It refuses ids that
// are not valid and symbolic links that lead out of the workspace.
type Folder struct {
	root   *os.Root
	memory *Memory
	fresh  bool
}

// NewFolder returns the folder of the workspace root. It reuses the buffers of
// memory; if memory is nil, it allocates a new one.
func NewFolder(root *os.Root, memory *Memory) Folder {
	if memory == nil {
		memory = &Memory{}
	}
	return Folder{root: root, memory: memory}
}

// Fresh returns a folder that ignores cached outlines.
func (f Folder) Fresh() Folder {
	f.fresh = true
	return f
}

// A Stat identifies one state of a session file: a file with an equal Stat is
// unchanged. On systems that report only size and modification time the other
// fields are zero.
type Stat struct {
	ID      string // the file's stem, whether or not it is a valid id
	Size    int64
	ModTime time.Time
	Changed int64 // time of the last change of the file or its attributes, in nanoseconds since 1970
	Inode   uint64
}

// Identity converts st to a durable.Identity, the zero Identity if st has no times.
func (st Stat) Identity() durable.Identity {
	if st.ModTime.IsZero() {
		return durable.Identity{}
	}
	return durable.Identity{Size: st.Size, ModTime: st.ModTime.UnixNano(), Changed: st.Changed, Inode: st.Inode}
}

func statOf(id string, info fs.FileInfo) Stat {
	if info == nil {
		return Stat{ID: id}
	}
	is := durable.Identify(info)
	return Stat{id, is.Size, time.Unix(0, is.ModTime), is.Changed, is.Inode}
}

// List returns every JSON file of the folder except the index and conflict copies,
// in no order, and the paths of temporary files. A file that cannot be examined has
// only an ID. Subfolders, in which other assistants keep their own files, are
// skipped. A workspace without the folder has no sessions.
func (f Folder) List() (list []Stat, temporary []string, err error) {
	if err := durable.CheckDir(f.root, Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	dir, err := f.root.OpenRoot(Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	folder, err := dir.Open(".")
	if err != nil {
		return nil, nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, nil, err
	}
	names = withoutConflicts(names)
	list = make([]Stat, len(names))
	parallel.Do(len(names), func(i int) { list[i] = f.lookAt(dir, names[i]) })
	for _, name := range names {
		if strings.HasSuffix(name, durable.TempSuffix) {
			temporary = append(temporary, Dir+"/"+name)
		}
	}
	return slices.DeleteFunc(list, func(st Stat) bool { return st == Stat{} }), temporary, nil
}

// names returns the names of all files in the folder.
func (f Folder) names() ([]string, error) {
	dir, err := f.root.Open(Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// Temporary returns the paths of temporary files in the folder.
func (f Folder) Temporary() (list []string) {
	entries, _ := durable.ReadDir(f.root, Dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) {
			list = append(list, Dir+"/"+e.Name())
		}
	}
	return list
}

// lookAt returns the Stat of a file in the open folder dir, or the zero Stat if it
// is not a session file.
func (f Folder) lookAt(dir *os.Root, name string) Stat {
	id, ok := strings.CutSuffix(name, ext)
	if !ok || id == sessionid.IndexStem {
		return Stat{}
	}
	info, err := dir.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return Stat{}
	case err == nil && !info.Mode().IsRegular():
		info, err = f.root.Stat(FileName(id))
	}
	if err != nil {
		return Stat{ID: id}
	}
	return statOf(id, info)
}

// Read reads the session id. The error is [ErrNotFound] if it does not exist and a
// *[DamageError] with its path if it is not a valid session.
func (f Folder) Read(id string) (*Session, error) {
	memory := &scratch{} // Read returns its bytes, so they must not be pooled
	o, err := f.decode(id, memory)
	if err != nil {
		return nil, err
	}
	return o.with(memory.data), nil
}

// Look reads the session id into pooled memory. If wanted returns true for its
// bytes, Look validates the file and calls use, which must not keep the bytes.
// Errors are those of [Folder.Read] and of use. If wanted returns false, the file
// is not validated.
func (f Folder) Look(id string, wanted func(data []byte) bool, use func(*Session) error) error {
	in, info, err := f.open(id)
	if err != nil {
		return err
	}
	defer in.Close()
	if limit := maxFile; info.Size() > limit {
		return &DamageError{Path: FileName(id), Offset: int(limit), Problem: tooLarge}
	}
	memory := f.memory.scratch()
	defer f.memory.scratches.Put(memory)
	data, err := memory.read(in)
	if err != nil || !wanted(data) {
		return err
	}
	o, err := f.outlineOf(statOf(id, info), data, memory)
	if err != nil {
		return err
	}
	return use(o.with(data))
}

// outlineOf returns the outline of the file st with the content data, from the
// cache if the cached outline has the same checksum.
func (f Folder) outlineOf(st Stat, data []byte, memory *scratch) (*Outline, error) {
	if st.Size >= minCachedSize && !f.fresh {
		other := f.memory.scratch()
		defer f.memory.scratches.Put(other)
		if o := f.recall(st, other); o != nil && o.size == len(data) && o.CRC32C == crc32c.Of(data) {
			return o, nil
		}
	}
	o, err := outline(st.ID, data, memory)
	var damage *DamageError
	if errors.As(err, &damage) {
		damage.Path = FileName(st.ID)
	}
	return o, err
}

// Outline returns the outline of the session id, from the cache if the file is
// unchanged. Errors are those of [Folder.Read].
func (f Folder) Outline(id string) (*Outline, error) {
	memory := f.memory.scratch()
	defer f.memory.scratches.Put(memory)
	if st, err := f.Stat(id); err == nil && !f.fresh {
		if o := f.recall(st, memory); o != nil {
			return o, nil
		}
	}
	return f.decode(id, memory)
}

// Open reads the session of an outline. The error is [ErrChanged] if the file
// has changed since the outline was made. An outline from [Decode] or [Folder.Read]
// holds its bytes, so no file is read.
func (f Folder) Open(o *Outline) (*Session, error) {
	if o.data != nil {
		return o.with(o.data), nil
	}
	in, _, err := f.open(o.ID)
	if errors.Is(err, ErrNotFound) {
		return nil, changed(o.ID)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data := make([]byte, o.size+1)
	switch n, err := io.ReadFull(in, data); {
	case err == nil || err == io.ErrUnexpectedEOF && n != o.size:
		return nil, changed(o.ID)
	case err != io.ErrUnexpectedEOF && err != io.EOF:
		return nil, err
	}
	data = data[:o.size]
	if crc32c.Of(data) != o.CRC32C {
		return nil, changed(o.ID)
	}
	return o.with(data), nil
}

// decode reads and validates the file of a session.
func (f Folder) decode(id string, memory *scratch) (*Outline, error) {
	in, info, err := f.open(id)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if limit := maxFile; info.Size() > limit {
		return nil, &DamageError{Path: FileName(id), Offset: int(limit), Problem: tooLarge}
	}
	data, err := memory.read(in)
	if err != nil {
		return nil, err
	}
	o, err := outline(id, data, memory)
	var damage *DamageError
	if errors.As(err, &damage) {
		damage.Path = FileName(id)
	}
	if err != nil {
		return nil, err
	}
	o.Stat = statOf(id, info)
	if now, err := in.Stat(); err != nil || statOf(id, now) != o.Stat {
		o.Stat.Changed = -1 // the file changed during the read
	}
	return o, nil
}

// open opens the file of a session for reading.
func (f Folder) open(id string) (*os.File, fs.FileInfo, error) {
	if !sessionid.Valid(id) {
		return nil, nil, ErrNotFound
	}
	in, err := durable.OpenRegular(f.root, FileName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNotFound
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
	}
	return in, info, err
}

// Create stages a new session file in a batch and returns its outline. The error is
// [fs.ErrExist] if the id is in use and [ErrChanged] if the file of a part has
// changed since its outline was made. If watch is not nil, it is called with the
// progress.
func (f Folder) Create(b *durable.Batch, d *Document, watch Watch) (*Outline, error) {
	if err := durable.MakeDir(f.root, Dir); err != nil {
		return nil, err
	}
	return f.stage(b.Create, d.layout(), d.ID, watch)
}

// Replace stages the edited file in a batch and returns its outline. The commit
// fails with [durable.ErrChanged] if the file has changed since e was made. Errors
// are those of [Folder.Create] and [Folder.Read].
func (f Folder) Replace(b *durable.Batch, e *Edit, watch Watch) (*Outline, error) {
	l := e.layout()
	if l.outline == nil {
		data, err := l.bytes(f.Open)
		if err != nil {
			return nil, err
		}
		o, err := outline(e.o.ID, data, &scratch{})
		if err != nil {
			return nil, err
		}
		l = &layout{outline: o}
		l.raw(data)
	}
	o, err := f.stage(b.Replace, l, e.o.ID, watch)
	if err == nil {
		b.Expect(e.o.Stat.Identity())
	}
	return o, err
}

func (f Folder) stage(put func(string, func(*durable.Writer) error) (fs.FileInfo, error), l *layout, id string, watch Watch) (*Outline, error) {
	info, err := put(FileName(id), func(w *durable.Writer) error { return f.write(l, id, watch, w) })
	if err != nil {
		return nil, err
	}
	l.outline.Written(info)
	return l.outline, nil
}

// Written records the Stat of a file that bough itself wrote. [Folder.Create] calls
// it; it must be called again after the file was renamed, which changes the Stat.
func (o *Outline) Written(info fs.FileInfo) {
	o.Stat, o.ours = statOf(o.ID, info), true
}

// Stat returns the Stat of the file of a session.
func (f Folder) Stat(id string) (Stat, error) {
	info, err := f.root.Stat(FileName(id))
	return statOf(id, info), err
}

// Each calls each for every message of the session, in order. The bytes are valid
// only until each returns. The error is that of each, or [ErrChanged] if the
// file has changed since the outline was made; then the caller must discard the
// messages.
func (f Folder) Each(o *Outline, each func(i int, m Message) error) error {
	if o.data != nil {
		for i, m := range o.with(o.data).Messages {
			if err := each(i, m); err != nil {
				return err
			}
		}
		return nil
	}
	in, _, err := f.open(o.ID)
	if errors.Is(err, ErrNotFound) {
		return changed(o.ID)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	r := &eachReader{in: bufio.NewReaderSize(in, min(o.size+1, 1<<20))}
	for i := range o.Len() {
		span := o.span(i, i+1)
		if err := r.skip(span.Start); err != nil {
			return r.changed(o, err)
		}
		raw, err := r.next(span.End)
		if err != nil {
			return r.changed(o, err)
		}
		if err := each(i, Message{ID: o.MessageID(i), Raw: raw}); err != nil {
			return err
		}
	}
	if err := r.skip(o.size); err != nil {
		return r.changed(o, err)
	}
	if _, err := r.in.ReadByte(); err != io.EOF || r.sum.CRC != o.CRC32C {
		return changed(o.ID)
	}
	return nil
}

// An eachReader reads a session file once, from start to end.
type eachReader struct {
	in  *bufio.Reader
	buf []byte
	sum crc32c.Sum
}

// next returns the bytes up to the offset end.
func (r *eachReader) next(end int) ([]byte, error) {
	n := end - r.sum.N
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return nil, err
	}
	r.sum.Add(r.buf)
	return r.buf, nil
}

// skip discards the bytes up to the offset end.
func (r *eachReader) skip(end int) error {
	for r.sum.N < end {
		if _, err := r.next(min(end, r.sum.N+1<<20)); err != nil {
			return err
		}
	}
	return nil
}

// changed converts the error for an unexpected end of the file.
func (r *eachReader) changed(o *Outline, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return changed(o.ID)
	}
	return err
}
