package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// member returns a member of a session's metadata as compact JSON, "" if absent.
func (s *space) member(id, key string) string {
	s.t.Helper()
	value := s.session(id).Metadata().Get(key)
	if value == nil {
		return ""
	}
	var b bytes.Buffer
	if err := json.Compact(&b, value); err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// list returns ids as a JSON list.
func list(ids ...string) string {
	data, err := json.Marshal(ids)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// entry returns the index entry of a session.
func (s *space) entry(id string) workspace.Entry {
	s.t.Helper()
	listing, err := s.List(s.t.Context(), "")
	entries := listing.Sessions
	if err != nil {
		s.t.Fatal(err)
	}
	i := slices.IndexFunc(entries, func(e workspace.Entry) bool { return e.ID == id })
	if i < 0 {
		s.t.Fatalf("no session %s", id)
	}
	return entries[i]
}

func TestContinue(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	first := s.new("Long")
	system := s.append(workspace.Append{Text: "prompt", Role: "system"}).Message
	ids := s.say("a", "b")
	out := s.append(workspace.Append{Text: "c"})
	if out.Session == first || string(out.Parent) != ids[1] {
		t.Fatalf("the fourth message went to %+v", out)
	}
	if from, to := s.member(out.Session, "continued_from"), s.member(out.Session, "continued_to"); from != list(first) || to != "[]" {
		t.Errorf("the continuation has continued_from %s and continued_to %s", from, to)
	}
	if to := s.member(first, "continued_to"); to != list(out.Session) {
		t.Errorf("the first file has continued_to %s", to)
	}
	file := s.session(out.Session)
	if len(file.Messages) != 3 || file.Header != 2 || s.member(out.Session, "message_count") != "3" {
		t.Fatalf("the continuation has %d messages, %d of them header", len(file.Messages), file.Header)
	}
	if h := file.Messages[0]; h.ID == system || h.Text() != "prompt" || h.Category() != "SYSTEM" {
		t.Errorf("the header begins with %s", h.Raw)
	}
	if m := file.Messages[1]; !m.IsMarker() || !bytes.Contains(m.Raw, []byte(`"parent_id": "`+ids[1]+`"`)) || !bytes.Contains(m.Raw, []byte(`"previous_session": "`+first+`"`)) {
		t.Errorf("the marker is %s", m.Raw)
	}
	if raw := string(file.Messages[2].Raw); strings.Contains(raw, "parent_id") {
		t.Errorf("the new message is %s", raw)
	}
	if e := s.entry(out.Session); e.Kind != session.Continuation || !slices.Equal(e.Lineage, []string{first, out.Session}) {
		t.Errorf("the continuation is %+v", e)
	}
	s.say("d", "e")
	third := s.append(workspace.Append{Session: first, Text: "f"})
	if header := s.session(third.Session).Header; header != 2 || third.Session == out.Session {
		t.Errorf("the third file, %s, has a header of %d, want 2: no earlier markers", third.Session, header)
	}
	for _, ref := range []string{first, out.Session, third.Session, "Long"} {
		if got := s.texts(ref); got != "prompt a b c d e f" {
			t.Errorf("%s shows %q", ref, got)
		}
	}
	if got := s.texts(first + "@" + ids[1]); got != "prompt a b" {
		t.Errorf("the first file up to its end shows %q", got)
	}
	healthy(t, s)
}

// healthy fails the test if doctor finds a problem.
func healthy(t *testing.T, s *space) {
	t.Helper()
	report, err := s.Doctor(t.Context(), doctor.Options{})
	if err != nil || !report.OK {
		t.Errorf("doctor finds %+v, %v", report.Problems, err)
	}
}

// TestContinuePenguin: links in Penguin's dialect are strings, and a list only if there are
// two.
func TestContinuePenguin(t *testing.T) {
	t.Parallel()
	files := testchat.Chat{Messages: 24, PerFile: 12, Text: 10, Odd: true}.Files()
	s := openSpace(t, t.TempDir(), 12)
	if err := testchat.Write(s.Dir(), files); err != nil {
		t.Fatal(err)
	}
	last := files[1]
	before := s.session(last.ID)
	out := s.append(workspace.Append{Session: last.ID, Text: "next"})
	if from, to := s.member(out.Session, "continued_from"), s.member(out.Session, "continued_to"); from != `"`+last.ID+`"` || to != "" {
		t.Errorf("the continuation has continued_from %s and continued_to %s", from, to)
	}
	if to := s.member(last.ID, "continued_to"); to != `"`+out.Session+`"` {
		t.Errorf("the file before has continued_to %s", to)
	}
	if s.read(session.FileName(files[0].ID)) != string(files[0].Data) {
		t.Error("the first file changed")
	}
	after := s.session(last.ID)
	if !bytes.Equal(region(after, 0, len(after.Messages)), region(before, 0, len(before.Messages))) {
		t.Error("the messages of the file before changed")
	}
	var texts []string
	for _, m := range s.session(out.Session).Messages {
		texts = append(texts, m.Text())
	}
	if want := []string{"You are a careful assistant.", "Notes on the project.", "Continuing from session " + last.ID, "next"}; !slices.Equal(texts, want) {
		t.Errorf("the continuation holds %q, want %q", texts, want)
	}
	all := append(testchat.All(files), testchat.Message{ID: out.Message, Raw: s.session(out.Session).Messages[3].Raw})
	sameMessages(t, "the line", s.show(files[0].ID), all)

	// A branch from a full file shares the newest file.
	side := s.append(workspace.Append{Session: last.ID, Parent: last.Messages[5].ID, Text: "aside"})
	second := s.append(workspace.Append{Session: files[0].ID, Text: "on from aside"})
	if side.Session != out.Session || second.Session != out.Session || string(second.Parent) != side.Message {
		t.Fatalf("the side branch went to %+v and %+v", side, second)
	}
	if to := s.member(last.ID, "continued_to"); to != `"`+out.Session+`"` {
		t.Errorf("the file before has continued_to %s", to)
	}

	// Another program continues the file a second time; the next append completes the link.
	s.messages("other", fmt.Sprintf(`"continued_from":%q`, last.ID),
		fmt.Sprintf(`{"id":"marker","role":"system","metadata":{"type":"session_transition","previous_session":%q}}`, last.ID),
		`{"id":"o1","role":"user","content":"elsewhere"}`)
	s.append(workspace.Append{Session: "other", Parent: "o1", Text: "and on"})
	var to []string
	if err := json.Unmarshal([]byte(s.member(last.ID, "continued_to")), &to); err != nil || len(to) != 2 || !slices.Contains(to, "other") || !slices.Contains(to, out.Session) {
		t.Errorf("the file before has continued_to %q, %v, want both", to, err)
	}
	healthy(t, s)
}

// sameMessages compares the messages of a conversation with want, byte for byte.
func sameMessages(t testing.TB, what string, c *workspace.Conversation, want []testchat.Message) {
	t.Helper()
	if len(c.Messages) != len(want) {
		t.Errorf("%s: %d messages, want %d", what, len(c.Messages), len(want))
		return
	}
	for i, m := range c.Messages {
		if !bytes.Equal(m.Raw, want[i].Raw) {
			t.Errorf("%s: message %d is\n%s\nwant\n%s", what, i, m.Raw, want[i].Raw)
			return
		}
	}
}

// TestContinueMarker: a session_transition message inside a snapshot, as Penguin leaves
// them, is shown and does not end a header.
func TestContinueMarker(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	s.messages("flat", `"branched_from":"gone","branch_point":"b","flattened_snapshot":true`,
		`{"id":"p","role":"system","category":"SYSTEM","content":"prompt"}`,
		`{"id":"m","role":"system","category":"SYSTEM","content":"marker","metadata":{"type":"session_transition","previous_session":"gone"}}`,
		`{"id":"b","content":"b"}`)
	out := s.append(workspace.Append{Session: "flat", Text: "c"})
	if file := s.session(out.Session); out.Session == "flat" || len(file.Messages) != 3 || file.Messages[0].Text() != "prompt" {
		t.Errorf("the continuation begins with %s", region(file, 0, len(file.Messages)))
	}
	if got := s.texts("flat"); got != "prompt marker b c" {
		t.Errorf("the line is %q", got)
	}
}

// sideContinuation writes the conversation a b c d with the limit 3 as earlier versions
// did: a side branch x of a is in the full first file, and y below it in a continuation of
// its own.
func sideContinuation(s *space) {
	s.t.Helper()
	said := func(id, metadata string) string {
		return fmt.Sprintf(`{"id":"m%s","role":"user","content":%[1]q,"timestamp":"2026-05-25T15:00:0%[2]x+00:00","metadata":{%[3]s}}`, id, id[0]-'a'&15, metadata)
	}
	marker := func(id, parent string) string {
		return fmt.Sprintf(`{"id":"%s","role":"system","metadata":{"type":"session_transition","previous_session":"f1","parent_id":%q}}`, id, parent)
	}
	s.messages("f1", `"continued_from":[],"continued_to":["f2","f3"]`, said("a", ""), said("b", ""), said("c", ""),
		said("x", `"parent_id":"ma","bough":{"continued":true}`))
	s.messages("f2", `"continued_from":["f1"],"continued_to":[]`, marker("t2", "mc"), said("d", ""))
	s.messages("f3", `"continued_from":["f1"],"continued_to":[]`, marker("t3", "mx"), said("y", ""))
}

// TestContinueTwice: a full file may have a second continuation, for a side branch in it.
// New messages below the full file are added to the last file of the line.
func TestContinueTwice(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	sideContinuation(s)
	for ref, want := range map[string]string{"f1": "a x y", "f2": "a b c d", "f3": "a x y", "f1@md": "a b c d", "f1@my": "a x y", "f2@mx": "a x"} {
		if got := s.texts(ref); got != want {
			t.Errorf("%s shows %q, want %q", ref, got, want)
		}
	}
	before := s.read(session.FileName("f1"))
	for _, c := range []struct{ parent, want string }{
		{"ma", "a p0"},
		{"mx", "a x p1"},
		{"md", "a b c d p2"},
		{"my", "a x y p3"},
		{"mc", "a b c p4"},
	} {
		text := strings.Fields(c.want)
		out := s.append(workspace.Append{Session: "f1", Parent: c.parent, Text: text[len(text)-1]})
		if got := s.texts("f1@" + out.Message); got != c.want {
			t.Errorf("below %s: %q, want %q", c.parent, got, c.want)
		}
		if home := map[string]string{"md": "f2"}[c.parent]; home != "" && out.Session != home {
			t.Errorf("below %s: the message went to %s, want the file of its parent", c.parent, out.Session)
		}
	}
	if got := s.line("f1"); len(got) != 4 || s.read(session.FileName("f1")) != before {
		t.Errorf("the files are %q, and the full one changed: %t", got, s.read(session.FileName("f1")) != before)
	}
	healthy(t, s)
}

// TestContinueShared: messages below a full file share the newest file of the line until
// that is full too.
func TestContinueShared(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	first := s.new("")
	ids := s.say("a", "b", "c", "d")
	full := s.read(session.FileName(first))
	line := s.line(first)
	check := func(what string, out *workspace.AppendResult, file int, want string) {
		t.Helper()
		if line = s.line(first); len(line) != file+1 || out.Session != line[file] {
			t.Errorf("%s: the message went to %s of %q, want file %d", what, out.Session, line, file)
		}
		if got := s.texts(first + "@" + out.Message); got != want {
			t.Errorf("%s: the path is %q, want %q", what, got, want)
		}
	}
	x := s.append(workspace.Append{Session: first, Parent: ids[0], Text: "x"})
	check("a side branch", x, 1, "a x")
	y := s.append(workspace.Append{Session: first, Text: "y"})
	check("its next message", y, 1, "a x y")
	if raw := string(s.session(y.Session).Messages[3].Raw); strings.Contains(raw, "parent_id") || strings.Contains(raw, "continued") {
		t.Errorf("the message that follows its parent in the file is %s", raw)
	}
	z := s.append(workspace.Append{Session: first, Parent: ids[1], Text: "z"})
	check("a branch when all files are full", z, 2, "a b z")
	file := s.session(z.Session)
	if marker := string(file.Messages[file.Header-1].Raw); !strings.Contains(marker, `"previous_session": "`+y.Session+`"`) || !strings.Contains(marker, `"parent_id": "`+ids[1]+`"`) {
		t.Errorf("the marker is %s", marker)
	}
	check("an append to the first path", s.append(workspace.Append{Session: first, Parent: ids[3], Text: "e"}), 2, "a b c d e")
	if got := s.texts(first + "@" + ids[3]); got != "a b c d" {
		t.Errorf("the path to the end of the first path is %q", got)
	}
	if now := s.read(session.FileName(first)); strings.Replace(now, `"`+line[1]+`"`, "", 1) != strings.Replace(full, `"`+line[1]+`"`, "", 1) {
		t.Errorf("the full file changed:\n%s", now)
	}
	healthy(t, s)
}

// TestContinueAmbiguous: if another message of the line has the id of the parent, a message
// is added to the file of its parent even if that is full, because elsewhere its parent
// would be ambiguous.
func TestContinueAmbiguous(t *testing.T) {
	s := openSpace(t, t.TempDir(), 2)
	s.messages("f1", `"continued_from":[],"continued_to":["f2"]`, `{"id":"a","content":"a"}`, `{"id":"b","content":"b"}`)
	s.messages("f2", `"continued_from":["f1"],"continued_to":[]`,
		`{"id":"t","role":"system","metadata":{"type":"session_transition","previous_session":"f1"}}`,
		`{"id":"b","content":"other"}`)
	if _, err := s.Rewind(t.Context(), "f1@a", checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	out := s.append(workspace.Append{Session: "f2", Text: "on"})
	if got := s.texts("f1@" + out.Message); got != "a on" || out.Session != "f2" {
		t.Errorf("below a in %s: %q", out.Session, got)
	}
	out = s.append(workspace.Append{Session: "f1", Text: "c"})
	if got := s.texts("f1@" + out.Message); got != "a on c" {
		t.Errorf("below the newest message in %s: %q", out.Session, got)
	}
}

// TestContinueBranch: a branch longer than the limit is one file, and its continuation
// another.
func TestContinueBranch(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	root := s.new("")
	ids := s.say("a", "b", "c", "d", "e")
	branch := s.branch(root + "@" + ids[3])
	if branch.MessageCount != 4 {
		t.Fatalf("the branch is %+v", branch)
	}
	file := s.read(session.FileName(branch.ID))
	out := s.append(workspace.Append{Text: "x"})
	if out.Session == branch.ID || s.member(branch.ID, "continued_to") != list(out.Session) {
		t.Errorf("the message after the branch went to %+v", out)
	}
	if got := s.texts(branch.ID); got != "a b c d x" {
		t.Errorf("the branch shows %q", got)
	}
	if e := s.entry(out.Session); e.Kind != session.Continuation || !slices.Equal(e.Lineage, append(slices.Clone(branch.Lineage), out.Session)) {
		t.Errorf("the continuation is %+v", e)
	}
	if got := s.session(branch.ID); !strings.Contains(file, string(region(got, 0, 4))) {
		t.Error("messages of the branch changed")
	}
	snap := s.checkpoint(branch.ID)
	if got := s.texts(snap.ID); got != "a b c d x" || snap.MessageCount != 5 || string(snap.BranchedFrom) != out.Session {
		t.Errorf("a checkpoint of it is %+v with %q", snap, got)
	}
	healthy(t, s)
}
