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
)

const (
	// Dir is the folder of the session files inside a workspace.
	Dir = "conversations"
	// IndexFile is the name of the index in it.
	IndexFile = indexStem + ext
	// IndexPath is the path of the index inside the workspace.
	IndexPath = Dir + "/" + IndexFile

	indexStem = "session_index"
	ext       = ".json"
)

// FileName returns the path of a session's file inside the workspace.
func FileName(id string) string { return Dir + "/" + id + ext }

// A Folder holds the session files of a workspace. It refuses ids that are not
// [ValidID] and links that lead out of the workspace.
type Folder struct {
	root   *os.Root
	memory *Memory
	fresh  bool
}

// NewFolder returns the session files of the workspace root, to be read and
// written with memory; nil is new memory.
func NewFolder(root *os.Root, memory *Memory) Folder {
	if memory == nil {
		memory = &Memory{}
	}
	return Folder{root: root, memory: memory}
}

// Fresh returns a folder that believes nothing that is remembered.
func (f Folder) Fresh() Folder {
	f.fresh = true
	return f
}

// A Stat is what the file system says of a session file: while it is the same,
// so is the file. Where the system tells no more than size and modification
// time, that is all it is.
type Stat struct {
	ID      string // the file's stem, whether or not it is a [ValidID]
	Size    int64
	ModTime time.Time
	Changed int64 // when anything about the file changed last, in nanoseconds since 1970
	Inode   uint64
}

// Identity returns st as durable has it, the zero Identity if it says nothing.
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

// List returns every JSON file of the folder but the index and conflict copies, in no
// order, those that cannot be looked at with only an ID, and the paths of temporary files.
// Folders in it, which other assistants keep for themselves, are left alone. A
// workspace without the folder has no sessions.
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

// Temporary returns the paths of temporary files beside the sessions.
func (f Folder) Temporary() (list []string) {
	entries, _ := durable.ReadDir(f.root, Dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) {
			list = append(list, Dir+"/"+e.Name())
		}
	}
	return list
}

// lookAt returns what the file system says of a file in the folder dir, nothing
// if it is no session file.
func (f Folder) lookAt(dir *os.Root, name string) Stat {
	id, ok := strings.CutSuffix(name, ext)
	if !ok || id == indexStem {
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

// Read reads the session id. The error is [ErrNotFound] if there is none, a
// *[DamageError] with its path if it is no session.
func (f Folder) Read(id string) (*Session, error) {
	memory := &scratch{} // the bytes stay
	o, err := f.decode(id, memory)
	if err != nil {
		return nil, err
	}
	return o.with(memory.data), nil
}

// Look reads the session id into memory that is used again and, if its bytes are
// wanted, calls use with it, which may keep nothing of them. Errors are those of
// [Folder.Read], and of use. Of a file that is not wanted nobody knows whether it is a
// session.
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

// outlineOf returns the outline of the file st, which was read into memory: from the
// cache, if that is of these bytes.
func (f Folder) outlineOf(st Stat, data []byte, memory *scratch) (*Outline, error) {
	if st.Size >= worthwhile && !f.fresh {
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
// the one that was seen then. Errors are those of [Folder.Read].
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

// Open returns the session of an outline. The error is a *[ChangedError] if its
// file is not the one that the outline is of. An outline that came with its
// bytes, from [Decode] or [Folder.Read], needs no file.
func (f Folder) Open(o *Outline) (*Session, error) {
	if o.data != nil {
		return o.with(o.data), nil
	}
	in, _, err := f.open(o.ID)
	if errors.Is(err, ErrNotFound) {
		return nil, &ChangedError{o.ID}
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data := make([]byte, o.size+1)
	switch n, err := io.ReadFull(in, data); {
	case err == nil || err == io.ErrUnexpectedEOF && n != o.size:
		return nil, &ChangedError{o.ID}
	case err != io.ErrUnexpectedEOF && err != io.EOF:
		return nil, err
	}
	data = data[:o.size]
	if crc32c.Of(data) != o.CRC32C {
		return nil, &ChangedError{o.ID}
	}
	return o.with(data), nil
}

// decode reads the file of a session into memory.
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
		o.Stat.Changed = -1 // it was written to while it was being read
	}
	return o, nil
}

// open opens the file of a session for reading.
func (f Folder) open(id string) (*os.File, fs.FileInfo, error) {
	if !ValidID(id) {
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

// Create writes a new session file, for a batch to commit, and returns its
// outline. The error is [fs.ErrExist] if the id is taken, a *[ChangedError] if a
// part is not what its outline says. While it writes it tells watch, which may be
// nil.
func (f Folder) Create(b *durable.Batch, d *Document, watch Watch) (*Outline, error) {
	if err := durable.MakeDir(f.root, Dir); err != nil {
		return nil, err
	}
	return f.stage(b.Create, d.layout(), d.ID, watch)
}

// Replace writes a session file that is there, as edited, for a batch to commit,
// and returns its outline. It takes the place of the file that e is an edit of and
// of no other, see [durable.ErrChanged]. Errors are those of [Folder.Create] and of
// [Folder.Read].
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

// Written tells the outline of a file that bough wrote what the file system says
// of the file: as [Folder.Create] does at first, and as it must be told again
// when the file has its name, which changes that.
func (o *Outline) Written(info fs.FileInfo) {
	o.Stat, o.ours = statOf(o.ID, info), true
}

// Stat returns what the file system says of the file of a session.
func (f Folder) Stat(id string) (Stat, error) {
	info, err := f.root.Stat(FileName(id))
	return statOf(id, info), err
}

// Each calls f with each message of the session of an outline, in order, and keeps none
// of them: the bytes are valid until f returns. The error is f's, or a *[ChangedError] if
// the file is not the one that the outline is of; then what f was given is void.
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
		return &ChangedError{o.ID}
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
		raw, err := r.take(span.End)
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
		return &ChangedError{o.ID}
	}
	return nil
}

// An eachReader goes through a session file once.
type eachReader struct {
	in  *bufio.Reader
	buf []byte
	sum crc32c.Sum
}

// take returns what stands before the offset end.
func (r *eachReader) take(end int) ([]byte, error) {
	n := end - r.sum.N
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return nil, err
	}
	r.sum.Add(r.buf)
	return r.buf, nil
}

// skip passes what stands before the offset end.
func (r *eachReader) skip(end int) error {
	for r.sum.N < end {
		if _, err := r.take(min(end, r.sum.N+1<<20)); err != nil {
			return err
		}
	}
	return nil
}

// changed returns the error for a file that ends too early.
func (r *eachReader) changed(o *Outline, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &ChangedError{o.ID}
	}
	return err
}
