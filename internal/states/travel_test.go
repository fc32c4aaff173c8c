package states_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
)

const travelFolder = "00000000-0000-4000-8000-000000000000"

// A parcel is what a workspace sends to another one.
type parcel struct {
	list      []states.Travel
	packs     []*pack.Pack
	forgotten []pack.ID
}

// takeAs takes a state with the ID of a traveller.
func (s *space) takeAs(n int) *states.State {
	s.Helper()
	st, err := s.Take(s.Context(), states.Request{
		State: states.State{ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Folder: travelFolder, Time: "2026-11-23T21:00:00.000000+00:00", At: states.Prompt},
		Dir:   s.dir, Scan: s.opts, Sources: sources(),
	})
	if err != nil {
		s.Fatal(err)
	}
	return st
}

// send sends states, without the objects of which known returns true.
func (s *space) send(known func(pack.ID) bool, list ...*states.State) *parcel {
	s.Helper()
	p := &parcel{}
	forgotten, refused, err := s.Send(s.Context(), list, known, func(data []byte, ids []pack.ID) error {
		got := p.add(s, data)
		for _, id := range ids {
			if _, ok := pack.NewIndex(got).Size(id); !ok {
				s.Errorf("the pack does not have %v", id)
			}
		}
		return nil
	})
	if err != nil || len(refused) > 0 {
		s.Fatalf("Send: %v, %v", refused, err)
	}
	p.forgotten = forgotten
	for _, st := range list {
		p.list = append(p.list, states.Travel{State: *st})
	}
	return p
}

func (p *parcel) add(t testing.TB, data []byte) *pack.Pack {
	got, err := pack.New("parcel", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	p.packs = append(p.packs, got)
	return got
}

func (p *parcel) supply(id pack.ID) (*pack.Pack, error) {
	for _, one := range p.packs {
		if _, ok := pack.NewIndex(one).Size(id); ok {
			return one, nil
		}
	}
	return nil, &pack.MissingError{ID: id}
}

func (p *parcel) consignment() states.Consignment {
	return states.Consignment{Folders: foreign, States: p.list, Forgotten: p.forgotten, Supply: p.supply}
}

func nothing(pack.ID) bool { return false }

var foreign = []states.Folder{{ID: travelFolder, Path: "/home/me/trip", Machine: "laptop"}}

// receive receives a parcel and returns which states were refused.
func (s *space) receive(p *parcel) []states.Refusal {
	s.Helper()
	r, err := s.Receive(s.Context(), p.consignment())
	if err != nil {
		s.Fatal(err)
	}
	if err := r.Commit(s.Context()); err != nil {
		s.Fatal(err)
	}
	return r.Refused
}

// TestTravel: states are the same in another workspace, each content is sent once, and nothing is added
// twice.
func TestTravel(t *testing.T) {
	a, b := newSpace(t), newSpace(t)
	a.write("x/large", strings.Repeat("0123456789", 300_000))
	a.write("y", "1")
	first := a.takeAs(1)
	p := a.send(nothing, first)
	p.list[0].Links = []states.Link{{SessionID: "s", MessageID: "m", Time: "t"}}
	if refused := b.receive(p); len(refused) > 0 {
		t.Fatalf("%v is refused", refused)
	}
	b.check(first, map[string]string{"x/large": strings.Repeat("0123456789", 300_000), "y": "1"})
	sent := map[pack.ID]bool{}
	for _, one := range p.packs {
		for id := range pack.NewIndex(one).All() {
			sent[id] = true
		}
	}

	a.write("y", "2")
	second := a.takeAs(2)
	more := a.send(func(id pack.ID) bool { return sent[id] }, first, second)
	for _, one := range more.packs {
		if n := pack.NewIndex(one).Len(); n != 2 { // the file, and the tree
			t.Errorf("%d objects are sent again", n)
		}
	}
	more.packs = append(more.packs, p.packs...)
	for range 2 {
		more.list[0].Links = p.list[0].Links
		b.receive(more)
	}
	b.check(second, a.holds(second))
	list, err := b.States()
	if err != nil || len(list) != 2 || list[0].ID != first.ID || list[1].ID != second.ID {
		t.Errorf("there are %v, %v", list, err)
	}
	links, err := b.Links()
	if err != nil || len(links) != 1 || links[0].State != first.ID || links[0].Folder != travelFolder {
		t.Errorf("there are links %v, %v", links, err)
	}
	folders, err := b.Folders()
	if err != nil || len(folders) != 1 || folders[0].Machine != "laptop" || folders[0].Identity != (states.Identity{}) {
		t.Errorf("there are folders %v, %v", folders, err)
	}
	b.healthy()
}

// TestTravelForgotten: content that was deleted permanently is not sent, and not stored again where it
// was deleted; the state travels without it.
func TestTravelForgotten(t *testing.T) {
	a, b, c := newSpace(t), newSpace(t), newSpace(t)
	a.write("secret", "the secret")
	a.write("y", "1")
	st := a.takeAs(1)
	whole := a.send(nothing, st)
	if _, err := a.Forget(t.Context(), travelFolder, "secret"); err != nil {
		t.Fatal(err)
	}
	p := a.send(nothing, st)
	secret := pack.IDOf([]byte("the secret"))
	if _, err := p.supply(secret); err == nil || len(p.forgotten) != 1 {
		t.Fatalf("it is sent, and forgotten are %v", p.forgotten)
	}
	if refused := b.receive(p); len(refused) > 0 {
		t.Fatalf("%v is refused", refused)
	}
	b.healthy()
	if _, err := b.Get(secret); !errors.Is(err, states.ErrForgotten) {
		t.Errorf("its content is %v", err)
	}

	a.Remove(st.ID)
	if refused := a.receive(whole); len(refused) > 0 { // what was deleted does not come back
		t.Fatalf("%v is refused", refused)
	}
	a.healthy()
	if _, err := a.Get(secret); !errors.Is(err, states.ErrForgotten) {
		t.Errorf("its content is %v", err)
	}

	c.receive(whole)
	if refused := c.receive(p); len(refused) > 0 { // who has it keeps it
		t.Fatalf("%v is refused", refused)
	}
	c.check(st, map[string]string{"secret": "the secret", "y": "1"})
}

// A forgery is a state with a tree that no scan makes.
type forgery struct {
	objects map[pack.ID][]byte
	state   states.State
}

func (f *forgery) put(data []byte) pack.ID {
	id := pack.IDOf(data)
	f.objects[id] = data
	return id
}

func (f *forgery) file(name, content string) filetree.Entry {
	return filetree.Entry{Name: name, Type: filetree.File, Perm: 0o644, Size: int64(len(content)), ID: f.put([]byte(content))}
}

func (f *forgery) link(name, target string) filetree.Entry {
	e := f.file(name, target)
	e.Type, e.Perm = filetree.Link, 0
	return e
}

func (f *forgery) dir(name string, list ...filetree.Entry) filetree.Entry {
	slices.SortFunc(list, func(a, b filetree.Entry) int { return strings.Compare(a.Name, b.Name) })
	data := filetree.Tree(list).Encode()
	return filetree.Entry{Name: name, Type: filetree.Dir, Perm: 0o755, Size: int64(len(data)), ID: f.put(data)}
}

// forge returns a forgery whose tree is that of a directory with some files.
func forge(make func(f *forgery) []filetree.Entry) *forgery {
	f := &forgery{objects: map[pack.ID][]byte{}}
	coverage, _ := json.Marshal(states.Coverage{})
	f.state = states.State{
		ID: "00000000-0000-4000-8000-000000000007", Folder: travelFolder, Time: "2026-11-23T21:00:00.000000+00:00", At: states.Prompt,
		Coverage: f.put(coverage),
	}
	list := make(f)
	f.state.Tree = f.dir(".", list...).ID
	f.count(f.state.Tree)
	return f
}

func (f *forgery) count(tree pack.ID) {
	t, err := filetree.Decode(f.objects[tree])
	if err != nil {
		return
	}
	for _, e := range t {
		if e.Type != filetree.Dir {
			f.state.Files, f.state.Bytes = f.state.Files+1, f.state.Bytes+e.Size
		} else if f.state.Files < 1000 {
			f.count(e.ID)
		}
	}
}

func (f *forgery) parcel(t testing.TB) *parcel {
	p := &parcel{list: []states.Travel{{State: f.state}}}
	var data bytes.Buffer
	w := pack.NewObjectWriter(&data, 0, 0, false)
	for id, content := range f.objects {
		if err := w.Add(id, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	p.add(t, data.Bytes())
	return p
}

// TestHostile: a state that could harm a folder, or that is not what it says, is refused before anything
// is stored.
func TestHostile(t *testing.T) {
	type entries = []filetree.Entry
	deep := func(f *forgery) entries {
		e := f.file("x", "1")
		for range 3000 {
			e = f.dir("d", e)
		}
		return entries{e}
	}
	wide := func(f *forgery) entries {
		e := f.dir("d", f.file("a", "1"), f.file("b", "2"))
		for range 40 {
			l, r := e, e
			l.Name, r.Name = "l", "r"
			e = f.dir("d", l, r)
		}
		return entries{e}
	}
	for what, make := range map[string]func(f *forgery) entries{
		"parent":                    func(f *forgery) entries { return entries{f.file("..", "x")} },
		"slash":                     func(f *forgery) entries { return entries{f.file("a/b", "x")} },
		"absolute":                  func(f *forgery) entries { return entries{f.file("/etc/passwd", "x")} },
		"NUL":                       func(f *forgery) entries { return entries{f.file("a\x00b", "x")} },
		"no name":                   func(f *forgery) entries { return entries{f.file("", "x")} },
		"twice":                     func(f *forgery) entries { return entries{f.file("a", "x"), f.file("a", "y")} },
		"git":                       func(f *forgery) entries { return entries{f.dir(".git", f.file("config", "x"))} },
		"git in a directory":        func(f *forgery) entries { return entries{f.dir("a", f.dir(".git", f.file("config", "x")))} },
		"git in another case":       func(f *forgery) entries { return entries{f.dir(".GiT", f.file("config", "x"))} },
		"git as a file":             func(f *forgery) entries { return entries{f.file(".git", "gitdir: /elsewhere")} },
		"git with an ignored rune":  func(f *forgery) entries { return entries{f.dir(".g\u200cit", f.file("config", "x"))} },
		"git with a mark of order":  func(f *forgery) entries { return entries{f.dir("\ufeff.git", f.file("config", "x"))} },
		"git with a dot":            func(f *forgery) entries { return entries{f.dir(".git.", f.file("config", "x"))} },
		"git with a space":          func(f *forgery) entries { return entries{f.dir(".git ", f.file("config", "x"))} },
		"git as a short name":       func(f *forgery) entries { return entries{f.dir("GIT~1", f.file("config", "x"))} },
		"git as a stream":           func(f *forgery) entries { return entries{f.dir(".git::$INDEX_ALLOCATION", f.file("config", "x"))} },
		"mercurial":                 func(f *forgery) entries { return entries{f.dir(".hg", f.file("hgrc", "x"))} },
		"a workspace":               func(f *forgery) entries { return entries{f.dir(".bough", f.file("x", "x"))} },
		"a temporary file":          func(f *forgery) entries { return entries{f.file("x.bough-tmp", "x")} },
		"a long name":               func(f *forgery) entries { return entries{f.file(strings.Repeat("x", 300), "x")} },
		"an absolute link":          func(f *forgery) entries { return entries{f.link("a", "/etc/passwd")} },
		"a link out":                func(f *forgery) entries { return entries{f.link("a", "../x")} },
		"a link out of a directory": func(f *forgery) entries { return entries{f.dir("d", f.link("a", "../../x"))} },
		"a link down and up":        func(f *forgery) entries { return entries{f.dir("d", f.link("a", "x/../../.."))} },
		"a link over another one": func(f *forgery) entries {
			return entries{f.dir("d", f.dir("e", f.link("up", "../.."), f.link("out", "up/../x")))}
		},
		"a link to a drive":         func(f *forgery) entries { return entries{f.link("a", `C:\x`)} },
		"a link with backslashes":   func(f *forgery) entries { return entries{f.link("a", `..\x`)} },
		"a link to nothing":         func(f *forgery) entries { return entries{f.link("a", "")} },
		"a link with a long target": func(f *forgery) entries { return entries{f.link("a", strings.Repeat("x", 5000))} },
		"nested deeply":             deep,
		"a tree of 2^41 files":      wide,
		"a large file": func(f *forgery) entries {
			return entries{f.file("a", strings.Repeat("x", 17<<20))}
		},
		"another size": func(f *forgery) entries {
			e := f.file("a", "x")
			e.Size = 1 << 20
			return entries{e}
		},
		"another size of a directory": func(f *forgery) entries {
			e := f.dir("a", f.file("b", "x"))
			e.Size++
			return entries{e}
		},
		"no tree": func(f *forgery) entries {
			e := f.file("a", "not a tree")
			e.Type = filetree.Dir
			return entries{e}
		},
		"a missing file": func(f *forgery) entries {
			e := f.file("a", "x")
			delete(f.objects, e.ID)
			return entries{e}
		},
		"a missing directory": func(f *forgery) entries {
			e := f.dir("a", f.file("b", "x"))
			delete(f.objects, e.ID)
			return entries{e}
		},
	} {
		t.Run(what, func(t *testing.T) { refuses(t, forge(make), nil) })
	}
	for what, change := range map[string]func(st *states.State){
		"an id that is a path":        func(st *states.State) { st.ID = "../../x" },
		"a folder that is a path":     func(st *states.State) { st.Folder = "../../x" },
		"another number of files":     func(st *states.State) { st.Files++ },
		"another number of bytes":     func(st *states.State) { st.Bytes = 1 << 50 },
		"no moment":                   func(st *states.State) { st.At = "x" },
		"a commit that is an option":  func(st *states.State) { st.Git = &states.Git{Head: "--upload-pack=x"} },
		"a branch that is an option":  func(st *states.State) { st.Git = &states.Git{Branch: "--upload-pack=x"} },
		"another tree":                func(st *states.State) { st.Tree[0]++ },
		"another coverage":            func(st *states.State) { st.Coverage = st.Tree },
		"no coverage":                 func(st *states.State) { st.Coverage = pack.ID{} },
		"a session that is a path":    func(st *states.State) { st.SessionID = "../x" },
		"a state before it as a path": func(st *states.State) { st.Since = "../x" },
	} {
		t.Run(what, func(t *testing.T) {
			refuses(t, forge(func(f *forgery) []filetree.Entry { return []filetree.Entry{f.file("a", "x")} }), change)
		})
	}
	good := forge(func(f *forgery) []filetree.Entry {
		return []filetree.Entry{f.file(".gitignore", "x"), f.dir("a", f.link("up", "../.gitignore"), f.file("..x", "y"), f.file(".git~", "z")), f.dir("git")}
	})
	s := newSpace(t)
	if refused := s.receive(good.parcel(t)); len(refused) > 0 {
		t.Errorf("a good state is refused: %v", refused[0].Err)
	}
	s.healthy()
}

// refuses checks that a forgery leaves nothing in a workspace, and does not prevent a good state.
func refuses(t *testing.T, f *forgery, change func(*states.State)) {
	t.Helper()
	s, other := newSpace(t), newSpace(t)
	other.write("good", "content")
	good := other.takeAs(1)
	p := f.parcel(t)
	if change != nil {
		change(&p.list[0].State)
	}
	q := other.send(nothing, good)
	both := &parcel{list: append(p.list, q.list...), packs: append(p.packs, q.packs...)}
	refused := s.receive(both)
	if len(refused) != 1 || refused[0].State != p.list[0].State.ID {
		t.Fatalf("refused are %v", refused)
	}
	list, err := s.States()
	if err != nil || len(list) != 1 || list[0].ID != good.ID {
		t.Fatalf("there are %v, %v", list, err)
	}
	s.check(good, map[string]string{"good": "content"})
	for id, content := range f.objects {
		if _, err := s.Get(id); !errors.Is(err, fs.ErrNotExist) && !bytes.Equal(content, []byte{}) {
			t.Errorf("%.40q of it is stored", content)
		}
	}
	s.healthy()
}

// TestTravelDamage: a content that is not what its ID says keeps out its state, and no other one.
func TestTravelDamage(t *testing.T) {
	f := forge(func(f *forgery) []filetree.Entry {
		e := f.file("a", "right")
		f.objects[e.ID] = []byte("wrong")
		return []filetree.Entry{e}
	})
	s, other := newSpace(t), newSpace(t)
	other.write("good", "content")
	good := other.takeAs(1)
	p, q := f.parcel(t), other.send(nothing, good)
	refused := s.receive(&parcel{list: append(p.list, q.list...), packs: append(p.packs, q.packs...)})
	if len(refused) != 1 || refused[0].State != f.state.ID {
		t.Fatalf("refused are %v", refused)
	}
	s.check(good, map[string]string{"good": "content"})
	s.healthy()
}

// TestTravelStale: what another process changed meanwhile is not overlooked.
func TestTravelStale(t *testing.T) {
	a, b := newSpace(t), newSpace(t)
	a.write("x", "1")
	p := a.send(nothing, a.takeAs(1))
	r, err := b.Receive(t.Context(), p.consignment())
	if err != nil {
		t.Fatal(err)
	}
	b.receive(p)
	if err := r.Commit(t.Context()); !errors.Is(err, states.ErrStale) {
		t.Errorf("the error is %v", err)
	}
	b.healthy()
}
