// Package unpack reads the files at given paths: a file itself, all files of a
// folder, and those in archives (zip, tar) and compressed files (gzip, zstd), one
// after the other. The format is detected from the first bytes, never from the
// name.
//
// The package never writes files, so a name in an archive cannot lead out of a
// folder; names are only displayed, without parts such as "..". Links in folders
// are not followed. An archive or compressed file inside another one is [ErrNested]
// and is not read. An archive with an excessive compression ratio or number of
// files ends with an error.
package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A File is a file that was found. Its In is valid until the callback returns.
type File struct {
	Path   string      // of the file, or of the archive and the file in it: export.zip/conversations.json
	Named  bool        // the path was an argument, and not found in a folder or archive
	Info   fs.FileInfo // nil for a file in an archive and for standard input
	Plain  bool        // Info describes the file itself, not an archive or a compressed file
	Within string      // slash-separated path relative to the folder argument; the file's name if there was none
	In     *bufio.Reader
}

// Options configure a walk.
type Options struct {
	Stdin io.Reader // the input for the path -

	// Head is the number of bytes that can be peeked at in [File.In].
	Head int

	// Holds reports whether to read a file of a folder, by its slash-separated
	// relative path. If nil, all files are read.
	Holds func(within string) bool

	// Found treats the paths as files that were found in a folder: they are not
	// named, and those that are gone are skipped.
	Found bool

	// Known reports whether to skip a file or an archive without opening it. If
	// nil, none is skipped.
	Known func(path string, info fs.FileInfo, named bool) bool

	// Limit is the maximum number of bytes to read of a file, or of an archive. Zero
	// means no limit.
	Limit int64

	// Progress, if not nil, is called with the number of bytes read and the total.
	// The total does not include standard input.
	Progress func(done, total int64)

	free int64 // if not 0, used instead of freely
}

// The limits of an archive's content.
const (
	maxRatio = 200      // maximum ratio of its uncompressed to its compressed size
	freely   = 64 << 20 // uncompressed size in bytes that is always allowed
	maxParts = 1 << 20
)

// errBomb is the error for an archive with too much content.
var errBomb = errors.New("unpacks to too much")

// ErrNested is the error for an archive or a compressed file inside another one.
var ErrNested = errors.New("an archive inside an archive; extract it first")

// A found is a path with a file, before it is opened.
type found struct {
	path, within string
	named        bool
	size         int64
	info         fs.FileInfo // nil for standard input
}

// Walk calls f with each file at paths, in the order of the paths and by name in a
// folder. If a file cannot be opened, Walk calls failed with its path and
// continues; read errors after that are returned by the file's In. An error of f or
// ctx ends the walk.
func Walk(ctx context.Context, paths []string, o Options, f func(File) error, failed func(path string, err error)) error {
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	w := &walker{ctx: ctx, Options: o, f: f, failed: failed}
	files := w.find(paths)
	for _, file := range files {
		w.total += file.size
	}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.file(file); err != nil {
			return err
		}
		w.done += file.size
		o.Progress(w.done, w.total)
	}
	return nil
}

type walker struct {
	ctx context.Context
	Options
	f           func(File) error
	failed      func(string, error)
	done, total int64

	outer, inner, part *bufio.Reader // of a file, of its uncompressed content, of a file in an archive
}

// buffered returns *r, allocated if necessary, reading from in.
func (w *walker) buffered(r **bufio.Reader, in io.Reader) *bufio.Reader {
	if *r == nil {
		*r = bufio.NewReaderSize(nil, max(w.Head, 4096))
	}
	(*r).Reset(in)
	return *r
}

// find lists the files.
func (w *walker) find(paths []string) (list []found) {
	for _, path := range paths {
		if path == "-" {
			list = append(list, found{path: "-", within: "-", named: true})
			continue
		}
		info, err := os.Stat(path)
		if w.Found && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			w.failed(path, err)
			continue
		}
		if !info.IsDir() {
			list = append(list, found{path, filepath.Base(path), !w.Found, info.Size(), info})
			continue
		}
		root := strings.TrimRight(path, string(filepath.Separator)) + string(filepath.Separator) // follows paths if it is a link
		err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			if err != nil {
				w.failed(at, err)
				return nil
			}
			if w.ctx.Err() != nil {
				return w.ctx.Err()
			}
			within, err := filepath.Rel(path, at)
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			within = filepath.ToSlash(within)
			if w.Holds != nil && !w.Holds(within) {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				w.failed(at, err)
				return nil
			}
			list = append(list, found{at, within, false, info.Size(), info})
			return nil
		})
		if err != nil && w.ctx.Err() == nil {
			w.failed(path, err)
		}
	}
	return list
}

// file opens a file and passes on its content.
func (w *walker) file(file found) error {
	in := w.Stdin
	var opened *os.File
	if file.info != nil && w.Known != nil && w.Known(file.path, file.info, file.named) {
		return nil
	}
	if file.path != "-" {
		var err error
		if opened, err = os.Open(file.path); err != nil {
			if !w.Found || !errors.Is(err, fs.ErrNotExist) {
				w.failed(file.path, err)
			}
			return nil
		}
		defer opened.Close()
		info, err := opened.Stat()
		if err != nil || !info.Mode().IsRegular() && !file.named {
			w.failed(file.path, errors.New("not a regular file"))
			return nil
		}
		file.info = info // at least this state is read
		in = opened
	}
	if w.Limit > 0 {
		in = io.LimitReader(in, w.Limit)
	}
	counted := &counting{in: in, w: w}
	r := w.buffered(&w.outer, counted)
	return w.settle(file.path, w.open(file, r, opened, counted))
}

// settle returns an error that ends the walk, and reports any other one.
func (w *walker) settle(path string, err error) error {
	var stop *stopError
	switch {
	case err == nil:
		return nil
	case w.ctx.Err() != nil:
		return w.ctx.Err()
	case errors.As(err, &stop):
		return stop.error
	}
	w.failed(path, err)
	return nil
}

// A stopError is an error of f that ends the walk.
type stopError struct{ error }

// give passes a file to f.
func (w *walker) give(file File) error {
	if err := w.f(file); err != nil {
		return &stopError{err}
	}
	return nil
}

// open detects the format of a file from its first bytes and passes on its content.
func (w *walker) open(file found, r *bufio.Reader, opened *os.File, counted *counting) error {
	head, _ := r.Peek(tarMagicAt + len(tarMagic))
	single := File{Path: file.path, Named: file.named, Info: file.info, Within: file.within, In: r}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return w.zip(file, r, opened)
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		un, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		defer un.Close()
		return w.unpacked(file, un, counted)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		un, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return err
		}
		defer un.Close()
		return w.unpacked(file, un, counted)
	case isTar(head):
		return w.tar(file, r, &limited{limit: w.limitOf(file.size)})
	}
	single.Plain = file.info != nil
	return w.give(single)
}

// unpacked passes on uncompressed content: a tar archive, or a single file.
func (w *walker) unpacked(file found, un io.Reader, counted *counting) error {
	limit := &limited{in: un, ratioOf: counted}
	r := w.buffered(&w.inner, limit)
	head, _ := r.Peek(tarMagicAt + len(tarMagic))
	if isTar(head) {
		return w.tar(file, r, limit)
	}
	if isPacked(head) {
		return ErrNested
	}
	return w.give(File{Path: file.path, Named: file.named, Info: file.info, Within: file.within, In: r})
}

// isPacked reports whether a file that begins with head is an archive or
// compressed.
func isPacked(head []byte) bool {
	for _, magic := range []string{"PK\x03\x04", "PK\x05\x06", "\x1f\x8b", "\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ\x00", "7z\xbc\xaf\x27\x1c"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return isTar(head)
}

const (
	tarMagic   = "ustar"
	tarMagicAt = 257
)

func isTar(head []byte) bool {
	return len(head) >= tarMagicAt+len(tarMagic) && string(head[tarMagicAt:tarMagicAt+len(tarMagic)]) == tarMagic
}

func (w *walker) tar(file found, r io.Reader, limit *limited) error {
	archive := tar.NewReader(r)
	for parts := 0; ; parts++ {
		h, err := archive.Next()
		switch {
		case err == io.EOF:
			return nil
		case limit.err != nil:
			return limit.err
		case errors.Is(err, tar.ErrInsecurePath):
		case err != nil:
			return err
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if parts > maxParts {
			return fmt.Errorf("it %w: more than %d files", errBomb, maxParts)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if err := w.partOf(file, h.Name, archive); err != nil {
			return err
		}
	}
}

func (w *walker) zip(file found, r *bufio.Reader, opened *os.File) error {
	if opened == nil || !seekable(opened) {
		spooled, err := os.CreateTemp("", "bough-")
		if err != nil {
			return err
		}
		defer os.Remove(spooled.Name())
		defer spooled.Close()
		if file.size, err = io.Copy(spooled, r); err != nil {
			return err
		}
		opened = spooled
	}
	archive, err := zip.NewReader(opened, file.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	if len(archive.File) > maxParts {
		return fmt.Errorf("it %w: more than %d files", errBomb, maxParts)
	}
	limit := &limited{limit: w.limitOf(file.size)}
	for _, part := range archive.File {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if !part.Mode().IsRegular() {
			continue
		}
		in, err := part.Open()
		if err != nil {
			w.failed(join(file.path, part.Name), err)
			continue
		}
		limit.in = in
		err = w.partOf(file, part.Name, limit)
		in.Close()
		if err != nil {
			return err
		}
		if limit.err != nil {
			return limit.err
		}
	}
	return nil
}

// partOf passes on one file of an archive.
func (w *walker) partOf(file found, name string, in io.Reader) error {
	name = inside(name)
	r := w.buffered(&w.part, in)
	if head, _ := r.Peek(tarMagicAt + len(tarMagic)); isPacked(head) {
		w.failed(join(file.path, name), ErrNested)
		return nil
	}
	return w.give(File{Path: join(file.path, name), Within: name, In: r})
}

// inside returns the slash-separated path of a file in an archive without parts
// that lead out of it, such as a root, a drive, or "..".
func inside(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case r < ' ' || r == 0x7f:
			return '?'
		}
		return r
	}, name)
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// join returns the display name of a file in an archive.
func join(archive, name string) string { return archive + "/" + inside(name) }

func seekable(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// limitOf returns the maximum uncompressed size of size bytes.
func (o *Options) limitOf(size int64) int64 { return max(cmp.Or(o.free, freely), size*maxRatio) }

// counting counts the bytes that are read.
type counting struct {
	in   io.Reader
	w    *walker
	read int64
}

func (c *counting) Read(p []byte) (int, error) {
	if err := c.w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(p)
	c.read += int64(n)
	c.w.Progress(c.w.done+c.read, max(c.w.total, c.w.done+c.read))
	return n, err
}

// limited limits uncompressed content: to limit bytes or, if that is zero, to a
// ratio of the bytes read by ratioOf.
type limited struct {
	in      io.Reader
	limit   int64
	ratioOf *counting
	read    int64
	err     error
}

func (l *limited) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.in.Read(p)
	l.read += int64(n)
	limit := l.limit
	if l.ratioOf != nil {
		limit = l.ratioOf.w.limitOf(l.ratioOf.read)
	}
	if l.read > limit {
		l.err = fmt.Errorf("it %w: more than %d times its size", errBomb, maxRatio)
		return 0, l.err
	}
	return n, err
}
