package isolate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/otiai10/copy"
)

// A copier copies files up to the limits of a source.
type copier struct {
	s        *Source
	from, to string
	files    int
	bytes    int64
	left     []string
}

func (s *Source) copier(from, to string) *copier { return &copier{s: s, from: from, to: to} }

// all copies everything into the folder, which must exist, and returns the skipped
// files.
func (c *copier) all(ctx context.Context) ([]string, error) {
	err := copy.Copy(c.from, c.to, c.options(ctx))
	return c.left, err
}

// one copies a file, a link or a folder with its content, replacing the target. A
// source that no longer exists is not an error.
func (c *copier) one(ctx context.Context, name string) error {
	from, to := filepath.Join(c.from, name), filepath.Join(c.to, name)
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	// The target must not be reached through a link that leads out of the folder.
	root, err := os.OpenRoot(c.to)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	o := c.options(ctx)
	if skip, err := o.Skip(info, from, to); skip || err != nil {
		return err
	}
	return copy.Copy(from, to, o)
}

func (c *copier) options(ctx context.Context) copy.Options {
	files, bytes := c.s.MaxFiles, c.s.MaxBytes
	if files <= 0 {
		files = maxFiles
	}
	if bytes <= 0 {
		bytes = maxBytes
	}
	return copy.Options{
		OnSymlink:     func(string) copy.SymlinkAction { return copy.Shallow },
		PreserveTimes: true,
		Skip: func(info fs.FileInfo, from, to string) (bool, error) {
			if ctx.Err() != nil {
				return false, context.Cause(ctx)
			}
			why, err := c.skipReason(info, from)
			if why != "" || err != nil {
				if why != internal {
					rel, _ := filepath.Rel(c.from, from)
					c.left = append(c.left, filepath.ToSlash(rel)+": "+why)
				}
				return true, err
			}
			if info.Mode().IsRegular() && isObject(c.from, from) {
				return os.Link(from, to) == nil, nil // where it cannot be linked, it is copied
			}
			if c.files++; c.files > files {
				return false, &LimitError{Dir: c.from, Files: files}
			}
			if info.Mode().IsRegular() {
				c.bytes += info.Size()
			}
			if c.bytes > bytes {
				return false, &LimitError{Dir: c.from, Bytes: bytes}
			}
			return false, nil
		},
	}
}

// isObject reports whether the path is that of an object, or a pack of them, of a repository
// in the folder dir. git never changes these files.
func isObject(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	_, name, ok := strings.Cut("/"+filepath.ToSlash(rel), "/.git/objects/")
	return err == nil && ok && !strings.HasPrefix(name, "info/") && !strings.Contains(name, "tmp_")
}

// internal is the reason for skipping a file that is not reported.
const internal = "internal to git"

// skipReason returns why a file is skipped, or "".
func (c *copier) skipReason(info fs.FileInfo, path string) (why string, err error) {
	mode := info.Mode()
	switch {
	case mode&fs.ModeSocket != 0:
		return "a socket", nil
	case mode&fs.ModeDevice != 0:
		return "a device", nil
	case mode&fs.ModeIrregular != 0:
		return "not a regular file", nil
	case info.Name() == ".git" && mode&fs.ModeSymlink != 0:
		to, err := filepath.EvalSymlinks(path)
		if err == nil && inside(to, c.from) {
			return "", nil
		}
		return leadsOut, nil
	case info.Name() == ".git" && mode.IsRegular():
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if ok && (filepath.IsAbs(to) || !inside(filepath.Join(filepath.Dir(path), to), c.from)) {
			return leadsOut, nil
		}
	case filepath.Base(filepath.Dir(path)) == ".git" && (info.Name() == "worktrees" || strings.HasSuffix(info.Name(), ".lock")):
		return internal, nil
	}
	return "", nil
}

const leadsOut = "it leads to a repository elsewhere"
