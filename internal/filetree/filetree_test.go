package filetree_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

const (
	emptyID = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	dirLine = "d 755 0 " + emptyID + " "
)

// TestEncode: a tree is the text that the package describes.
func TestEncode(t *testing.T) {
	hello := pack.IDOf([]byte("hello\n"))
	tree := filetree.Tree{
		{Name: "a\nb", Type: filetree.File, Perm: 0o644, Size: 6, ID: hello},
		{Name: "empty", Type: filetree.Dir, Perm: 0o755, ID: pack.IDOf(nil)},
		{Name: "link \xff", Type: filetree.Link, Size: 5, ID: pack.IDOf([]byte("a\nb/c"))},
	}
	want := fmt.Sprintf("f 644 6 %v a\nb\x00d 755 0 %s empty\x00l 0 5 %v link \xff\x00", hello, emptyID, pack.IDOf([]byte("a\nb/c")))
	if got := tree.Encode(); string(got) != want {
		t.Errorf("Encode:\n%q, want\n%q", got, want)
	}
	if got, err := filetree.Decode([]byte(want)); err != nil || !slices.Equal(got, tree) {
		t.Errorf("Decode: %v, %v", got, err)
	}
	for _, e := range tree {
		if got, ok := tree.Find(e.Name); !ok || got != e {
			t.Errorf("Find(%q) = %v, %v", e.Name, got, ok)
		}
	}
	if _, ok := tree.Find("b"); ok {
		t.Error("Find finds a name that is not there")
	}
}

// TestDecodeRefuses: only the one encoding of a valid tree is accepted.
func TestDecodeRefuses(t *testing.T) {
	file := "f 644 0 " + emptyID + " "
	for _, text := range []string{
		"x", "\x00", file + "a", file + "\x00", file + ".\x00", file + "..\x00", file + "a/b\x00",
		file + "b\x00" + file + "a\x00", file + "a\x00" + dirLine + "a\x00",
		"x 644 0 " + emptyID + " a\x00", "f 0644 0 " + emptyID + " a\x00", "f 1000 0 " + emptyID + " a\x00", "f 648 0 " + emptyID + " a\x00",
		"f -1 0 " + emptyID + " a\x00", "f 644 00 " + emptyID + " a\x00", "f 644 -1 " + emptyID + " a\x00", "f 644 +1 " + emptyID + " a\x00",
		"f 644 9223372036854775808 " + emptyID + " a\x00", "f 644 0 " + emptyID[1:] + " a\x00", "f 644 0 " + strings.ToUpper(emptyID) + " a\x00",
		"f 644 0 " + emptyID + "0 a\x00", "l 644 0 " + emptyID + " a\x00", "f  644 0 " + emptyID + " a\x00",
	} {
		tree, err := filetree.Decode([]byte(text))
		if _, ok := errors.AsType[*filetree.SyntaxError](err); !ok {
			t.Errorf("Decode(%q) = %v, %v", text, tree, err)
		}
	}
}

// FuzzDecode: a tree that is accepted is encoded as it was; it is sorted, and its names are
// unique and valid.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(dirLine + "a\x00" + "f 600 12 " + emptyID + " b c\x00l 0 1 " + emptyID + " \xff\x00"))
	f.Add([]byte(dirLine + "..\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := filetree.Decode(data)
		if err != nil {
			return
		}
		if got := tree.Encode(); !bytes.Equal(got, data) {
			t.Fatalf("encoded again:\n%q, want\n%q", got, data)
		}
		last := ""
		for _, e := range tree {
			if e.Name <= last || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") || e.Size < 0 || e.Perm > 0o777 {
				t.Fatalf("accepted %+v after %q", e, last)
			}
			last = e.Name
		}
	})
}

// A store has the objects of a test.
type store struct {
	objects map[pack.ID][]byte
	reads   map[pack.ID]int
}

func newStore() *store { return &store{map[pack.ID][]byte{}, map[pack.ID]int{}} }

func (s *store) read(id pack.ID) ([]byte, error) {
	s.reads[id]++
	data, ok := s.objects[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

// A node is what a path has: a directory if Type is Dir, and content otherwise.
type node struct {
	typ     filetree.Type
	perm    fs.FileMode
	content string
}

// put stores the tree of everything in dir, at any depth.
func (s *store) put(folder map[string]node, dir string) (id pack.ID, size int64) {
	var t filetree.Tree
	for name, n := range folder {
		if path.Dir(name) != dir {
			continue
		}
		e := filetree.Entry{Name: path.Base(name), Type: n.typ, Perm: n.perm}
		if n.typ == filetree.Dir {
			e.ID, e.Size = s.put(folder, name)
		} else {
			e.ID, e.Size = pack.IDOf([]byte(n.content)), int64(len(n.content))
		}
		t = append(t, e)
	}
	slices.SortFunc(t, func(a, b filetree.Entry) int { return strings.Compare(a.Name, b.Name) })
	data := t.Encode()
	id = pack.IDOf(data)
	s.objects[id] = data
	return id, int64(len(data))
}

// random changes a folder at random.
func random(r *rand.Rand, folder map[string]node) map[string]node {
	folder = maps.Clone(folder)
	for range r.IntN(8) {
		name := path.Join(strings.Split("abcabc"[r.IntN(3):], "")[:1+r.IntN(3)]...)
		for p := range folder {
			if p == name || strings.HasPrefix(p, name+"/") {
				delete(folder, p)
			}
		}
		if r.IntN(3) == 0 {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if folder[dir].typ != filetree.Dir {
				folder[dir] = node{filetree.Dir, 0o755, ""}
			}
		}
		types := []filetree.Type{filetree.File, filetree.Link, filetree.Dir}
		n := node{types[r.IntN(3)], []fs.FileMode{0o644, 0o755}[r.IntN(2)], string(rune('x' + r.IntN(3)))}
		switch n.typ {
		case filetree.Link:
			n.perm = 0
		case filetree.Dir:
			n.content = ""
		}
		folder[name] = n
	}
	return folder
}

// FuzzDiff: the changes of a Diff, made in its order, make one tree of the other; only
// differing paths are among them, and only differing trees are read.
func FuzzDiff(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		a := random(r, map[string]node{})
		for range 5 {
			a = random(r, a)
		}
		b := random(r, a)
		s := newStore()
		from, _ := s.put(a, ".")
		to, _ := s.put(b, ".")
		got := maps.Clone(a)
		last := ""
		for c, err := range filetree.Diff(s.read, from, to) {
			if err != nil {
				t.Fatal(err)
			}
			if slices.Compare(strings.Split(c.Path, "/"), strings.Split(last, "/")) <= 0 && last != "" {
				t.Fatalf("%s comes after %s", c.Path, last)
			}
			last = c.Path
			before, after := a[c.Path], b[c.Path]
			want := filetree.Changed
			switch {
			case before == after:
				t.Fatalf("%s did not change", c.Path)
			case before.typ == 0:
				want = filetree.Added
			case after.typ == 0:
				want = filetree.Deleted
			case before.typ != after.typ:
				want = filetree.Retyped
			case before.content == after.content:
				want = filetree.Mode
			}
			if c.Kind != want || c.From.Type != before.typ || c.To.Type != after.typ || c.To.Perm != after.perm {
				t.Fatalf("%+v, want %s from %v to %v", c, want, before, after)
			}
			if delete(got, c.Path); c.To.Type != 0 {
				got[c.Path] = after
			}
		}
		if !maps.Equal(got, b) {
			t.Fatalf("after the changes\n%v, want\n%v", got, b)
		}
		differing := map[pack.ID]bool{from: true, to: true}
		for name := range a {
			here, _ := s.put(a, name)
			there, _ := s.put(b, name)
			if a[name].typ != filetree.Dir || b[name].typ != filetree.Dir || here != there {
				differing[here], differing[there] = true, true
			}
		}
		for name := range b {
			if a[name].typ != filetree.Dir {
				id, _ := s.put(b, name)
				differing[id] = true
			}
		}
		for id := range s.reads {
			if !differing[id] {
				t.Fatalf("the tree %v was read, and is the same", id)
			}
		}
	})
}

// TestAt: each path of a tree is found, and no other.
func TestAt(t *testing.T) {
	s := newStore()
	root, _ := s.put(map[string]node{
		"a": {filetree.Dir, 0o755, ""}, "a/b": {filetree.Dir, 0o700, ""}, "a/b/c": {filetree.File, 0o644, "c"}, "l": {filetree.Link, 0, "a"},
	}, ".")
	for name, want := range map[string]filetree.Type{".": filetree.Dir, "a": filetree.Dir, "a/b/c": filetree.File, "l": filetree.Link, "l/b": 0, "a/c": 0, "a/b/c/d": 0, "": 0} {
		e, err := filetree.At(s.read, root, name)
		if e.Type != want || (want == 0) != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("At(%q) = %v, %v", name, e, err)
		}
	}
}

// TestDiffEnds: a Diff ends with the error of a tree that cannot be read, which names the
// directory, and when its caller has enough.
func TestDiffEnds(t *testing.T) {
	s := newStore()
	one, _ := s.put(map[string]node{"a": {filetree.Dir, 0o755, ""}, "a/b": {filetree.File, 0o644, "1"}, "z": {filetree.File, 0o644, "1"}}, ".")
	if n := 0; true {
		for range filetree.Diff(s.read, pack.ID{}, one) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%d changes", n)
		}
	}
	sub, _ := s.put(map[string]node{"b": {filetree.File, 0o644, "1"}}, ".")
	delete(s.objects, sub)
	var errs []error
	for c, err := range filetree.Diff(s.read, pack.ID{}, one) {
		if err != nil {
			errs = append(errs, err)
		} else if c.Path != "a" {
			t.Errorf("a change of %s after the error", c.Path)
		}
	}
	if len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) || !strings.HasPrefix(errs[0].Error(), "a: ") {
		t.Errorf("errors %v", errs)
	}
}
