package crashdisk_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/crashdisk"
)

// steps parses steps, one per line: the action, names, and after "=" the data to
// write at the start of the file.
func steps(t *testing.T, text string) (list []crashdisk.Step) {
	t.Helper()
	for line := range strings.Lines(text) {
		what, data, _ := strings.Cut(strings.TrimSpace(line), "=")
		var s crashdisk.Step
		if n, _ := fmt.Sscan(what, &s.Do, &s.Name, &s.To); n < 2 {
			t.Fatalf("no step: %q", line)
		}
		s.Data = []byte(data)
		list = append(list, s)
	}
	return list
}

func follow(t *testing.T, before, text string) *crashdisk.Trace {
	t.Helper()
	trace, err := crashdisk.Follow(tree(before), steps(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// tree parses a tree in the format of show.
func tree(text string) crashdisk.Tree {
	t := crashdisk.Tree{}
	for part := range strings.FieldsSeq(text) {
		if name, data, ok := strings.Cut(part, "="); ok {
			t[name] = &crashdisk.File{Data: []byte(data)}
		} else {
			t[strings.TrimSuffix(part, "/")] = nil
		}
	}
	return t
}

func show(t crashdisk.Tree) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if f := t[name]; f == nil {
			list = append(list, name+"/")
		} else {
			list = append(list, name+"="+strings.ReplaceAll(string(f.Data), "\x00", "0"))
		}
	}
	return strings.Join(list, " ")
}

func TestLost(t *testing.T) {
	const replace = "make t\nwrite t=new\n"
	for _, c := range []struct{ what, before, steps, want string }{
		{"nothing done", "a=x", "", "a=x"},
		{"a file is made", "", "make a", "|a="},
		{"bytes are not safe", "", replace + "syncdir .", "t=|t=n|t=ne|t=000|t=n00|t=new"},
		{"a name is not safe", "", replace + "sync t", "|t=new"},
		{"both are", "", replace + "sync t\nsyncdir .", "t=new"},
		{"replaced", "a=old", replace + "sync t\nsyncdir .\nrename t a", "a=old t=new|a=new"},
		{"replaced for good", "a=old", replace + "sync t\nrename t a\nsyncdir .", "a=new"},
		{"replaced without sync", "a=old", replace + "rename t a\nsyncdir .", "a=|a=n|a=ne|a=000|a=n00|a=new"},
		{"synced under its new name", "a=old", replace + "rename t a\nsync a\nsyncdir .", "a=new"},
		{"made and renamed", "", "make t\nrename t a", "|t=|a="},
		{"swapped", "a=old", replace + "sync t\nsyncdir .\nswap t a", "a=old t=new|a=new t=old"},
		{"swapped and removed", "a=old", replace + "sync t\nsyncdir .\nswap t a\nunlink t", "a=old t=new|a=old|a=new|a=new t=old"},
		{"swapped across folders", "a=old d/ d/t=new", "swap d/t a\nsyncdir .", "a=old d/ d/t=new|a=new d/ d/t=old"},
		{"swapped across folders, safe", "a=old d/ d/t=new", "swap d/t a\nsyncdir .\nsyncdir d", "a=new d/ d/t=old"},
		{"into another folder and replaced", "a=old d/ d/t=new", "rename a d/a\nrename d/t a\nsyncdir .\nsyncdir d", "a=new d/ d/a=old"},
		{"a link", "", "symlink a=b\nsync .", "|a=b"},
		{"a line more", "log=one,", "write log=one,two", "log=one,|log=one,t|log=one,tw|log=one,000|log=one,t00|log=one,two"},
		{"a line more, safe", "log=one,", "write log=one,two\nsync log", "log=one,two"},
		{"cut", "log=one", "cut log", "log=one|log="},
		{"removed", "a=x b=y", "unlink a\nunlink b", "a=x b=y|a=x|b=y|"},
		{"into another folder", "a=x d/", "rename a d/a", "a=x d/|a=x d/ d/a=x|d/ d/a=x"},
		{"its new folder is safe", "a=x d/", "rename a d/a\nsyncdir d", "a=x d/ d/a=x|d/ d/a=x"},
		{"its old folder is safe", "a=x d/", "rename a d/a\nsyncdir .", "a=x d/|a=x d/ d/a=x|d/ d/a=x"},
		{"both folders are", "a=x d/", "rename a d/a\nsyncdir .\nsyncdir d", "d/ d/a=x"},
		{"a new folder", "", "mkdir d\nmake d/a\nsyncdir d", "|d/ d/a="},
		{"a new folder, safe", "", "mkdir d\nsyncdir .\nmake d/a", "d/|d/ d/a="},
	} {
		trace := follow(t, c.before, c.steps)
		states := map[string]bool{}
		for tree := range trace.Lost(len(trace.Steps), 1000) {
			states[show(tree)] = true
		}
		want := strings.Split(c.want, "|")
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(states)); !slices.Equal(got, want) {
			t.Errorf("%s: a crash leaves\n%s\nwant\n%s", c.what, strings.Join(got, "|"), strings.Join(want, "|"))
		}
	}
}

func TestKept(t *testing.T) {
	trace := follow(t, "a=old", "make t\nwrite t=data\nrename t a")
	for k, want := range []string{"a=old", "a=old t=|a=old t=da", "a=old t=data", "a=data"} {
		var got []string
		for tree := range trace.Kept(k) {
			got = append(got, show(tree))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("after %d steps a crash leaves %q, want %q", k, got, want)
		}
	}
}

// TestLimit: if there are too many trees, the result includes: all lost, all kept,
// and each single change kept or lost.
func TestLimit(t *testing.T) {
	var makes []string
	for i := range 12 {
		makes = append(makes, fmt.Sprintf("make %c", 'a'+i))
	}
	trace := follow(t, "", strings.Join(makes, "\n"))
	const most = 40
	sizes, n := map[int]int{}, 0
	for tree := range trace.Lost(len(makes), most) {
		sizes[len(tree)]++
		n++
	}
	if n != most || sizes[0] < 1 || sizes[1] < 12 || sizes[11] < 12 || sizes[12] < 1 {
		t.Errorf("%d trees, by size %v", n, sizes)
	}
}

func TestDropAndMove(t *testing.T) {
	trace := follow(t, "a=old", "make t\nwrite t=new\nsync t\nrename t a\nsyncdir .")
	if got := trace.Syncs(); !slices.Equal(got, []int{2, 4}) || !trace.Renames(3) || !trace.Same(2, 3) {
		t.Fatalf("the syncs are %v", got)
	}
	dropped, moved := trace.Drop(2), trace.Move(3, 2)
	for what, c := range map[string]struct {
		trace *crashdisk.Trace
		k     int
		torn  bool
	}{
		"whole":            {trace, 5, false},
		"dropped":          {dropped, 4, true},
		"moved, before it": {moved, 3, true},
		"moved, done":      {moved, 5, false},
	} {
		torn := false
		for tree := range c.trace.Lost(c.k, 1000) {
			torn = torn || show(tree) == "a=000"
		}
		if torn != c.torn {
			t.Errorf("%s: a torn file is left: %v", what, torn)
		}
	}
}

func TestFollowNothing(t *testing.T) {
	for _, text := range []string{"write a=x", "rename a b", "make a\nmake a", "syncdir d", "unlink a", "mkdir d/e"} {
		if _, err := crashdisk.Follow(crashdisk.Tree{}, steps(t, text)); err == nil {
			t.Errorf("%q is followed", text)
		}
	}
}

func TestReadAndWrite(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1_700_000_000, 123_456_000)
	want := crashdisk.Tree{"d": nil, "d/a": {Data: []byte("x"), Time: at}, "l": {Data: []byte("d/a"), Link: true}, "skipped": {Time: at}}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := crashdisk.Read(dir, func(name string) bool { return name == "skipped" })
	if err != nil {
		t.Fatal(err)
	}
	if got.Sum() == want.Sum() {
		t.Error("a skipped file was read")
	}
	delete(want, "skipped")
	if got.Sum() != want.Sum() {
		t.Errorf("written %s, read %s", show(want), show(got))
	}
	for _, other := range []crashdisk.Tree{{"d": nil}, {"d": nil, "d/a": {Data: []byte("y"), Time: at}}, {"d": nil, "d/a": {Data: []byte("x")}}} {
		if other.Sum() == want.Sum() {
			t.Errorf("%s is taken for %s", show(other), show(want))
		}
	}
}
