package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// damages returns n ways to damage a single file of a workspace: truncated, or with one
// byte changed, each at a different offset.
func damages(files map[string]string, seed uint64, n int) (list []defect) {
	random := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for name := range files {
		if path.Dir(name) == session.Dir {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i := range n {
		name := names[i%len(names)]
		data := files[name]
		at := random.IntN(len(data))
		is := data[at] ^ 1<<random.IntN(8)
		how, damaged := fmt.Sprintf("%s with %q at %d", name, is, at), data[:at]+string([]byte{is})+data[at+1:]
		if i%3 == 0 {
			how, damaged = fmt.Sprintf("%s cut at %d", name, at), data[:at]
		}
		list = append(list, defect{how, func(s *space) { s.write(name, damaged) }, name})
	}
	return list
}

// talk returns the messages of a session's path, or the error of showing it.
func (s *space) talk(id string) string {
	c, err := s.Show(s.t.Context(), id, session.ReadOptions{})
	if err != nil {
		return err.Error()
	}
	return strings.Join(rawMessages(c.Messages), "\n")
}

// TestDamages: doctor finds a file that was truncated or in which one byte changed, or the
// change affects no more than one message. The repair loses no byte, and all sessions that
// do not need the file can be used after it; the session of the file can be used too, or
// doctor reports why not.
func TestDamages(t *testing.T) {
	t.Parallel()
	each := testsize.Of(8, 20, 45)
	ids := []string{"a", "b", "c"}
	well, found := intact(t), 0
	for i, c := range damages(well.files(), 7, each) {
		s := intact(t)
		talks := map[string]string{}
		for _, id := range ids {
			talks[id] = s.talk(id)
		}
		c.apply(s)
		before := s.files()
		report, err := s.Doctor(t.Context(), doctor.Options{})
		if err != nil {
			t.Fatalf("%d: %s: %v", i, c.name, err)
		}
		if !report.OK {
			found++
		}
		for _, id := range ids {
			talk := s.talk(id)
			if report.OK && strings.Count(talk, "\n") != strings.Count(talks[id], "\n") {
				t.Errorf("%s: %s is\n%s\nand doctor finds nothing", c.name, id, talk)
			}
		}
		if report, err = s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s.nothingLost(before)
		damaged := ""
		for _, p := range report.Problems {
			if !p.Fixed && p.Kind == doctor.DamagedSession {
				damaged = p.Path
			}
		}
		for _, id := range ids {
			needs := session.FileName(id) == c.kinds || id == "b" && c.kinds == session.FileName("a") || id == "a" && c.kinds == session.FileName("b")
			_, err := s.Show(t.Context(), id, session.ReadOptions{})
			switch {
			case !needs && s.talk(id) != talks[id]:
				t.Errorf("%s: %s is\n%s", c.name, id, s.talk(id))
			case needs && err != nil && damaged != c.kinds && code(err) != fault.Damaged:
				t.Errorf("%s: %s: %v; doctor finds %+v", c.name, id, err, report.Problems)
			}
		}
		s.append(workspace.Append{Session: s.new("goes on"), Text: "well"})
	}
	t.Logf("of %d damages doctor finds %d", each, found)
}

// TestVectorsRepaired: doctor repairs every vector without losing a byte. Each session that
// could be read before can be read after it, unchanged, and a second run repairs nothing.
func TestVectorsRepaired(t *testing.T) {
	t.Parallel()
	all := func(*fixtures.Vector) bool { return true }
	eachVector(t, ofEachClause(all), func(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
		s := &space{Workspace: w, t: t}
		usable := v.Usable
		if v.Expect == fixtures.Data {
			usable = append(usable, v.Session)
		}
		talks := map[string]string{}
		for _, id := range usable {
			talks[id] = s.talk(id)
		}
		before := s.files()
		left := slices.DeleteFunc(s.kinds(doctor.Options{Fix: true}), func(kind string) bool { return strings.HasSuffix(kind, " fixed") })
		s.nothingLost(before)
		for _, id := range usable {
			if talk := s.talk(id); talk != talks[id] {
				t.Errorf("%s was\n%s\nand is\n%s", id, talks[id], talk)
			}
		}
		s.expect(doctor.Options{}, left...)
		s.expect(doctor.Options{Fix: true}, left...)
	})
}
