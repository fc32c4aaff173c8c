package workspace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// keys returns the keys of a JSON object in their order.
func keys(t *testing.T, object []byte) string {
	t.Helper()
	members, err := rawjson.Members(object, rawjson.Root(object))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range members {
		list = append(list, m.Key)
	}
	return strings.Join(list, " ")
}

const (
	eightKeys = "id created_at last_active metadata messages llm_request_lifecycles tool_call_records tool_result_records"
	tenKeys   = "role content category id timestamp metadata tokens agent_id recipient_id message_type"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	first := s.append(workspace.Append{Text: "How wet is <too> wet?\n分岐 \u2028 🌿"})
	second := s.append(workspace.Append{Session: id, Text: "It depends.", Role: "assistant"})
	if first.Session != id || first.Parent != "" || second.Session != id || second.Parent != session.ID(first.Message) || second.ForkedFrom != "" {
		t.Errorf("appended %+v and %+v", first, second)
	}
	file := s.session(id)
	if got := keys(t, []byte(s.read(session.FileName(id)))); got != eightKeys {
		t.Errorf("the keys of the file are %s", got)
	}
	for i, m := range file.Messages {
		if got := keys(t, m.Raw); got != tenKeys {
			t.Errorf("the keys of message %d are %s", i, got)
		}
	}
	c := s.show(id)
	if m := c.Messages[0]; m.Text() != "How wet is <too> wet?\n分岐 \u2028 🌿" || m.Role() != "user" || file.Messages[0].Category() != "DIALOG" {
		t.Errorf("the first message is %q by %s", m.Text(), m.Role())
	}
	if c.Entry.MessageCount != 2 || session.Bough.Time(c.Entry.LastActive) != timeOf(c.Messages[1]) || !strings.Contains(s.read(session.FileName(id)), `"message_count": 2`) {
		t.Errorf("the entry is %+v, the newest message is of %s", c.Entry, timeOf(c.Messages[1]))
	}
	if _, err := s.Doctor(t.Context(), doctor.Options{}); err != nil || len(s.notes) > 0 {
		t.Errorf("%v, notes %q", err, s.notes)
	}
}

// TestAppendParent: the parent is the one named; else the head, if it is in this line and
// no message was added since; else the newest message.
func TestAppendParent(t *testing.T) {
	t.Parallel()
	rewind := func(at string) func(*space, map[string]string) {
		return func(s *space, ids map[string]string) {
			if _, err := s.Rewind(s.t.Context(), ids["chat"]+"@"+ids[at], checkpoint.CutOptions{}); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	elsewhere := func(s *space, _ map[string]string) { s.new("Elsewhere") }
	for _, c := range []struct {
		name   string
		before []func(*space, map[string]string)
		to     bool   // names the session
		parent string // named
		want   string // the path to the new message
	}{
		{"the head", nil, false, "", "a b c x"},
		{"the session", nil, true, "", "a b c x"},
		{"a parent", nil, true, "b", "a b x"},
		{"a parent at the head", nil, false, "a", "a x"},
		{"the newest message as parent", nil, true, "c", "a b c x"},
		{"a head that was set back", []func(*space, map[string]string){rewind("a")}, false, "", "a x"},
		{"the session of a head that was set back", []func(*space, map[string]string){rewind("a")}, true, "", "a x"},
		{"a parent against the head", []func(*space, map[string]string){rewind("a")}, true, "c", "a b c x"},
		{"a head set back, then a message elsewhere in the line", []func(*space, map[string]string){rewind("a"), func(s *space, ids map[string]string) {
			s.append(workspace.Append{Session: ids["chat"], Parent: ids["b"], Text: "y"})
		}}, true, "", "a b y x"},
		{"the same without a session", []func(*space, map[string]string){rewind("a"), func(s *space, ids map[string]string) {
			s.append(workspace.Append{Session: ids["chat"], Parent: ids["b"], Text: "y"})
		}}, false, "", "a b y x"},
		{"a head set back twice", []func(*space, map[string]string){rewind("a"), rewind("b")}, false, "", "a b x"},
		{"a head in another line", []func(*space, map[string]string){elsewhere}, true, "", "a b c x"},
		{"a head in another line, none in this", []func(*space, map[string]string){rewind("a"), elsewhere}, true, "", "a b c x"},
		{"a head that is damaged", []func(*space, map[string]string){rewind("a"), func(s *space, _ map[string]string) { s.write("head.json", `{"session_id"`) }}, true, "", "a b c x"},
	} {
		s := openSpace(t, t.TempDir(), 0)
		ids := map[string]string{"chat": s.new("Chat")}
		for _, text := range []string{"a", "b", "c"} {
			ids[text] = s.say(text)[0]
		}
		for _, f := range c.before {
			f(s, ids)
		}
		a := workspace.Append{Text: "x", Parent: ids[c.parent]}
		if c.to {
			a.Session = ids["chat"]
		}
		head, _ := s.Head(t.Context())
		out := s.append(a)
		if got := s.texts(ids["chat"] + "@" + out.Message); got != c.want {
			t.Errorf("%s: the path is %q, want %q", c.name, got, c.want)
		}
		path := s.show(ids["chat"] + "@" + out.Message).Messages
		if want := path[len(path)-2].ID; string(out.Parent) != want {
			t.Errorf("%s: the parent is %q, want %q", c.name, out.Parent, want)
		}
		after, err := s.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !c.to && (after.Head.Session != ids["chat"] || string(after.Head.Message) != out.Message):
			t.Errorf("%s: the head is at %+v, want the new message", c.name, after)
		case c.to && head != nil && *after != *head:
			t.Errorf("%s: the head is at %+v, want %+v as before", c.name, after, head)
		}
	}
}

// TestAppendInPlace: an in-place branch adds one message with a parent_id and changes no
// other byte of the messages.
func TestAppendInPlace(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("")
	said := s.say("a", "b", "c")
	before := s.session(id)
	out := s.append(workspace.Append{Session: id, Parent: said[0][:8], Text: "d"})
	after := s.session(id)
	if string(region(after, 0, 3)) != string(region(before, 0, 3)) || len(after.Messages) != 4 {
		t.Errorf("the messages are now %s", region(after, 0, len(after.Messages)))
	}
	if raw := string(after.Messages[3].Raw); !strings.Contains(raw, `"parent_id": "`+said[0]+`"`) || strings.Contains(raw, "bough") {
		t.Errorf("the new message is %s", raw)
	}
	next := s.append(workspace.Append{Session: id, Text: "e"})
	if raw := string(s.session(id).Messages[4].Raw); strings.Contains(raw, "parent_id") || next.Parent != session.ID(out.Message) {
		t.Errorf("the message after it is %s under %s", raw, next.Parent)
	}
}

func TestAppendRoles(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("")
	for _, c := range []struct{ asked, role, category string }{
		{"", "user", "DIALOG"},
		{"user", "user", "DIALOG"},
		{"assistant", "assistant", "DIALOG"},
		{"system", "system", "SYSTEM"},
		{"tool", "tool", "SYSTEM_OUTPUT"},
	} {
		s.append(workspace.Append{Text: "x", Role: c.asked})
		file := s.session(id)
		if m := file.Messages[len(file.Messages)-1]; m.Role() != c.role || m.Category() != c.category {
			t.Errorf("role %q becomes %s, %s, want %s, %s", c.asked, m.Role(), m.Category(), c.role, c.category)
		}
	}
}

// TestAppendTimes: a new time is at least a microsecond after the last one of its line,
// even if the clock goes back, and has the form of the folder's dialect.
func TestAppendTimes(t *testing.T) {
	at := time.Date(2026, 5, 25, 15, 32, 0, 123456789, time.FixedZone("", 7200))
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2026-05-25T13:32:00.123456+00:00", "2026-05-25T13:32:00.123457+00:00", "2026-05-25T13:32:00.123458+00:00"} {
		out, err := w.Append(t.Context(), workspace.Append{Text: "x"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.Show(t.Context(), out.Session, session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := timeOf(c.Messages[len(c.Messages)-1]); got != want {
			t.Errorf("the time is %s, want %s", got, want)
		}
		at = at.Add(-time.Hour)
	}

	local := time.Local
	time.Local = time.FixedZone("", -5*60*60)
	defer func() { time.Local = local }()
	s := openSpace(t, t.TempDir(), 0)
	s.write("conversations/a.json", `{"messages":[{"id":"m","timestamp":"2026-05-25T11:00:00"}]}`)
	s.append(workspace.Append{Session: "a", Text: "x"})
	if file := s.read("conversations/a.json"); !strings.Contains(file, `"timestamp": "2026-05-25T11:00:00.000001"`) {
		t.Errorf("in Penguin's dialect, at 15:32 UTC, the file is %s", file)
	}
}

// TestAppendBelowCheckpoint: messages that another program added to a checkpoint are part
// of the line, and bough still never writes to that file. Everything that Append stores can
// be read.
func TestAppendBelowCheckpoint(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("")
	ids := s.say("a", "b")
	point := s.checkpoint(root)
	s.messages("on", `"continued_from":["`+point.ID+`"],"continued_to":[]`,
		`{"id":"m","metadata":{"type":"session_transition","previous_session":"`+point.ID+`"}}`, `{"id":"c","content":"c"}`)
	frozen := s.read(session.FileName(point.ID))
	out, err := s.Append(t.Context(), workspace.Append{Session: "on", Parent: ids[0], Text: "x"})
	if got := s.read(session.FileName(point.ID)); got != frozen {
		t.Errorf("the checkpoint is now\n%s", got)
	}
	if err == nil {
		if got := s.texts(out.Session + "@" + out.Message); got != "a x" {
			t.Errorf("the path to the new message is %q", got)
		}
	} else if code(err) != fault.ReadOnly {
		t.Errorf("Append = %v", err)
	}
	if got := s.texts("on"); got != "a b c" {
		t.Errorf("the continuation shows %q", got)
	}
}

// TestAppendRefused: see also TestRefused.
func TestAppendRefused(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	if _, err := s.New(t.Context(), "Chat"); err != nil {
		t.Fatal(err)
	}
	ids := s.say("a", "b")
	for _, c := range []struct {
		a    workspace.Append
		want fault.Code
	}{
		{workspace.Append{}, fault.Usage},
		{workspace.Append{Text: " \n\t"}, fault.Usage},
		{workspace.Append{Text: "\xff"}, fault.Usage},
		{workspace.Append{Text: "x", Role: "User"}, fault.Usage},
		{workspace.Append{Text: "x", Parent: "-"}, fault.NotFound},
		{workspace.Append{Text: "x", Parent: "nothing like it"}, fault.NotFound},
		{workspace.Append{Text: "x", Parent: ids[0] + "0"}, fault.NotFound},
		{workspace.Append{Text: "x", Session: "nothing like it"}, fault.NotFound},
	} {
		before := s.files()
		if _, err := s.Append(t.Context(), c.a); code(err) != c.want {
			t.Errorf("Append(%+v) = %v, want %s", c.a, err, c.want)
		}
		sameFiles(t, fmt.Sprintf("%+v", c.a), before, s.files())
	}
}

// TestAppendClarification: related questions are opened once and closed once, on each path
// separately.
func TestAppendClarification(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	add := func(parent string, kind turn.Kind) (string, error) {
		m, err := s.Append(t.Context(), workspace.Append{Session: id, Text: "x", Parent: parent, Kind: kind})
		if err != nil {
			return "", err
		}
		return m.Message, nil
	}
	if _, err := add("", turn.KindClarificationClosed); code(err) != fault.Refused {
		t.Errorf("close without open = %v", err)
	}
	first, err := add("", turn.KindClarificationOpened)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := add("", turn.KindClarificationOpened); code(err) != fault.Refused {
		t.Errorf("opened twice = %v", err)
	}
	asked, err := add("", "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // two branches
		if _, err := add(asked, turn.KindClarificationClosed); err != nil {
			t.Error(err)
		}
	}
	if _, err := add("", turn.KindClarificationClosed); code(err) != fault.Refused {
		t.Errorf("closed twice = %v", err)
	}
	if _, err := add(first, "tool_boundary"); code(err) != fault.Usage {
		t.Errorf("a kind that the role implies = %v", err)
	}
	if text := s.read("conversations/" + id + ".json"); strings.Count(text, `"kind": "clarification_closed"`) != 2 {
		t.Errorf("the file is %s", text)
	}
	healthy(t, s)
}
