package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
)

func (s *space) lines(o lines.ListOptions) (titles []string, more bool) {
	s.t.Helper()
	l, err := s.Lines(s.t.Context(), o)
	if err != nil {
		s.t.Fatalf("Lines(%+v): %v", o, err)
	}
	for _, line := range l.Lines {
		titles = append(titles, line.Title)
	}
	return titles, l.More
}

func TestLines(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	s.new("first")
	s.say("a", "b", "c", "d", "e") // three files
	for i, configs := range []string{`{"model":"x","deep":{"a":[1,{"b":2}],"c":null},"big":12345678901234567890}`, `{"model":"y"}`, ""} {
		o := lines.Options{Title: fmt.Sprint("line ", i), User: "ada"}
		if configs != "" {
			o.Configs = []byte(configs)
		}
		if _, _, err := s.NewLine(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	s.checkpoint("first")
	all := []string{"first", "line 0", "line 1", "line 2", "first (checkpoint)"}
	for _, c := range []struct {
		o    lines.ListOptions
		want []string
		more bool
	}{
		{lines.ListOptions{}, all, false},
		{lines.ListOptions{Limit: 2}, all[:2], true},
		{lines.ListOptions{Limit: 5}, all, false},
		{lines.ListOptions{Limit: 1, Newest: true}, all[4:], true},
		{lines.ListOptions{User: "ada"}, all[1:4], false},
		{lines.ListOptions{User: "bob"}, nil, false},
		{lines.ListOptions{Configs: []byte(`{}`)}, []string{"line 0", "line 1", "first (checkpoint)"}, false},
		{lines.ListOptions{Configs: []byte(`{"bough":{"kind":"checkpoint"}}`)}, all[4:], false},
		{lines.ListOptions{Configs: []byte(`{"model":"y"}`)}, all[2:3], false},
		{lines.ListOptions{Configs: []byte(`{"deep":{"a":[{"b":2}]}}`)}, all[1:2], false},
		{lines.ListOptions{Configs: []byte(`{"deep":{"c":null}}`)}, all[1:2], false},
		{lines.ListOptions{Configs: []byte(`{"deep":{"a":[3]}}`)}, nil, false},
		{lines.ListOptions{Configs: []byte(`{"model":["x"]}`)}, nil, false},
		{lines.ListOptions{Configs: []byte(`{"other":null}`)}, nil, false},
		{lines.ListOptions{Configs: []byte(`{"deep":{"a":[1.0]}}`)}, all[1:2], false},
		{lines.ListOptions{Configs: []byte(`{"big":12345678901234567890}`)}, all[1:2], false},
		{lines.ListOptions{Configs: []byte(`{"big":12345678901234567891}`)}, nil, false},
	} {
		if got, more := s.lines(c.o); !slices.Equal(got, c.want) || more != c.more {
			t.Errorf("Lines(%+v %s) = %q, %v, want %q, %v", c.o, c.o.Configs, got, more, c.want, c.more)
		}
	}
	for _, newest := range []bool{false, true} {
		var got []string
		o := lines.ListOptions{Limit: 1, Newest: newest}
		for range 10 {
			l, err := s.Lines(t.Context(), o)
			if err != nil || len(l.Lines) == 0 {
				t.Fatal(l, err)
			}
			got = append(got, l.Lines[0].Title)
			o.After = &lines.Cursor{Time: l.Lines[0].CreatedAt, UUID: l.Lines[0].UUID}
			if !l.More {
				break
			}
		}
		if newest {
			slices.Reverse(got)
		}
		if !slices.Equal(got, all) {
			t.Errorf("page by page the lines are %q", got)
		}
	}
}

// TestLinesOfAnyTime holds that paging ends and returns every line once, even if only the
// file has the creation time of a line, or its clock is finer than microseconds.
func TestLinesOfAnyTime(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	want := []string{"zero", "old", "none", "fine", "finer", "late"}
	for i, at := range []string{
		"0001-01-01T00:00:00Z", "1600-01-01T00:00:00Z", "",
		"2026-05-25T15:32:00.123456789Z", "2026-05-25T15:32:00.123456999Z", "2300-01-01T00:00:00Z",
	} {
		name := session.FileName(want[i])
		if at != "" {
			at = fmt.Sprintf(`"created_at":%q,`, at)
		}
		s.write(name, fmt.Sprintf(`{"session_id":%q,%s"messages":[{"id":"m1","content":"x"}]}`, want[i], at))
		was := time.Date(2020, 1, 1, 0, 0, 0, 123456789, time.UTC)
		if err := os.Chtimes(filepath.Join(s.Dir(), name), was, was); err != nil {
			t.Fatal(err)
		}
	}
	for _, newest := range []bool{false, true} {
		var got []string
		o := lines.ListOptions{Limit: 1, Newest: newest}
		for range 10 {
			l, err := s.Lines(t.Context(), o)
			if err != nil || len(l.Lines) == 0 {
				t.Fatal(got, l, err)
			}
			got = append(got, l.Lines[0].ID)
			// The times that a cursor can hold.
			o.After = &lines.Cursor{Time: time.Unix(0, l.Lines[0].CreatedAt.UnixNano()), UUID: l.Lines[0].UUID}
			if !l.More {
				break
			}
		}
		if newest {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("page by page the lines are %q, want %q", got, want)
		}
	}
}

// TestLineNames holds that every line has a UUID and is found by it, and by no string that
// only resembles it.
func TestLineNames(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	const uuid = "4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77"
	root := s.new(uuid) // a title
	s.say("a", "b", "c")
	s.messages("claude-"+uuid, "", `{"id":"m1","content":"x"}`)
	for _, name := range []string{root, "claude-" + uuid} {
		l, err := s.Line("urn:uuid:" + sessionid.UUID(name)).Entry(t.Context())
		if err != nil || l.ID != name || l.UUID != sessionid.UUID(name) {
			t.Errorf("the line of %s is %+v, %v", name, l, err)
		}
	}
	if _, err := s.Line("urn:uuid:" + uuid).Entry(t.Context()); code(err) != fault.NotFound {
		t.Errorf("a title is accepted as a UUID: %v", err)
	}
	last := s.entry(root).ContinuedTo[0]
	if l, err := s.Line("urn:uuid:" + sessionid.UUID(last)).Entry(t.Context()); err != nil || l.ID != root {
		t.Errorf("the line of a continuation is %+v, %v", l, err)
	}
	if l, existed, err := s.NewLine(t.Context(), lines.Options{UUID: uuid}); err != nil || existed || l.ID != uuid || l.UUID != uuid {
		t.Errorf("a line of its own UUID is %+v, %v, %v", l, existed, err)
	}
	if l, existed, err := s.NewLine(t.Context(), lines.Options{UUID: uuid, User: "ada"}); err != nil || !existed || l.User != "" {
		t.Errorf("the second call returns %+v, %v, %v", l, existed, err)
	}
	if _, err := s.Remove(t.Context(), "urn:uuid:"+uuid, workspace.RemoveOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := s.Line("urn:uuid:" + uuid).Entry(t.Context()); code(err) != fault.NotFound {
		t.Errorf("a removed line is found: %v", err)
	}
	m1 := sessionid.MessageUUID(sessionid.UUID("claude-"+uuid), "m1")
	for _, name := range []string{m1, strings.ToUpper(m1), "urn:uuid:" + m1, "m1"} {
		if got := s.path("claude-"+uuid, name); got != "x" {
			t.Errorf("the path to %q is %q", name, got)
		}
	}
	if _, err := s.Line("claude-"+uuid).Path(t.Context(), "urn:uuid:m1", session.ReadOptions{}); code(err) != fault.NotFound {
		t.Errorf("an id is accepted as a UUID: %v", err)
	}
}

func TestConfigsAndEvents(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Bread")
	s.say("a", "b", "c")
	last := s.entry(root).ContinuedTo[0]
	for _, c := range []struct {
		configs string
		merge   bool
		want    string
	}{
		{`{"a":{"b":1},"c":2}`, false, `{"a":{"b":1},"c":2}`},
		{`{"a":{"x":1},"c":null,"d":12345678901234567890}`, true, `{"a":{"x":1},"d":12345678901234567890}`},
		{`{"e":1}`, false, `{"e":1}`},
		{`{}`, true, `{"e":1}`},
	} {
		l, err := s.Line(last).SetConfigs(t.Context(), []byte(c.configs), c.merge)
		if err != nil || strings.Join(strings.Fields(string(l.Configs)), "") != c.want {
			t.Errorf("%s, merged %v: %s, %v, want %s", c.configs, c.merge, l.Configs, err, c.want)
		}
	}
	if _, err := s.Line(root).SetConfigs(t.Context(), []byte(`[1]`), true); code(err) != fault.Usage {
		t.Errorf("configs that are a list: %v", err)
	}
	for range 3 {
		if _, err := s.Line(last).AddEvent(t.Context(), "seen", []byte(`{"n":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	events, err := s.Line(root).Events(t.Context())
	if err != nil || len(events) != 3 || events[0].Type != "seen" || !events[1].CreatedAt.After(events[0].CreatedAt) {
		t.Errorf("the events are %+v, %v", events, err)
	}
	s.messages("odd", `"bough":{"events":"mine"}`, `{"id":"m1"}`)
	if _, err := s.Line("odd").AddEvent(t.Context(), "seen", nil); code(err) != fault.Refused {
		t.Errorf("an event in place of another value: %v", err)
	}
	s.messages("more", `"bough":{"events":[{"type":"seen","data":{},"mine":1e-07}]}`, `{"id":"m1"}`)
	if _, err := s.Line("more").AddEvent(t.Context(), "seen", nil); err != nil || !strings.Contains(s.read(session.FileName("more")), `"mine":1e-07`) {
		t.Errorf("an event beside another program's: %v", err)
	}
	point := s.checkpoint(root)
	if l, err := s.Line(point.ID).Entry(t.Context()); err != nil || string(l.Configs) == "" {
		t.Errorf("the checkpoint is %+v, %v", l, err)
	}
	if events, err := s.Line(point.ID).Events(t.Context()); err != nil || len(events) != 0 {
		t.Errorf("the events of the checkpoint are %v, %v", events, err)
	}
	healthy(t, s)
}

// TestCopyLine copies a line of several files with branches in each: the copy has the same
// messages, byte for byte except for parents that must be named, in the same tree, with the
// same newest leaf.
func TestCopyLine(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	root := s.new("Bread")
	ids := s.say("a", "b", "c", "d", "e", "f", "g")
	x := s.append(workspace.Append{Session: root, Parent: ids[1], Text: "x"}).Message
	s.append(workspace.Append{Session: root, Parent: ids[3], Text: "y"})
	s.append(workspace.Append{Session: root, Parent: x, Text: "z"}) // the newest, in the first file
	whole := func(name string) (edges []string, newest string) {
		p, err := s.Line(name).All(t.Context(), session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Nodes {
			edges = append(edges, n.Parent+" "+n.UUID+" "+n.Text()+" "+n.Time.String())
		}
		slices.Sort(edges)
		return edges, s.path(name, "")
	}
	want, newest := whole(root)
	l, err := s.Line(root).Copy(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	got, leaf := whole(l.ID)
	if !slices.Equal(got, want) || leaf != newest {
		t.Errorf("the copy is\n%q, newest %q\nwant\n%q, %q", got, leaf, want, newest)
	}
	if e := s.entry(l.ID); e.Kind != session.Branch || string(e.BranchedFrom) == "" || e.MessageCount != 10 {
		t.Errorf("the copy is %+v", e)
	}
	if _, err := s.Line(root).Copy(t.Context(), 9); code(err) != fault.Refused {
		t.Errorf("a copy of too many messages: %v", err)
	}
	s.store(l.ID, "", "on")
	if _, err := s.Remove(t.Context(), root, workspace.RemoveOptions{Line: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	if got := s.path(l.ID, ""); got != newest+" on" {
		t.Errorf("the copy alone has %q", got)
	}
	healthy(t, s)
	empty, err := s.Line(s.new("Empty")).Copy(t.Context(), 0)
	if err != nil || s.path(empty.ID, "") != "" {
		t.Errorf("the copy of an empty line is %+v, %v", empty, err)
	}
}
