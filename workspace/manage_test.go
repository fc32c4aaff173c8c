package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

func TestRename(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	const file = "{ \"metadata\":{\"n\":1.0 , \"title\" :\"Old\",\"x\":NaN},\n\"messages\":[ {\"id\":\"a\"} ], \"unknown\":[\"\\ud83d\"] }\n"
	s.write("conversations/a.json", file)
	e, err := s.Rename(t.Context(), "Old", "New \"分\"")
	if err != nil || e.Title != "New \"分\"" || e.ID != "a" {
		t.Errorf("Rename = %+v, %v", e, err)
	}
	if got, want := s.read("conversations/a.json"), strings.Replace(file, `"Old"`, `"New \"分\""`, 1); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	s.append(workspace.Append{Session: "a", Text: "x"})
	point := s.checkpoint("a")
	if _, err := s.Rename(t.Context(), point.ID, "Point"); err != nil || !s.session(point.ID).FitsSeal {
		t.Errorf("a checkpoint that was renamed: %v", err)
	}
}

// trash returns the names of the files in the trash.
func (s *space) trash() (names []string) {
	s.t.Helper()
	for name := range s.files() {
		if strings.HasPrefix(name, ".bough/trash/") {
			names = append(names, filepath.Base(name))
		}
	}
	slices.Sort(names)
	return names
}

func TestRemove(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Long")
	s.say("a", "b", "c")
	next := s.entry(root).ContinuedTo[0]
	point := s.checkpoint(next)
	content := s.read(session.FileName(next))
	s.write(session.FileName(next)+".bak", "older")
	other := s.new("Other")
	remove := func(id string, o workspace.RemoveOptions) error {
		_, err := s.Remove(t.Context(), id, o)
		return err
	}
	if err := remove(next, workspace.RemoveOptions{}); code(err) != fault.HasChildren {
		t.Errorf("removal of the source of a checkpoint: %v", err)
	}
	e, err := s.Remove(t.Context(), next, workspace.RemoveOptions{Force: true})
	if err != nil || e.ID != next || e.MessageCount != 2 || !slices.Equal(e.Lineage, []string{root, next}) {
		t.Errorf("Remove = %+v, %v", e, err)
	}
	if got := s.trash(); !slices.Equal(got, []string{next + ".json", next + ".json.bak"}) {
		t.Errorf("the trash holds %q", got)
	}
	for name, data := range s.files() {
		if filepath.Base(name) == next+".json" && data != content {
			t.Errorf("%s holds %s", name, data)
		}
	}
	if to := s.member(root, "continued_to"); to != "[]" {
		t.Errorf("the first file has continued_to %s", to)
	}
	if got := s.texts(point.ID); got != "a b c" {
		t.Errorf("the checkpoint shows %q", got)
	}
	if got := s.entry(point.ID).Lineage; !slices.Equal(got, []string{root, next, point.ID}) {
		t.Errorf("its lineage is %q", got)
	}
	healthy(t, s)

	for _, text := range []string{"d", "e", "f", "g"} {
		s.append(workspace.Append{Session: root, Text: text})
	}
	if err := remove(root, workspace.RemoveOptions{Force: true}); code(err) != fault.HasChildren {
		t.Errorf("forced removal of a continued session: %v", err)
	}
	if err := remove(root, workspace.RemoveOptions{Line: true, Force: true}); err != nil {
		t.Errorf("removal of the line: %v", err)
	}
	if got := allIDs(t, s); len(got) != 2 || !slices.Contains(got, point.ID) || !slices.Contains(got, other) {
		t.Errorf("the remaining sessions are %q", got)
	}
	if pos, err := s.Head(t.Context()); err != nil || pos == nil || pos.Head.Session != other {
		t.Errorf("the head is at %+v, %v", pos, err)
	}
	if err := remove(other, workspace.RemoveOptions{}); err != nil {
		t.Error(err)
	}
	if pos, err := s.Head(t.Context()); err != nil || pos != nil {
		t.Errorf("the head after a removal is %+v, %v", pos, err)
	}
	healthy(t, s)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("")
	ids := s.say("a", "b", "c")
	branch := s.branch(root + "@" + ids[1]).ID
	other := s.say("x", "y")
	alone := s.new("")
	for _, c := range []struct {
		a, b, common string
		left, right  []string
	}{
		{root, branch, ids[1], ids[2:], other},
		{root, root, ids[2], nil, nil},
		{root, root + "@" + ids[0], ids[0], ids[1:], nil},
		{root, alone, "", ids, nil},
	} {
		d, err := s.Diff(t.Context(), c.a, c.b, session.ReadOptions{})
		if err != nil || string(d.Common) != c.common || !slices.Equal(d.A, c.left) || !slices.Equal(d.B, c.right) {
			t.Errorf("Diff(%q, %q) = %+v, %v, want %q, %q, %q", c.a, c.b, d, err, c.common, c.left, c.right)
		}
	}
}

// shape formats a tree as nested ids.
func shape(nodes []workspace.TreeEntry, names map[string]string) string {
	var list []string
	for _, n := range nodes {
		s := names[n.ID]
		if len(n.Children) > 0 {
			s += "(" + shape(n.Children, names) + ")"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func TestTreeAndList(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	names := map[string]string{}
	name := func(id, name string) string { names[id] = name; return id }
	root := name(s.new("Root"), "root")
	ids := s.say("a", "b", "c")
	next := name(s.entry(root).ContinuedTo[0], "next")
	point := name(s.checkpoint(root+"@"+ids[0]).ID, "point")
	branch := name(s.branch(next).ID, "branch")
	twig := name(s.append(workspace.Append{Text: "d"}).Session, "twig")
	fork := name(s.append(workspace.Append{Session: point, Text: "e"}).Session, "fork")
	alone := name(s.new("Alone"), "alone")
	const whole = "root(next(branch(twig)) point(fork))"
	for of, want := range map[string]string{"": whole + " alone", root: whole, twig: whole, "Root": whole, fork: whole, alone: "alone"} {
		forest, err := s.Tree(t.Context(), of)
		nodes := forest.Roots
		if got := shape(nodes, names); err != nil || got != want {
			t.Errorf("Tree(%q) = %s, %v, want %s", names[of], got, err, want)
		}
	}
	if err := os.Remove(filepath.Join(s.Dir(), session.FileName(branch))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir(), session.FileName(point))); err != nil {
		t.Fatal(err)
	}
	forest, err := s.Tree(t.Context(), "")
	nodes := forest.Roots
	if got, want := shape(nodes, names), "root(next fork) twig alone"; err != nil || got != want {
		t.Errorf("without the branch and the checkpoint the tree is %s, %v, want %s", got, err, want)
	}

	for kind, want := range map[session.Kind]string{"": "alone fork twig next root", session.Root: "alone root", session.Continuation: "twig next", session.Branch: "fork", session.Checkpoint: ""} {
		listing, err := s.List(t.Context(), kind)
		entries := listing.Sessions
		var got []string
		for _, e := range entries {
			got = append(got, names[e.ID])
		}
		if strings.Join(got, " ") != want || err != nil || entries == nil {
			t.Errorf("List(%q) = %q, %v, want %q", kind, got, err, want)
		}
	}
}

// TestDoctor: doctor makes each repair that loses nothing, once.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("")
	s.say("a", "b", "c")
	next := s.entry(root).ContinuedTo[0]
	whole := s.read(session.FileName(root))
	s.write(session.FileName(root), strings.Replace(whole, next, "elsewhere", 1))
	s.write("conversations/."+next+".json.bough-tmp", "half")
	s.write("conversations/session_index.json", "{")
	s.write("conversations/torn.json", `{"messages":{`)
	kinds := func(fix bool) string {
		report, err := s.Doctor(t.Context(), doctor.Options{Fix: fix})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		fixed := true
		for _, p := range report.Problems {
			fixed = fixed && p.Fixed
			list = append(list, p.Kind+map[bool]string{true: "+", false: ""}[p.Fixed])
		}
		if report.OK != fixed {
			t.Errorf("doctor reports ok: %v of %+v", report.OK, report.Problems)
		}
		slices.Sort(list)
		return strings.Join(list, " ")
	}
	before := s.files()
	if got, want := kinds(false), "damaged_index damaged_session left_over one_sided_link"; got != want {
		t.Errorf("doctor finds %s, want %s", got, want)
	}
	sameFiles(t, "doctor", before, s.files())
	if got, want := kinds(true), "damaged_index+ damaged_session one_sided_link+"; got != want {
		t.Errorf("doctor fixes %s, want %s", got, want)
	}
	if got := s.read(session.FileName(root)); got != whole {
		t.Errorf("the first file is now\n%s\nwant\n%s", got, whole)
	}
	if got, want := kinds(true), "damaged_session"; got != want {
		t.Errorf("afterwards doctor finds %s, want %s", got, want)
	}
	if got := s.trash(); !slices.Contains(got, "session_index.json") {
		t.Errorf("the trash holds %q", got)
	}
	if s.read("conversations/torn.json") != `{"messages":{` {
		t.Error("doctor changed a damaged session")
	}
}
