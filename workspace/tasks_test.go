package workspace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// chat writes a session file with messages in short: "b" follows the message before it,
// "b<a" answers a, "b<<a" does so in a file that was already continued, "-b" was not stored
// by a program over HTTP, and "p|a" ends the header of a file that continues the session p
// at the message a.
func (s *space) chat(id, metadata, messages string) {
	s.t.Helper()
	var list []string
	for i, word := range strings.Fields(messages) {
		own := `"format":"openai"`
		if rest, ok := strings.CutPrefix(word, "-"); ok {
			word, own = rest, `"x":1`
		}
		var more string
		name, parent, answers := strings.Cut(word, "<")
		if late, ok := strings.CutPrefix(parent, "<"); ok {
			parent, own = late, own+`,"continued":true`
		}
		if answers {
			more = fmt.Sprintf(`"parent_id":%q,`, parent)
		}
		if from, at, ok := strings.Cut(word, "|"); ok {
			name = "marker of " + from
			more = fmt.Sprintf(`"type":"session_transition","previous_session":%q,"parent_id":%q,`, from, at)
		}
		list = append(list, fmt.Sprintf(`{"role":"user","content":"text of %s","id":%q,"timestamp":"2026-03-14T09:%02d:%02d.000000+00:00","metadata":{%s"bough":{%s}}}`,
			name, name, i/60, i%60, more, own))
	}
	s.messages(id, metadata, list...)
}

// look records that messages of a session were tracked, with or without success.
func (s *space) look(id, messages string, tasks ...task.Task) *task.Record {
	s.t.Helper()
	r := task.Record{Session: id, Messages: strings.Fields(messages), Status: task.Success, Tasks: tasks}
	done, err := s.RecordTasks(s.t.Context(), r)
	if err != nil {
		s.t.Fatalf("Worked(%+v): %v", r, err)
	}
	return done
}

func (s *space) fail(id, messages string) {
	s.t.Helper()
	r := task.Record{Session: id, Messages: strings.Fields(messages), Status: task.Failed, Error: "no model"}
	if _, err := s.RecordTasks(s.t.Context(), r); err != nil {
		s.t.Fatal(err)
	}
}

// found returns a new task that is anchored at a message.
func found(text, anchor string) task.Task {
	return task.Task{
		Session: "s", Message: anchor, Branch: "m1", Status: task.Pending,
		Data: json.RawMessage(fmt.Sprintf(`{"task_description":%q}`, text)), Messages: []string{anchor},
	}
}

// pending describes the pending messages of the paths to messages, or to all leaves.
func (s *space) pending(name string, messages ...string) string {
	s.t.Helper()
	list, err := s.Line(name).Pending(s.t.Context(), messages...)
	if err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for _, p := range list {
		text := fmt.Sprintf("%s:%d", p.Message, p.Count)
		if p.Count > 0 {
			text += " from " + p.First
		}
		if p.Covered {
			text += " covered"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// tasks describes the tasks of a line, or of a path.
func (s *space) tasks(name, message string) string {
	s.t.Helper()
	list, err := s.Line(name).Tasks(s.t.Context(), message)
	if err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for _, t := range list {
		texts = append(texts, fmt.Sprintf("%d %s", t.Order, t.Description()))
	}
	return strings.Join(texts, ", ")
}

// tracking describes the tracking status of a line.
func (s *space) tracking(name string) string {
	s.t.Helper()
	t, err := s.Line(name).Tracking(s.t.Context(), func(id string) bool { return id == "m2" })
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%d/%d/%d/%d", t.Observed, t.InProcess, t.Pending, t.Failed)
}

var wide = task.Sizes{Max: 32, Before: 3}

// batch describes the next batch of a path.
func (s *space) batch(name, message string, sizes task.Sizes) string {
	s.t.Helper()
	b, err := s.Line(name).Batch(s.t.Context(), message, sizes)
	if err != nil {
		s.t.Fatal(err)
	}
	if b == nil {
		return "nothing"
	}
	ids := func(nodes []lines.Node) string {
		var list []string
		for _, n := range nodes {
			if n.Text() != "text of "+n.ID {
				s.t.Errorf("%s says %q", n.ID, n.Text())
			}
			if n.UUID != sessionid.MessageUUID(b.UUID, n.ID) || n.Time.IsZero() {
				s.t.Errorf("%s is %s, of %v", n.ID, n.UUID, n.Time)
			}
			list = append(list, n.ID)
		}
		return strings.Join(list, " ")
	}
	if b.UUID != sessionid.UUID(b.Line) {
		s.t.Errorf("the UUID of %s is %s", b.Line, b.UUID)
	}
	return fmt.Sprintf("%s: [%s] %s | %s of %s", b.Branch, ids(b.Context), ids(b.Nodes), strings.Join(b.New, " "), strings.Join(b.Path, " "))
}

// seedTree is an example: M1 to M6, and M7, M8 below M2.
const seedTree = "m1 m2 m3 m4 m5 m6 m7<m2 m8"

// TestPending: messages are pending per path, and are tracked up to a fork.
func TestPending(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.chat("s", "", seedTree)
	is := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	is("at first", s.pending("s"), "m6:6 from m1, m8:4 from m1")
	is("of some", s.pending("s", "m7", "m8", "m3", "nobody", "m6", "m1"),
		"m7:3 from m1 covered, m8:4 from m1, m3:3 from m1 covered, m6:6 from m1, m1:1 from m1 covered")
	is("the first of a path", s.batch("s", "m6", wide), "m1: [] m1 m2 | m1 m2 of m1 m2")
	is("the first of the other", s.batch("s", "m8", wide), "m1: [] m1 m2 | m1 m2 of m1 m2")
	is("the first of its part", s.batch("s", "m1", wide), "m1: [] m1 | m1 of m1")

	s.look("s", "m1 m2", found("before the fork", "m2"))
	is("after that", s.pending("s"), "m6:4 from m3, m8:2 from m7")
	is("the next", s.batch("s", "m6", wide), "m1: [m1 m2] m3 m4 m5 m6 | m3 m4 m5 m6 of m1 m2 m3 m4 m5 m6")
	is("the next in small", s.batch("s", "m6", task.Sizes{Max: 3, Before: 1}), "m1: [m2] m3 m4 m5 | m3 m4 m5 of m1 m2 m3 m4 m5")
	is("the next in the branch", s.batch("s", "m8", wide), "m7: [m1 m2] m7 m8 | m7 m8 of m1 m2 m7 m8")

	s.look("s", "m7 m8", found("in the branch", "m8"))
	is("in the branch", s.batch("s", "m8", wide), "nothing")
	is("then", s.pending("s"), "m6:4 from m3")
	is("the tasks of the branch", s.tasks("s", "m8"), "1 before the fork, 2 in the branch")
	is("those further up", s.tasks("s", "m7"), "1 before the fork")
	is("those of the other", s.tasks("s", "m6"), "1 before the fork")
	is("all of them", s.tasks("s", ""), "1 before the fork, 2 in the branch")
	is("how far it is", s.tracking("s"), "4/0/4/0")
	s.fail("s", "m3 m4")
	s.fail("s", "m3 m4")
	is("after two failures", s.pending("s"), "m6:4 from m3")
	s.fail("s", "m3 m4")
	is("after three", s.pending("s"), "m6:2 from m5")
	is("how far it is then", s.tracking("s"), "4/0/2/2")
	is("the next batch", s.batch("s", "m6", wide), "m1: [m2 m3 m4] m5 m6 | m5 m6 of m1 m2 m3 m4 m5 m6")
	s.look("s", "m5 m6")
	is("at last", s.pending("s"), "")
}

// TestBatchBetween: a batch shows untracked messages between new ones, and does not count
// them as new.
func TestBatchBetween(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.chat("s", "", "-a -b m1 -c -d -e -f m2 m3 -g")
	if got, want := s.batch("s", "g", task.Sizes{Max: 9, Before: 2}), "a: [a b] m1 e f m2 m3 | m1 m2 m3 of a b m1 c d e f m2 m3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := s.tracking("s"); got != "0/1/2/0" {
		t.Errorf("it is %s", got)
	}
	s.chat("u", `"bough":{"untracked":true}`, "m1 m2")
	if p, b, far := s.pending("u"), s.batch("u", "m2", wide), s.tracking("u"); p != "" || b != "nothing" || far != "0/0/0/0" {
		t.Errorf("in an untracked line %s are pending, the batch is %s, the tracking %s", p, b, far)
	}
	s.chat("e", "", "")
	if p, far := s.pending("e"), s.tracking("e"); p != "" || far != "0/0/0/0" {
		t.Errorf("in an empty line %s are pending, the tracking is %s", p, far)
	}
}

// TestBranchNames: a branch is named by its first message, in any file of the line.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	for _, c := range []struct {
		name  string
		files [][2]string // metadata and messages of s1, s2 ...
		want  map[string]string
	}{
		{"the example", [][2]string{{"", seedTree}}, map[string]string{"m1": "m1", "m6": "m1", "m7": "m7", "m8": "m7"}},
		{"a branch of a branch", [][2]string{{"", "a b c d<a e f<d g<a"}}, map[string]string{"c": "a", "e": "d", "f": "f", "g": "g"}},
		{"two roots", [][2]string{{"", "a b c<nobody d"}}, map[string]string{"b": "a", "d": "c"}},
		{"a fork in file 2 of 4", [][2]string{
			{"", "a b"},
			{`"continued_from":["s1"]`, "s1|b c d x<<c y"},
			{`"continued_from":["s2"]`, "s2|d e f"},
			{`"continued_from":["s3"]`, "s3|f g"},
		}, map[string]string{"g": "a", "d": "a", "x": "x", "y": "x"}},
		{"a fork where a file ends", [][2]string{
			{"", "a b x<<b y"},
			{`"continued_from":["s1"]`, "s1|b c d"},
		}, map[string]string{"d": "a", "c": "a", "x": "x", "y": "x", "b": "a"}},
	} {
		for i, f := range c.files {
			s.chat(fmt.Sprint("s", i+1), f[0], f[1])
		}
		for message, want := range c.want {
			b, err := s.Line("s1").Batch(t.Context(), message, task.Sizes{Max: 100})
			for err == nil && b != nil && b.New[len(b.New)-1] != message { // up to a fork
				s.look("s1", strings.Join(b.New, " "))
				b, err = s.Line("s1").Batch(t.Context(), message, task.Sizes{Max: 100})
			}
			if err != nil || b == nil {
				t.Fatalf("%s: the batch with %s is %+v, %v", c.name, message, b, err)
			}
			if b.Branch != want || b.Line != "s1" {
				t.Errorf("%s: %s is in the branch %s of %s, want %s of s1", c.name, message, b.Branch, b.Line, want)
			}
			s.forgetTasks()
		}
		for i := range c.files {
			s.delete(session.FileName(fmt.Sprint("s", i+1)))
		}
	}
}

// TestCopies: messages copied with a branch or a checkpoint keep the tracking of their
// origin, and are tracked separately from then on.
func TestCopies(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.chat("home", `"continued_from":[]`, "m1 m2 m3 m4")
	s.look("home", "m1 m2", found("shared", "m2"))
	point := s.checkpoint("home@m3")
	branch := s.branch("home@m3")
	for _, id := range []string{point.ID, branch.ID} {
		if tasks, pending := s.tasks(id, ""), s.pending(id); tasks != "1 shared" || pending != "m3:1 from m3" {
			t.Errorf("%s has the tasks %q, and pending is %q", id, tasks, pending)
		}
	}
	shared, err := s.Line(branch.ID).Tasks(t.Context(), "m3")
	if err != nil || len(shared) != 1 {
		t.Fatal(shared, err)
	}
	changed := shared[0]
	changed.Message, changed.Data = "m3", json.RawMessage(`{"task_description":"changed"}`)
	b, err := s.Line(branch.ID).Batch(t.Context(), "m3", wide)
	if err != nil || b.Order != 1 || b.Line != branch.ID {
		t.Fatalf("%+v, %v", b, err)
	}
	own := found("own", "m3")
	own.Order = b.Order + 1
	s.look(branch.ID, "m3", changed, own)
	for id, want := range map[string]string{"home": "1 changed, 2 own", point.ID: "1 changed, 2 own", branch.ID: "1 changed, 2 own"} {
		if got := s.tasks(id, ""); got != want {
			t.Errorf("%s has the tasks %q, want %q", id, got, want)
		}
	}
	if got := s.pending("home"); got != "m4:1 from m4" {
		t.Errorf("pending is %q", got)
	}
	s.delete(session.FileName("home"))
	if got := s.tasks(point.ID, ""); got != "1 changed, 2 own" {
		t.Errorf("alone a checkpoint has the tasks %q", got)
	}
	if _, err := s.Line("home").Tasks(t.Context(), ""); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.NotFound {
		t.Errorf("the tasks of a removed line: %v", err)
	}
}

// TestTracked: each message of a path has its status, and its task on that path.
func TestTracked(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.chat("s", "", "m1 m2 -x m3 m4<m2 m5")
	first := s.look("s", "m1", found("one", "m1")).Tasks[0]
	about := found("two", "m3")
	about.Messages = []string{"m1", "m3"}
	second := s.look("s", "m3", about).Tasks[0]
	s.fail("s", "m4")
	path := func(p *lines.Path, err error) *lines.Path {
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	to := func(leaf string) *lines.Path {
		return path(s.Line("s").Path(t.Context(), leaf, session.ReadOptions{}))
	}
	untracked := to("m2")
	untracked.Line.Untracked = true
	for _, c := range []struct {
		name string
		path *lines.Path
		want string
	}{
		{"a path", to("m3"), "success two, running, disable_tracking, success two"},
		{"another path", to("m5"), "success one, running, pending no model, pending"},
		{"all", path(s.Line("s").All(t.Context(), session.ReadOptions{})), "success two, running, disable_tracking, success two, pending no model, pending"},
		{"nothing", &lines.Path{}, ""},
		{"an untracked line", untracked, "disable_tracking one, disable_tracking"},
	} {
		list, err := s.TrackingOf(t.Context(), c.path, func(id string) bool { return id == "m2" })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range list {
			name := map[string]string{first.ID: "one", second.ID: "two", "": ""}[m.Task]
			got = append(got, strings.Join(strings.Fields(string(m.Status)+" "+name+" "+m.Error), " "))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s is %s, want %s", c.name, s, c.want)
		}
	}
}
