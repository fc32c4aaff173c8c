package restore_test

import (
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
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/scan"
)

// A state maps paths to what they have: "d755", "f644 content" or "l target".
type state map[string]string

// parse parses a state: a path and what it has, separated by a colon, on each line. The
// directories above a path are implied.
func parse(text string) state {
	s := state{}
	for line := range strings.Lines(text) {
		name, has, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if s[dir] == "" {
				s[dir] = "d755"
			}
		}
		if strings.HasPrefix(has, "=") {
			has = "f644 " + has[1:]
		}
		s[name] = has
	}
	return s
}

// entry returns the entry of a path that has something.
func entry(name, has string) filetree.Entry {
	e := filetree.Entry{Name: path.Base(name), Type: filetree.Type(has[0])}
	perm, content, _ := strings.Cut(has[1:], " ")
	fmt.Sscanf(perm, "%o", &e.Perm)
	e.ID, e.Size = pack.IDOf([]byte(content)), int64(len(content))
	return e
}

// objects are those of a store.
type objects map[pack.ID][]byte

func (o objects) read(id pack.ID) ([]byte, error) {
	data, ok := o[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return data, nil
}

// put stores what s has and returns its tree.
func (o objects) put(s state) pack.ID {
	trees := map[string]filetree.Tree{}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s))) {
		e := entry(name, s[name])
		data := []byte(s[name][min(len(s[name]), len("f644 ")):])
		switch e.Type {
		case filetree.Dir:
			data = o.encode(trees[name])
			e.ID, e.Size = pack.IDOf(data), int64(len(data))
		case filetree.Link:
			data = []byte(s[name][len("l "):])
		}
		o[e.ID] = data
		trees[path.Dir(name)] = append(trees[path.Dir(name)], e)
	}
	return pack.IDOf(o.encode(trees["."]))
}

func (o objects) encode(t filetree.Tree) []byte {
	slices.SortFunc(t, func(a, b filetree.Entry) int { return strings.Compare(a.Name, b.Name) })
	data := t.Encode()
	o[pack.IDOf(data)] = data
	return data
}

// has returns what an entry is in a state.
func (o objects) has(e filetree.Entry, merged map[pack.ID][]byte) string {
	data := o[e.ID]
	if m, ok := merged[e.ID]; ok {
		data = m
	}
	switch e.Type {
	case filetree.Dir:
		return fmt.Sprintf("d%o", e.Perm)
	case filetree.Link:
		return "l " + string(data)
	}
	return fmt.Sprintf("f%o %s", e.Perm, data)
}

// A story is what a test of a plan begins with.
type story struct {
	objects
	target, last, now state
	spans, others     [][2]state
	left              []string
	ignored           []string
	more              []string // directories with something that no state holds
}

func (s *story) plan(t testing.TB, opts restore.Options) *restore.Plan {
	t.Helper()
	if s.objects == nil {
		s.objects = objects{}
	}
	in := restore.Input{
		Read: s.read, Target: s.put(s.target), Last: s.put(s.last), Present: s.put(s.now),
		Ignored: func(name string, _ bool) string {
			if within(name, s.ignored) {
				return restore.Ignored
			}
			return ""
		},
		More:      func(dir string) bool { return slices.Contains(s.more, dir) },
		Forgotten: func(id pack.ID) bool { return id == pack.IDOf([]byte("forgotten")) },
	}
	for _, span := range s.spans {
		in.Own = append(in.Own, restore.Span{From: s.put(span[0]), To: s.put(span[1])})
	}
	for _, span := range s.others {
		in.Other = append(in.Other, restore.Span{From: s.put(span[0]), To: s.put(span[1])})
	}
	for _, name := range s.left {
		in.Left = append(in.Left, scan.Left{Path: name, Why: scan.Large})
	}
	p, err := restore.Make(in, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// within reports whether a path is one of list or below one.
func within(name string, list []string) bool {
	return slices.ContainsFunc(list, func(at string) bool { return name == at || strings.HasPrefix(name, at+"/") })
}

// text describes a plan: paths to be written with +, to be deleted with -, kept ones with
// the reason, and conflicts with !.
func text(p *restore.Plan) string {
	var list []string
	for _, c := range p.Changes {
		if c.To.Type == 0 {
			list = append(list, "-"+c.Path)
		} else {
			list = append(list, "+"+c.Path)
		}
	}
	for _, k := range p.Kept {
		list = append(list, k.Path+"="+k.Why)
	}
	for _, c := range p.Conflicts {
		list = append(list, "!"+c.Path)
	}
	return strings.Join(list, " ")
}

// TestPlan: the decisions at single paths, and at paths that need each other. In a row, the
// states follow each other: target, last, and now; there is one span, from target to last.
func TestPlan(t *testing.T) {
	for _, row := range []struct {
		what, target, last, now string
		opts                    restore.Options
		left, ignored, more     string
		other                   string // another conversation left this, from the target
		want                    string
	}{
		{what: "nothing changed since", target: "a:=1", last: "a:=2", now: "a:=2", want: "+a"},
		{what: "the folder has the target", target: "a:=1", last: "a:=2", now: "a:=1", want: ""},
		{what: "a file is new", target: "", last: "a:=2", now: "a:=2", want: "-a"},
		{what: "a file was deleted", target: "a:=1", last: "", now: "", want: "+a"},
		{what: "a file of the user in between", target: "a:=1", last: "a:=2", now: "a:=2\nb:=user", want: "+a"},
		{what: "the user changed it too", target: "a:=1", last: "a:=2", now: "a:=3", want: "!a"},
		{what: "keep", target: "a:=1", last: "a:=2", now: "a:=3", opts: restore.Options{Policy: restore.Keep}, want: "a=conflict"},
		{what: "take", target: "a:=1", last: "a:=2", now: "a:=3", opts: restore.Options{Policy: restore.Take}, want: "+a"},
		{what: "the user deleted it", target: "a:=1", last: "a:=2", now: "", want: "!a"},
		{what: "mode only", target: "a:f755 1", last: "a:f644 1", now: "a:f644 1", want: "+a"},
		{what: "the user made it executable", target: "a:=1", last: "a:=2", now: "a:f755 2", want: "!a"},
		{what: "link against file", target: "a:l b", last: "a:=b", now: "a:=b", want: "+a"},
		{what: "an empty folder is new", target: "", last: "d:d755", now: "d:d755", want: "-d"},
		{what: "an empty folder was deleted", target: "d:d700", last: "", now: "", want: "+d"},
		{what: "folder against file", target: "a:=1", last: "a/b:=2", now: "a/b:=2", want: "+a -a/b"},
		{what: "file against folder", target: "a/b:=2", last: "a:=1", now: "a:=1", want: "+a +a/b"},
		{what: "the user put a file into a folder that must go", target: "", last: "d/a:=1", now: "d/a:=1\nd/b:=user", want: "-d/a d=not_empty"},
		{what: "a file where a folder has the user's file", target: "d:=1", last: "d/a:=1", now: "d/a:=1\nd/b:=user", want: "d=not_empty d/a=blocked"},
		{what: "a file where a folder has an ignored file", target: "d:=1", last: "d/a:=1\nd/sub/a:=1", now: "d/a:=1\nd/sub/a:=1", more: "d", want: "d=not_empty d/a=blocked d/sub=blocked d/sub/a=blocked"},
		{what: "one in a folder below", target: "d:=1", last: "d/a:=1\nd/sub/a:=1", now: "d/a:=1\nd/sub/a:=1", more: "d/sub", want: "d=not_empty d/a=blocked d/sub=not_empty d/sub/a=blocked"},
		{what: "a link where a folder has a file that was omitted", target: "d:l x\nb:=1", last: "d/a:=1\nb:=2", now: "d/a:=1\nb:=2", left: "d/big", opts: restore.Options{Whole: true}, want: "+b d=not_empty d/a=blocked"},
		{what: "a folder that must go has an ignored file", target: "", last: "d/a:=1", now: "d/a:=1", more: "d", want: "-d/a d=not_empty"},
		{what: "only what is in a folder in place of a file", target: "d:=1", last: "d/a:=1", now: "d/a:=1", more: "d", opts: restore.Options{Only: []string{"d/a"}}, want: "-d/a"},
		{what: "the user deleted the folder of a file", target: "d/a:=1", last: "d/a:=2", now: "", opts: restore.Options{Policy: restore.Take}, want: "+d +d/a"},
		{what: "the user put a file in place of the folder", target: "d/a:=1", last: "d/a:=2", now: "d:=user", opts: restore.Options{Policy: restore.Take}, want: "d/a=blocked"},
		{what: "only the case changed", target: "Readme:=1", last: "README:=1", now: "README:=1", want: "-README +Readme"},
		{what: "another conversation changed it", target: "a:=1", last: "a:=2", now: "a:=2", other: "a:=2", want: "!a"},
		{what: "another conversation changed something else", target: "a:=1", last: "a:=2", now: "a:=2\nb:=2", other: "a:=1\nb:=2", want: "+a"},
		{what: "whole", target: "a:=1", last: "a:=2", now: "a:=3\nb:=user", opts: restore.Options{Whole: true}, want: "+a -b"},
		{what: "only a path", target: "a:=1\nd/b:=1", last: "a:=2\nd/b:=2", now: "a:=2\nd/b:=2", opts: restore.Options{Only: []string{"d"}}, want: "+d/b"},
		{what: "a name that begins with the path", target: "d/b:=1\nda:=1", last: "d/b:=2\nda:=2", now: "d/b:=2\nda:=2", opts: restore.Options{Only: []string{"d"}}, want: "+d/b"},
		{what: "a file over the limit is not absent", target: "", last: "big:=2", now: "big:=2", opts: restore.Options{Whole: true}, left: "big", want: "big=large"},
		{what: "a folder that must go holds what was omitted", target: "", last: "d/a:=1", now: "d/a:=1", left: "d/big", want: "-d/a d=not_empty"},
		{what: "ignored under the rules of the target", target: ".gitignore:=out", last: "out/a:=1", now: "out/a:=1", opts: restore.Options{Whole: true}, ignored: "out", want: "+.gitignore out=ignored out/a=ignored"},
		{what: "a content that was deleted permanently", target: "a:=forgotten\nb:=1", last: "a:=2\nb:=2", now: "a:=2\nb:=2", want: "+b a=forgotten"},
		{what: "one in place of a folder", target: "a:=forgotten", last: "a/b:=2", now: "a/b:=2", want: "a=forgotten a/b=blocked"},
		{what: "nothing to merge with", target: "a:=1", last: "a:=forgotten", now: "a:=3", opts: restore.Options{Policy: restore.Merge}, want: "!a"},
		{what: "lines of the user stay", target: "a:=1\n", last: "a:=2\n", now: "a:=3\n", opts: restore.Options{Policy: restore.Merge}, want: "!a"},
	} {
		s := &story{target: parse(row.target), last: parse(row.last), now: parse(row.now), left: strings.Fields(row.left), ignored: strings.Fields(row.ignored), more: strings.Fields(row.more)}
		s.spans = [][2]state{{s.target, s.last}}
		if row.other != "" {
			s.others = [][2]state{{s.target, parse(row.other)}}
		}
		if got := text(s.plan(t, row.opts)); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}

// TestBetweenTurns: what the user changed between two turns stays. If the conversation
// changed the same path, it is a conflict, and merging takes back only the turns' lines.
func TestBetweenTurns(t *testing.T) {
	lines := func(a, b, c string) string { return "f644 " + a + "\n-\n" + b + "\n-\n" + c + "\n" }
	first, turn1 := state{"a": lines("1", "1", "1"), "b": "f644 1"}, state{"a": lines("2", "1", "1"), "b": "f644 1"}
	user, turn2 := state{"a": lines("2", "user", "1"), "b": "f644 user"}, state{"a": lines("2", "user", "2"), "b": "f644 user"}
	s := &story{target: first, last: turn2, now: turn2, spans: [][2]state{{first, turn1}, {user, turn2}}}
	if got := text(s.plan(t, restore.Options{})); got != "!a" {
		t.Errorf("refuse: %q", got)
	}
	p := s.plan(t, restore.Options{Policy: restore.Merge})
	if len(p.Changes) != 1 {
		t.Fatalf("merge: %s", text(p))
	}
	if got, want := s.has(p.Changes[0].To, p.Merged), lines("1", "user", "1"); got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
}

// TestMerge: changes of different lines are merged, with all bytes of other lines.
func TestMerge(t *testing.T) {
	for _, row := range []struct{ base, yours, theirs, want string }{
		{"1\r\n2\r\n3\r\n", "1\r\n2\r\nx\r\n", "y\r\n2\r\n3\r\n", "y\r\n2\r\nx\r\n"},
		{"\xff\n2\n3", "\xff\n2\nx", "y\n2\n3", "y\n2\nx"},
		{"1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n", ""},
		{"1\n2\n3\n", "x\n2\n3\n", "1\ny\n3\n", ""}, // side by side
		{"1\n2\n3\n", "1\n3\n", "1\ny\n3\n", ""},
		{"1\n2\n", "1\nx\n2\n", "1\ny\n2\n", ""}, // two insertions at one place
		{"1\n2\n3\n4\n5\n", "1\n4\n5\n", "1\n2\nx\n4\n5\n", ""},
		{"1\n2\n3\n4\n5\n", "x\n2\n3\n4\n5\n", "x\n2\n3\n4\ny\n", "x\n2\n3\n4\ny\n"},
		{"1\n2\x00\n3\n", "x\n2\x00\n3\n", "1\n2\x00\ny\n", ""},
	} {
		s := &story{target: state{"a": "f644 " + row.theirs}, last: state{"a": "f644 " + row.base}, now: state{"a": "f755 " + row.yours}}
		s.spans = [][2]state{{s.target, s.last}}
		p := s.plan(t, restore.Options{Policy: restore.Merge})
		got := ""
		if len(p.Changes) == 1 {
			got = s.has(p.Changes[0].To, p.Merged)
		}
		if want := "f755 " + row.want; got != want && (row.want != "" || got != "" || len(p.Conflicts) != 1) {
			t.Errorf("merge of %+v: %q, %s", row, got, text(p))
		}
	}
}

// edited returns s with some random changes.
func edited(r *rand.Rand, s state) state {
	s = maps.Clone(s)
	for range r.IntN(5) {
		parts := []string{"a", "b", "A", "c"}
		name := parts[r.IntN(4)]
		for range r.IntN(3) {
			name += "/" + parts[r.IntN(4)]
		}
		for p := range s {
			if within(p, []string{name}) {
				delete(s, p)
			}
		}
		if r.IntN(3) == 0 {
			continue
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if !strings.HasPrefix(s[dir], "d") {
				s[dir] = "d755"
			}
		}
		s[name] = []string{"d755", "d700", "l x", "l y", "f644 1", "f755 1", "f644 2", "f644 3\n"}[r.IntN(8)]
	}
	return s
}

// applied returns s after the changes of a plan. The test fails if that is no folder.
func applied(t *testing.T, o objects, s state, p *restore.Plan) state {
	t.Helper()
	s = maps.Clone(s)
	for _, c := range p.Changes {
		if was, ok := s[c.Path]; ok != (c.From.Type != 0) || ok && was != o.has(c.From, nil) {
			t.Fatalf("%s changes from %v, and has %q", c.Path, c.From, was)
		}
		if delete(s, c.Path); c.To.Type != 0 {
			s[c.Path] = o.has(c.To, p.Merged)
		}
	}
	for name := range s {
		if dir := path.Dir(name); dir != "." && !strings.HasPrefix(s[dir], "d") {
			t.Fatalf("%s is below %q: %s", name, s[dir], text(p))
		}
	}
	return s
}

// FuzzPlan: only paths of the spans change, and directories above them; nothing that was
// omitted or is ignored does; a change begins with what the folder has; after it the folder
// has the target wherever the plan does not say that it keeps a path; what the user changed
// is only overwritten if asked for; whole gives the target; and a folder that has the target
// does not change. A directory that should become a file, and is kept, loses nothing.
func FuzzPlan(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		at := edited(r, edited(r, state{}))
		s := &story{objects: objects{}, target: at}
		paths := map[string]bool{} // of the spans
		foreign := map[string]bool{}
		differing := func(a, b state, in map[string]bool) {
			for _, s := range []state{a, b} {
				for name := range s {
					if a[name] != b[name] {
						in[name] = true
					}
				}
			}
		}
		for range 1 + r.IntN(3) {
			if r.IntN(3) == 0 {
				at = edited(r, at) // the user
			}
			next := edited(r, at)
			if r.IntN(4) == 0 {
				s.others = append(s.others, [2]state{at, next})
				differing(at, next, foreign)
			} else {
				s.spans = append(s.spans, [2]state{at, next})
				differing(at, next, paths)
			}
			at = next
		}
		s.last, s.now = at, at
		if r.IntN(2) == 0 {
			s.now = edited(r, at)
		}
		if r.IntN(3) == 0 {
			s.left = []string{"a/b", "c/a/b"}[r.IntN(2):][:1]
			for name := range s.now { // a state does not have what it omitted
				if within(name, s.left) {
					delete(s.now, name)
				}
			}
		}
		if r.IntN(3) == 0 {
			s.ignored = []string{"b/a"}
		}
		if r.IntN(3) == 0 {
			s.more = []string{"a", "b", "a/b", "c"}[r.IntN(4):][:1]
		}
		opts := restore.Options{Policy: []restore.Policy{restore.Refuse, restore.Keep, restore.Take, restore.Merge}[r.IntN(4)], Whole: r.IntN(4) == 0}
		if r.IntN(5) == 0 {
			opts.Only = []string{"a", "b/c"}
			maps.DeleteFunc(paths, func(name string, _ bool) bool { return !within(name, opts.Only) })
		}
		p := s.plan(t, opts)
		after := applied(t, s.objects, s.now, p)
		spared := map[string]bool{} // paths about which the plan says that they stay
		for _, k := range p.Kept {
			spared[k.Path] = true
			if s.now[k.Path] == s.target[k.Path] {
				t.Fatalf("%s is kept and has the target", k.Path)
			}
		}
		for _, c := range p.Conflicts {
			spared[c.Path] = true
		}
		for _, k := range p.Kept {
			if has := s.target[k.Path]; has == "" || strings.HasPrefix(has, "d") || !strings.HasPrefix(s.now[k.Path], "d") {
				continue
			}
			for name, had := range s.now {
				if within(name, []string{k.Path}) && after[name] != had {
					t.Fatalf("%s stays a directory, and %s in it had %q and has %q: %s", k.Path, name, had, after[name], text(p))
				}
			}
		}
		if len(p.Conflicts) > 0 && (opts.Policy == restore.Keep || opts.Policy == restore.Take || opts.Whole) {
			t.Fatalf("conflicts with %+v: %s", opts, text(p))
		}
		above := map[string]bool{}
		for _, c := range p.Changes {
			for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
				above[dir] = true
			}
		}
		for _, c := range p.Changes {
			isNew := c.From.Type == 0 && c.To.Type == filetree.Dir && above[c.Path]
			switch {
			case within(c.Path, s.left) || within(c.Path, s.ignored):
				t.Fatalf("%s changes and was omitted", c.Path)
			case spared[c.Path]:
				t.Fatalf("%s changes and is kept", c.Path)
			case len(opts.Only) > 0 && !within(c.Path, opts.Only) && !isNew:
				t.Fatalf("%s changes, and was not asked for", c.Path)
			case !opts.Whole && !paths[c.Path] && !isNew:
				t.Fatalf("%s changes, and is in no span", c.Path)
			case !opts.Whole && opts.Policy == restore.Refuse && !isNew && (s.now[c.Path] != s.last[c.Path] || foreign[c.Path]):
				t.Fatalf("%s changes, and is not the conversation's", c.Path)
			}
		}
		for name := range paths {
			if !spared[name] && after[name] != s.target[name] && opts.Policy != restore.Merge {
				t.Fatalf("%s has %q, want %q: %s", name, after[name], s.target[name], text(p))
			}
		}
		if opts.Whole && len(s.left)+len(s.ignored)+len(s.more)+len(opts.Only) == 0 && !maps.Equal(after, s.target) {
			t.Fatalf("the folder has %v, want %v", after, s.target)
		}
		if opts.Policy == restore.Keep && !opts.Whole {
			again := *s
			again.now = after
			if p := again.plan(t, opts); len(p.Changes) > 0 {
				t.Fatalf("the plan after the plan changes %s", text(p))
			}
		}
		same := *s
		same.last, same.now = s.target, s.target
		if p := same.plan(t, opts); text(p) != "" {
			t.Fatalf("the folder has the target, and the plan is %s", text(p))
		}
	})
}
