package sessions

import (
	"errors"
	"fmt"
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
	"github.com/bough-dev/bough/session"
)

const ext = ".json"

// A Folder reads and writes the session files of a workspace. It refuses ids that
// are not valid and symbolic links that lead out of the workspace.
type Folder struct {
	root   *os.Root
	memory *Memory
	fresh  bool
}

// New returns the folder of the workspace root. It reuses the buffers of
// memory; if memory is nil, it allocates a new one.
func New(root *os.Root, memory *Memory) Folder {
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

// Identity converts st to a durable.Identity, the zero Identity if st has no times.
func Identity(st session.Stat) durable.Identity {
	if st.ModTime.IsZero() {
		return durable.Identity{}
	}
	return durable.Identity{Size: st.Size, ModTime: st.ModTime.UnixNano(), Changed: st.Changed, Inode: st.Inode}
}

// StatOf returns the Stat of the file of a session. If info is nil, it has only an ID.
func StatOf(id string, info fs.FileInfo) session.Stat {
	if info == nil {
		return session.Stat{ID: id}
	}
	is := durable.Identify(info)
	return session.Stat{ID: id, Size: is.Size, ModTime: time.Unix(0, is.ModTime), Changed: is.Changed, Inode: is.Inode}
}

// List returns every JSON file of the folder except the index and conflict copies,
// in no order, and the paths of temporary files. A file that cannot be examined has
// only an ID. Subfolders, in which other assistants keep their own files, are
// skipped. A workspace without the folder has no sessions.
func (f Folder) List() (list []session.Stat, temporary []string, err error) {
	dir, names, err := f.openDir(session.Dir)
	if err != nil || dir == nil {
		return nil, nil, err
	}
	defer dir.Close()
	names = withoutConflicts(names)
	list = make([]session.Stat, len(names))
	parallel.Do(len(names), func(i int) {
		if id, ok := strings.CutSuffix(names[i], ext); ok && id != sessionid.IndexStem {
			list[i] = f.lookAt(dir, id, session.FileName)
		}
	})
	for _, name := range names {
		if strings.HasSuffix(name, durable.TempSuffix) {
			temporary = append(temporary, session.Dir+"/"+name)
		}
	}
	return slices.DeleteFunc(list, func(st session.Stat) bool { return st == session.Stat{} }), temporary, nil
}

// openDir opens a folder of the workspace and returns the names in it. If the folder does
// not exist, dir is nil.
func (f Folder) openDir(name string) (dir *os.Root, names []string, err error) {
	if err := durable.CheckDir(f.root, name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	dir, err = f.root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	opened, err := dir.Open(".")
	if err == nil {
		defer opened.Close()
		names, err = opened.Readdirnames(-1)
	}
	if err != nil {
		dir.Close()
		return nil, nil, err
	}
	return dir, names, nil
}

// names returns the names of all files in the folder.
func (f Folder) names() ([]string, error) {
	dir, err := f.root.Open(session.Dir)
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
	entries, _ := durable.ReadDir(f.root, session.Dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) {
			list = append(list, session.Dir+"/"+e.Name())
		}
	}
	return list
}

// lookAt returns the Stat of the file of a session in the open folder dir, or the zero Stat
// if it is a folder. path returns the path of the file.
func (f Folder) lookAt(dir *os.Root, id string, path func(id string) string) session.Stat {
	info, err := dir.Lstat(id + ext)
	switch {
	case err == nil && info.IsDir():
		return session.Stat{}
	case err == nil && !info.Mode().IsRegular():
		info, err = f.root.Stat(path(id))
	}
	if err != nil {
		return session.Stat{ID: id}
	}
	return StatOf(id, info)
}

// Read reads the session id. The error is [session.ErrNotFound] if it does not exist and a
// *[session.DamageError] with its path if it is not a valid session.
func (f Folder) Read(id string) (*session.Session, error) {
	var data []byte // not pooled, since the session keeps it
	o, err := f.decode(id, &data)
	if err != nil {
		return nil, err
	}
	return o.Session(data), nil
}

// Look reads the session id into pooled memory. If wanted returns true for its
// bytes, Look validates the file and calls use, which must not keep the bytes.
// Errors are those of [Folder.Read] and of use. If wanted returns false, the file
// is not validated.
func (f Folder) Look(id string, wanted func(data []byte) bool, use func(*session.Session) error) error {
	in, err := f.open(id)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := in.checkSize(); err != nil {
		return err
	}
	buffer := f.memory.buffer()
	defer f.memory.buffers.Put(buffer)
	if err := readAll(in, in.size, buffer); err != nil || !wanted(*buffer) {
		return err
	}
	o, err := f.outlineOf(in.stat, *buffer)
	if err != nil {
		return err
	}
	return use(o.Session(*buffer))
}

// outlineOf returns the outline of the file st with the content data, from the
// cache if the cached outline has the same checksum.
func (f Folder) outlineOf(st session.Stat, data []byte) (*session.Outline, error) {
	if st.Size >= minCachedSize && !f.fresh {
		if o := f.recall(st); o != nil && o.Size() == len(data) && o.CRC32C == crc32c.Of(data) {
			return o, nil
		}
	}
	return decode(st.ID, data)
}

// decode decodes the outline of a session file.
func decode(id string, data []byte) (*session.Outline, error) {
	o := new(session.Outline)
	err := o.Decode(id, data)
	var damage *session.DamageError
	if errors.As(err, &damage) {
		damage.Path = session.FileName(id)
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// A source is the content of a session file, packed or not.
type source struct {
	io.ReadCloser
	stat session.Stat
	size int64    // of the content in bytes
	file *os.File // nil if it is packed
}

// ReaderAt returns the file, or nil if it is packed.
func (s *source) ReaderAt() io.ReaderAt {
	if s.file == nil {
		return nil
	}
	return s.file
}

// checkSize returns an error if a file is too large for a session.
func (s *source) checkSize() error {
	limit := session.MaxFile
	if s.size <= limit {
		return nil
	}
	return &session.DamageError{Path: session.FileName(s.stat.ID), Offset: int(limit), Problem: "larger than 4 GiB"}
}

// Outline returns the outline of the session id, from the cache if the file is
// unchanged. Errors are those of [Folder.Read].
func (f Folder) Outline(id string) (*session.Outline, error) {
	if st, err := f.Stat(id); err == nil && !f.fresh {
		if o := f.recall(st); o != nil {
			return o, nil
		}
	}
	buffer := f.memory.buffer()
	defer f.memory.buffers.Put(buffer)
	return f.decode(id, buffer)
}

// Open reads the session of an outline. The error is [session.ErrChanged] if the file has
// changed since the outline was made. An outline from [session.Decode] or [Folder.Read]
// holds its bytes, so no file is read.
func (f Folder) Open(o *session.Outline) (*session.Session, error) {
	if data := o.Bytes(); data != nil {
		return o.Session(data), nil
	}
	in, err := f.openPart(o.ID)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return o.Read(in)
}

// openPart opens the file of an outline. The error is [session.ErrChanged] if
// the file no longer exists.
func (f Folder) openPart(id string) (io.ReadCloser, error) {
	in, err := f.open(id)
	if errors.Is(err, session.ErrNotFound) {
		return nil, fmt.Errorf("%s %w", session.FileName(id), session.ErrChanged)
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// decode reads and validates the file of a session into *data.
func (f Folder) decode(id string, data *[]byte) (*session.Outline, error) {
	in, err := f.open(id)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if err := in.checkSize(); err != nil {
		return nil, err
	}
	if err := readAll(in, in.size, data); err != nil {
		return nil, err
	}
	o, err := decode(id, *data)
	if err != nil {
		return nil, err
	}
	if o.Stat = in.stat; in.file == nil {
		return o, nil
	}
	if now, err := in.file.Stat(); err != nil || StatOf(id, now) != o.Stat {
		o.Stat.Changed = -1 // the file changed during the read
	}
	return o, nil
}

// open opens the file of a session for reading.
func (f Folder) open(id string) (*source, error) {
	if !sessionid.Valid(id) {
		return nil, session.ErrNotFound
	}
	in, err := durable.OpenRegular(f.root, session.FileName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return f.openPacked(id)
	}
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
		return nil, err
	}
	return &source{in, StatOf(id, info), info.Size(), in}, nil
}

// Create stages a new session file in a batch and returns its outline. The error is
// [fs.ErrExist] if the id is in use and [session.ErrChanged] if the file of a part has
// changed since its outline was made. If watch is not nil, it is called with the number
// of bytes written so far, and its error aborts the write.
func (f Folder) Create(b *durable.Batch, d *session.Document, watch func(done, total int64) error) (*session.Outline, error) {
	if err := durable.MakeDir(f.root, session.Dir); err != nil {
		return nil, err
	}
	if d.MessageBytes() >= minShared {
		block := f.blockSize()
		if block > 0 && !slices.ContainsFunc(d.Parts(), func(o *session.Outline) bool { return f.IsPacked(o.ID) }) {
			aligned := *d
			aligned.Block = block
			d = &aligned
		}
	}
	return f.stage(d.ID, b.Create, func(w *durable.Writer) (*session.Outline, error) { return d.Write(w, f.openPart, watch) })
}

// Replace stages the edited file in a batch and returns its outline. The commit
// fails with [durable.ErrChanged] if the file has changed since e was made. Errors
// are those of [Folder.Create] and [Folder.Read].
func (f Folder) Replace(b *durable.Batch, e *session.Edit, watch func(done, total int64) error) (*session.Outline, error) {
	f.align(e)
	o, err := f.stage(e.Of().ID, b.Replace, func(w *durable.Writer) (*session.Outline, error) { return e.Write(w, f.openPart, watch) })
	if err == nil {
		b.Expect(Identity(e.Of().Stat))
	}
	return o, err
}

// minShared is the size in bytes from which a file shares blocks with the files that it is
// copied from, where the file system can.
const minShared = 64 << 10

// align makes an edit keep the blocks that its file shares.
func (f Folder) align(e *session.Edit) {
	if e.Of().Size() >= minShared {
		e.Align(f.blockSize())
	}
}

func (f Folder) stage(id string, put func(string, func(*durable.Writer) error) (fs.FileInfo, error), write func(*durable.Writer) (*session.Outline, error)) (o *session.Outline, err error) {
	info, err := put(session.FileName(id), func(w *durable.Writer) error {
		o, err = write(w)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.Stat = StatOf(id, info)
	return o, nil
}

// Stat returns the Stat of the file of a session, or of its recipe if it is packed.
func (f Folder) Stat(id string) (session.Stat, error) {
	info, err := f.root.Stat(session.FileName(id))
	if errors.Is(err, fs.ErrNotExist) && sessionid.Valid(id) {
		if recipe, missing := f.root.Stat(RecipeFile(id)); missing == nil {
			return StatOf(id, recipe), nil
		}
	}
	return StatOf(id, info), err
}

// Each calls each for every message of the session, in order. The bytes are valid
// only until each returns. The error is that of each, or [session.ErrChanged] if the file
// has changed since the outline was made; then the caller must discard the messages.
func (f Folder) Each(o *session.Outline, each func(i int, m session.Message) error) error {
	if data := o.Bytes(); data != nil {
		for i, m := range o.Session(data).Messages {
			if err := each(i, m); err != nil {
				return err
			}
		}
		return nil
	}
	in, err := f.openPart(o.ID)
	if err != nil {
		return err
	}
	defer in.Close()
	return o.Each(in, each)
}
