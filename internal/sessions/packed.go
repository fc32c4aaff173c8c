package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// maxRecipe is the maximum size of a recipe in bytes. It may have the records of a session.
const maxRecipe = 1 << 30

// ListPacked returns the Stat of the recipe of every packed checkpoint, and the paths of
// temporary files beside them. A recipe that cannot be examined has only an ID. If hidden is
// false, recipes that a session file hides are skipped.
func (f Folder) ListPacked(hidden bool) (list []session.Stat, temporary []string, err error) {
	dir, names, err := f.openDir(PackedDir)
	if err != nil || dir == nil {
		return nil, nil, err
	}
	defer dir.Close()
	slices.Sort(names)
	var ids []string
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ext)
		switch {
		case strings.HasSuffix(name, durable.TempSuffix):
			temporary = append(temporary, PackedDir+"/"+name)
		case ok && sessionid.Valid(id):
			ids = append(ids, id)
		}
	}
	isHidden := func(string) bool { return false }
	if plain, err := f.root.OpenRoot(session.Dir); err == nil && !hidden {
		defer plain.Close()
		isHidden = func(id string) bool {
			_, err := plain.Lstat(id + ext)
			return err == nil
		}
	}
	list = make([]session.Stat, len(ids))
	parallel.Do(len(ids), func(i int) {
		if !isHidden(ids[i]) {
			list[i] = f.lookAt(dir, ids[i], RecipeFile)
		}
	})
	return slices.DeleteFunc(list, func(st session.Stat) bool { return st == session.Stat{} }), temporary, nil
}

// Recipe reads the recipe of a packed checkpoint, and the Stat of its file. The error is
// [session.ErrNotFound] if there is none, and a *[session.DamageError] with its path if it
// is not valid.
func (f Folder) Recipe(id string) (*Recipe, session.Stat, error) {
	if !sessionid.Valid(id) {
		return nil, session.Stat{}, session.ErrNotFound
	}
	in, err := durable.OpenRegular(f.root, RecipeFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.Stat{}, session.ErrNotFound
	}
	if err != nil {
		return nil, session.Stat{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, session.Stat{}, err
	}
	if info.Size() > maxRecipe {
		return nil, session.Stat{}, &session.DamageError{Path: RecipeFile(id), Problem: "larger than 1 GiB"}
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, session.Stat{}, err
	}
	r, err := DecodeRecipe(id, data)
	return r, StatOf(id, info), err
}

// plain returns a reader of the plain file of a packed checkpoint, which it decompresses.
// Its error is a *[session.DamageError] with the path of a pack if messages are missing.
func (f Folder) plain(r *Recipe) io.ReadCloser {
	in, out := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(out, 256<<10)
		err := f.writePlain(w, r)
		if err == nil {
			err = w.Flush()
		}
		out.CloseWithError(err)
	}()
	return in
}

// A limitedWriter writes at most a number of bytes. A recipe can name a pack any number of
// times, so its plain file has no other limit.
type limitedWriter struct {
	io.Writer
	left int64
	err  error // of a write beyond the limit
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.left -= int64(len(p)); w.left < 0 {
		return 0, w.err
	}
	return w.Writer.Write(p)
}

// writePlain writes the plain file of a packed checkpoint.
func (f Folder) writePlain(w io.Writer, r *Recipe) error {
	w = &limitedWriter{w, r.Bytes, &session.DamageError{Path: RecipeFile(r.outline.ID), Problem: "its plain file would be larger than it says"}}
	if _, err := w.Write(r.frame[:r.array]); err != nil {
		return err
	}
	var sum crc32c.Sum
	for _, run := range r.Runs {
		err := f.items(run, func(item []byte) error {
			sum.Add(item)
			if sum.N == len(item) {
				item = bytes.TrimPrefix(item, []byte(","))
			}
			_, err := w.Write(item)
			return err
		})
		if err != nil {
			return err
		}
	}
	if !r.Fits(sum) {
		return &session.DamageError{Path: RecipeFile(r.outline.ID), Problem: "its packs have other messages"}
	}
	if sum.N > 0 {
		if _, err := io.WriteString(w, afterMessages); err != nil {
			return err
		}
	}
	_, err := w.Write(r.frame[r.array:])
	return err
}

// Fits reports whether sum is that of the items of r, one after the other. The frames of
// packs have checksums of their own; this detects that a recipe and a pack do not belong
// together.
func (r *Recipe) Fits(sum crc32c.Sum) bool {
	return plainSize(len(r.frame), int64(sum.N)) == r.Bytes && hexSum(sum.CRC) == r.sum
}

func hexSum(sum uint32) string { return fmt.Sprintf("%08x", sum) }

// items calls each for the items of a run.
func (f Folder) items(run PackRun, each func(item []byte) error) error {
	p, err := pack.Open(f.root, PackFile(run.Line))
	if errors.Is(err, fs.ErrNotExist) {
		return &session.DamageError{Path: PackFile(run.Line), Problem: "the file does not exist"}
	}
	if err != nil {
		return damagedPack(run.Line, err)
	}
	defer p.Close()
	if run.To > p.Len() {
		return &session.DamageError{Path: PackFile(run.Line), Problem: fmt.Sprintf("it has %d messages, not %d", p.Len(), run.To)}
	}
	var stopped error
	err = p.Read(run.From, run.To, func(i int, item []byte) error {
		if string(item) == pack.Hole {
			stopped = &session.DamageError{Path: PackFile(run.Line), Problem: fmt.Sprintf("message %d is lost", i)}
		} else {
			stopped = each(item)
		}
		return stopped
	})
	if err == nil || err == stopped {
		return err
	}
	return damagedPack(run.Line, err)
}

// damagedPack converts the error of a damaged pack.
func damagedPack(line string, err error) error {
	var damage *pack.DamageError
	if errors.As(err, &damage) {
		return &session.DamageError{Path: PackFile(line), Offset: int(damage.Offset), Problem: damage.Problem}
	}
	return err
}

// IsPacked reports whether the session id is a packed checkpoint: it has a recipe, and no
// session file.
func (f Folder) IsPacked(id string) bool {
	if !sessionid.Valid(id) {
		return false
	}
	if _, err := f.root.Lstat(session.FileName(id)); err == nil {
		return false
	}
	_, err := f.root.Lstat(RecipeFile(id))
	return err == nil
}

// File returns the path of the file of a session: of its recipe, if it is packed.
func (f Folder) File(id string) string {
	if f.IsPacked(id) {
		return RecipeFile(id)
	}
	return session.FileName(id)
}

// openPacked opens a packed checkpoint.
func (f Folder) openPacked(id string) (*source, error) {
	r, st, err := f.Recipe(id)
	if err != nil {
		return nil, err
	}
	return &source{f.plain(r), st, r.Bytes, nil}, nil
}

// WritePlain stages the plain file of a packed checkpoint in a batch and returns its
// FileInfo.
func (f Folder) WritePlain(b *durable.Batch, r *Recipe) (fs.FileInfo, error) {
	if err := durable.MakeDir(f.root, session.Dir); err != nil {
		return nil, err
	}
	return b.Create(session.FileName(r.outline.ID), func(w *durable.Writer) error { return f.writePlain(w, r) })
}

// Plain returns the content of the plain file of the packed checkpoint whose recipe has
// the content data.
func (f Folder) Plain(id string, data []byte) ([]byte, error) {
	r, err := DecodeRecipe(id, data)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = f.writePlain(&b, r)
	return b.Bytes(), err
}

// Salvage returns the content of the plain file of the packed checkpoint whose recipe has
// the content data, without the messages that cannot be read, and the number of these.
func (f Folder) Salvage(id string, data []byte) (plain []byte, lost int, err error) {
	r, err := DecodeRecipe(id, data)
	if err != nil {
		return nil, 0, err
	}
	plain = append(plain, r.frame[:r.array]...)
	found, size := 0, int64(0) // of the items
	for _, run := range r.Runs {
		err := f.readable(run, func(_ int, item []byte) {
			if plainSize(len(r.frame), size+int64(len(item))) > r.Bytes {
				return // the pack has other, larger messages
			}
			size += int64(len(item))
			if found++; found == 1 {
				item = bytes.TrimPrefix(item, []byte(","))
			}
			plain = append(plain, item...)
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if found > 0 {
		plain = append(plain, afterMessages...)
	}
	return append(plain, r.frame[r.array:]...), r.Messages - found, nil
}

// readable calls each for the items of a run that can be read.
func (f Folder) readable(run PackRun, each func(i int, item []byte)) error {
	p, err := pack.Open(f.root, PackFile(run.Line))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close()
	for at := run.From; at < run.To; {
		err := p.Read(at, run.To, func(i int, item []byte) error {
			if at = i + 1; string(item) != pack.Hole {
				each(i, item)
			}
			return nil
		})
		var damage *pack.DamageError
		if !errors.As(err, &damage) {
			return err
		}
		at = max(at+1, min(damage.To, run.To))
	}
	return nil
}
