// Package filetree describes what a folder held at a moment: a tree object for each
// directory. It is pure: objects are read by functions of the caller.
//
// # The object
//
// A tree is a sequence of entries, one for each name in the directory, sorted by the bytes
// of the names. An entry is
//
//	TYPE PERM SIZE ID NAME
//
// with one space between the fields, and ends in a NUL byte, because a name may have line
// breaks. So 'tr "\0" "\n"' prints a tree.
//
//	TYPE  f for a file, l for a symbolic link, d for a directory
//	PERM  the permission bits, octal, at most 777; 0 for a link
//	SIZE  size of the object in bytes
//	ID    SHA-256 of the object, 64 lower-case hexadecimal digits
//	NAME  the raw bytes of the name: not empty, "." or "..", without "/" and NUL
//
// Numbers have no leading zeros. The object of a file is its content, that of a link its
// target, and that of a directory its tree. An empty directory has the empty tree.
//
// So equal directories have equal objects, and each directory has exactly one: [Decode]
// accepts only what [Tree.Encode] returns.
package filetree

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/pack"
)

// A Type is the type of an [Entry]. The zero Type means that there is no entry.
type Type byte

const (
	File Type = 'f'
	Link Type = 'l' // a symbolic link
	Dir  Type = 'd'
)

// An Entry is what a directory has under a name.
type Entry struct {
	Name string // raw bytes
	Type Type
	Perm fs.FileMode // permission bits, 0 for a link
	Size int64       // of the object in bytes
	ID   pack.ID     // of the object: the content, the target of the link, or the tree
}

// A Tree is the content of a directory, sorted by name.
type Tree []Entry

// maxPerm is the largest value of the permission bits.
const maxPerm = 0o777

// Encode returns the object of t, whose entries must be valid and sorted.
func (t Tree) Encode() []byte {
	size := 0
	for i := range t {
		size += len(t[i].Name) + 2*len(pack.ID{}) + 2*len(" ") + len("f 644 ") + 12
	}
	out := make([]byte, 0, size)
	for i := range t {
		e := &t[i]
		out = append(out, byte(e.Type), ' ')
		out = strconv.AppendUint(out, uint64(e.Perm), 8)
		out = append(out, ' ')
		out = strconv.AppendInt(out, e.Size, 10)
		out = append(out, ' ')
		out = hex.AppendEncode(out, e.ID[:])
		out = append(out, ' ')
		out = append(out, e.Name...)
		out = append(out, 0)
	}
	return out
}

// Find returns the entry with a name, and whether there is one.
func (t Tree) Find(name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(t, name, func(e Entry, name string) int { return cmp.Compare(e.Name, name) })
	if !ok {
		return Entry{}, false
	}
	return t[i], true
}

// A SyntaxError reports that an object is not a tree.
type SyntaxError struct {
	Offset  int // of the wrong entry
	Problem string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("offset %d: %s", e.Offset, e.Problem) }

// Decode decodes a tree. If data is not the object of any tree, the error is a
// *[SyntaxError].
func Decode(data []byte) (Tree, error) {
	t := make(Tree, 0, bytes.Count(data, []byte{0}))
	for rest := string(data); rest != ""; {
		offset := len(data) - len(rest)
		line, after, ok := strings.Cut(rest, "\x00")
		if !ok {
			return nil, &SyntaxError{offset, "incomplete entry"}
		}
		e, problem := parse(line)
		if problem == "" && len(t) > 0 && t[len(t)-1].Name >= e.Name {
			problem = "names are not sorted"
		}
		if problem != "" {
			return nil, &SyntaxError{offset, problem}
		}
		t, rest = append(t, e), after
	}
	return t, nil
}

func parse(line string) (e Entry, problem string) {
	fields := strings.SplitN(line, " ", 5)
	if len(fields) < 5 {
		return e, "too few fields"
	}
	perm, okPerm := number(fields[1], 8, maxPerm)
	size, okSize := number(fields[2], 10, math.MaxInt64)
	n, err := hex.Decode(e.ID[:], []byte(fields[3][:min(len(fields[3]), 2*len(e.ID))]))
	e.Perm, e.Size, e.Name = fs.FileMode(perm), size, fields[4]
	switch fields[0] {
	case "f", "l", "d":
		e.Type = Type(fields[0][0])
	default:
		return e, "unknown type"
	}
	switch {
	case !okPerm || e.Type == Link && perm != 0:
		return e, "invalid permission bits"
	case !okSize:
		return e, "invalid size"
	case err != nil || n != len(e.ID) || len(fields[3]) != 2*n || strings.ToLower(fields[3]) != fields[3]:
		return e, "invalid ID"
	case !ValidName(e.Name):
		return e, "invalid name"
	}
	return e, ""
}

// number parses a number as Encode writes it.
func number(text string, base int, limit int64) (int64, bool) {
	n, err := strconv.ParseInt(text, base, 64)
	return n, err == nil && n >= 0 && n <= limit && strconv.FormatInt(n, base) == text
}

// ValidName reports whether an entry may have this name.
func ValidName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}
