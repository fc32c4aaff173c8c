// Package gitindex reads the paths that the index of a git repository tracks, in versions 2
// to 4, also if it is split into two files. It never writes.
//
// The index is that of gitformat-index(5): a header, entries in the order of their paths,
// extensions, and a checksum of all bytes before it, which takes longer to compute than the
// rest and is not checked, as git does not either. An extension
// whose name begins with a small letter must be understood; link (the index is split) and
// sdir (an entry can be a whole directory outside of a sparse checkout) are. Such a
// directory is not among the paths, because none of its files is expected on the disk.
// Entries of a merge conflict are, once for each path.
package gitindex

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxPath is the maximum length of a path in bytes. In version 4 an entry of a few bytes can
// have a path of any length.
const maxPath = 4096

// A Format is the hash function of a repository.
type Format int

const (
	SHA1 Format = iota
	SHA256
)

// size returns the size of a hash in bytes.
func (f Format) size() int {
	if f == SHA256 {
		return 32
	}
	return 20
}

// Parse returns the paths in an index. If it is split, shared is called with the name of the
// other file, which is in the same directory, and returns what the file holds. The error
// names the offset of the damage.
func Parse(data []byte, format Format, shared func(name string) ([]byte, error)) (Paths, error) {
	x, err := parse(data, format)
	if err != nil {
		return Paths{}, err
	}
	paths := x.paths
	if x.base != "" {
		name := "sharedindex." + x.base
		data, err := shared(name)
		if err != nil {
			return Paths{}, err
		}
		base, err := parse(data, format)
		if err != nil {
			return Paths{}, fmt.Errorf("%s: %w", name, err)
		}
		if base.base != "" {
			return Paths{}, fmt.Errorf("%s: is split itself", name)
		}
		if paths, err = x.join(base); err != nil {
			return Paths{}, err
		}
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/") }) // outside of a sparse checkout
	if !slices.IsSorted(paths) {                                                               // those of a split index
		slices.Sort(paths)
	}
	return Paths{list: slices.Compact(paths)}, nil
}

// A file is one of the files of an index.
type file struct {
	paths []string

	// base is the hash of the file that has the other entries, "" if there is none. Deleted
	// are the positions of its entries that are gone. As many entries of this file as it has
	// replaced ones come first and have no path.
	base              string
	deleted, replaced bitmap
}

// join returns the paths of a split index.
func (x *file) join(base *file) ([]string, error) {
	replaced := x.replaced.count()
	if replaced > len(x.paths) {
		return nil, fmt.Errorf("%d entries are replaced, and %d are there", replaced, len(x.paths))
	}
	for _, p := range x.paths[:replaced] {
		if p != "" {
			return nil, fmt.Errorf("the replaced entry %q has a path", p)
		}
	}
	var paths []string
	for i, p := range base.paths {
		if !x.deleted.has(i) {
			paths = append(paths, p)
		}
	}
	for _, p := range x.paths[replaced:] {
		if p == "" {
			return nil, errors.New("an entry has no path")
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// A reader reads the bytes of an index.
type reader struct {
	data []byte
	at   int
	size int // of a hash
}

var errShort = errors.New("the file ends within an entry")

// take returns the next n bytes.
func (r *reader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.data)-r.at {
		return nil, errShort
	}
	r.at += n
	return r.data[r.at-n : r.at], nil
}

// parse parses one file.
func parse(data []byte, format Format) (*file, error) {
	end := len(data) - format.size()
	if end < 12 {
		return nil, fmt.Errorf("offset %d: the file ends within the header", len(data))
	}
	r := &reader{data: data[:end], size: format.size()}
	x := new(file)
	if err := r.file(x); err != nil {
		return nil, fmt.Errorf("offset %d: %w", r.at, err)
	}
	if x.base == "" && slices.Contains(x.paths, "") {
		return nil, errors.New("an entry has no path")
	}
	return x, nil
}

func (r *reader) file(x *file) error {
	header, err := r.take(12)
	if err != nil {
		return err
	}
	if string(header[:4]) != "DIRC" {
		return errors.New("not an index")
	}
	version := binary.BigEndian.Uint32(header[4:])
	if version < 2 || version > 4 {
		return fmt.Errorf("index version %d is not supported", version)
	}
	var text []byte // all paths, one after the other
	var ends []int
	begin := 0 // of the previous path
	for range binary.BigEndian.Uint32(header[8:]) {
		end := len(text)
		if text, err = r.entry(version, text, begin); err != nil {
			return err
		}
		begin, ends = end, append(ends, len(text))
	}
	x.paths = make([]string, len(ends))
	all, begin := string(text), 0
	for i, end := range ends {
		x.paths[i], begin = all[begin:end], end
	}
	for r.at < len(r.data) {
		if err := r.extension(x); err != nil {
			return err
		}
	}
	return nil
}

// entry reads an entry and appends its path to text, where the path of the one before it
// begins at previous.
func (r *reader) entry(version uint32, text []byte, previous int) ([]byte, error) {
	begin, old := r.at, len(text)
	if _, err := r.take(40 + r.size); err != nil { // what git knows about the file, and its hash
		return nil, err
	}
	flags, err := r.take(2)
	if err != nil {
		return nil, err
	}
	if extended := flags[0]&0x40 != 0; extended {
		if version < 3 {
			return nil, errors.New("extended flags in version 2")
		}
		if _, err := r.take(2); err != nil {
			return nil, err
		}
	}
	if version == 4 {
		drop, err := r.varint()
		if err != nil {
			return nil, err
		}
		if drop > old-previous {
			return nil, fmt.Errorf("a path lacks %d bytes of one with %d", drop, old-previous)
		}
		text = append(text, text[previous:old-drop]...)
	}
	n := bytes.IndexByte(r.data[r.at:], 0)
	if n < 0 {
		return nil, errShort
	}
	rest, err := r.take(n)
	if err != nil {
		return nil, err
	}
	if text = append(text, rest...); len(text)-old > maxPath {
		return nil, fmt.Errorf("a path has more than %d bytes", maxPath)
	}
	padding := 1
	if version < 4 {
		padding = 8 - (r.at-begin)%8
	}
	_, err = r.take(padding)
	return text, err
}

// varint reads a number of the form that git has in version 4.
func (r *reader) varint() (int, error) {
	n := 0
	for i := 0; ; i++ {
		b, err := r.take(1)
		if err != nil {
			return 0, err
		}
		n = n<<7 | int(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			return n, nil
		}
		if n++; i == 3 {
			return 0, errors.New("the number is too large")
		}
	}
}

// extension reads an extension.
func (r *reader) extension(x *file) error {
	header, err := r.take(8)
	if err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(header[4:])
	if uint64(size) > uint64(len(r.data)-r.at) {
		return errShort
	}
	body, err := r.take(int(size))
	if err != nil {
		return err
	}
	switch name := string(header[:4]); {
	case name == "link":
		return x.link(&reader{data: body, size: r.size})
	case name != "sdir" && 'a' <= name[0] && name[0] <= 'z':
		return fmt.Errorf("the extension %q is not supported", name)
	}
	return nil
}

// link reads the extension of a split index.
func (x *file) link(r *reader) error {
	sum, err := r.take(r.size)
	if err != nil {
		return err
	}
	if !bytes.Equal(sum, make([]byte, r.size)) {
		x.base = hex.EncodeToString(sum)
	}
	if r.at == len(r.data) {
		return nil
	}
	if x.deleted, err = r.bitmap(); err != nil {
		return err
	}
	x.replaced, err = r.bitmap()
	return err
}
