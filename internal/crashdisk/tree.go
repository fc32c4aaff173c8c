package crashdisk

import (
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Tree is the content of a folder by relative path: files, and nil for folders.
type Tree map[string]*File

// A File is the content of a file. It must not be modified.
type File struct {
	Data []byte
	Time time.Time // modification time, not of a link
	Link bool      // it is a symbolic link, and Data its target
	sum  *Sum      // of the bytes, nil until computed
}

// A Sum identifies a tree.
type Sum [sha256.Size]byte

// Sum returns the sum of the names, bytes and times of t.
func (t Tree) Sum() Sum {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(t)) {
		b = append(append(b, name...), 0)
		if f := t[name]; f != nil {
			if f.sum == nil {
				f.sum = new(Sum(sha256.Sum256(f.Data)))
			}
			b = append(b, f.sum[:]...)
			if f.Link {
				b = append(b, 'l')
			}
			b = binary.LittleEndian.AppendUint64(b, uint64(f.Time.UnixNano()))
		}
		b = append(b, 1)
	}
	return sha256.Sum256(b)
}

// Read returns the content of the folder dir without the paths for which skip
// returns true. Paths are slash-separated and relative to dir.
func Read(dir string, skip func(name string) bool) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch {
		case skip(name) && d.IsDir():
			return fs.SkipDir
		case skip(name):
			return nil
		case d.IsDir():
			t[name] = nil
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			t[name] = &File{Data: []byte(target), Link: true}
			return err
		}
		data, err := os.ReadFile(path)
		t[name] = &File{Data: data, Time: info.ModTime()}
		return err
	})
	return t, err
}

// Write creates t in the empty folder dir.
func (t Tree) Write(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		f := t[name]
		if f == nil {
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			continue
		}
		if f.Link {
			if err := os.Symlink(string(f.Data), path); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, f.Time, f.Time); err != nil {
			return err
		}
	}
	return nil
}
