package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

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

	side := s.append(workspace.Append{Session: last.ID, Parent: last.Messages[5].ID, Text: "aside"})
	second := s.append(workspace.Append{Session: files[0].ID, Text: "on from aside"})
	if second.Session == last.ID || string(second.Parent) != side.Message {
		t.Fatalf("the message after the side branch went to %+v", second)
	}
	if to := s.member(last.ID, "continued_to"); to != list(out.Session, second.Session) {
		t.Errorf("the file before has continued_to %s, want both", to)
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

// TestContinueTwice: if a side branch in a full file is the newest leaf, the next message
// opens a second continuation of that file. The messages of the first continuation keep
// their parents.
func TestContinueTwice(t *testing.T) {
	s := openSpace(t, t.TempDir(), 3)
	first := s.new("")
	ids := s.say("a", "b", "c", "d")
	one := s.session(first)
	side := s.append(workspace.Append{Session: first, Parent: ids[0], Text: "x"})
	if side.Session != first {
		t.Errorf("the side branch went to %s, want the file of its parent", side.Session)
	}
	if raw := string(s.session(first).Messages[3].Raw); !strings.Contains(raw, `"continued": true`) {
		t.Errorf("the late message is %s", raw)
	}
	next := s.append(workspace.Append{Session: first, Text: "y"})
	if next.Session == first || string(next.Parent) != side.Message {
		t.Fatalf("the next message went to %+v", next)
	}
	if got := s.texts(first + "@" + ids[3]); got != "a b c d" {
		t.Errorf("the first branch is %q", got)
	}
	if got := s.texts(first + "@" + next.Message); got != "a x y" {
		t.Errorf("the second branch is %q", got)
	}
	e := s.entry(first)
	if len(e.ContinuedTo) != 2 || e.ContinuedTo[1] != next.Session || s.member(first, "continued_to") != list(e.ContinuedTo...) {
		t.Errorf("the first file has continued_to %q, %s", e.ContinuedTo, s.member(first, "continued_to"))
	}
	if !bytes.Equal(region(s.session(first), 0, 3), region(one, 0, 3)) {
		t.Error("messages of the first file changed")
	}
	for ref, want := range map[string]string{first: "a x y", next.Session: "a x y", e.ContinuedTo[0]: "a b c d"} {
		if got := s.texts(ref); got != want {
			t.Errorf("%s shows %q, want %q", ref, got, want)
		}
	}
	healthy(t, s)
}

// TestContinueOnlyNewest: only a message below the newest leaf opens a continuation; any
// other message goes into the file of its parent.
func TestContinueOnlyNewest(t *testing.T) {
	s := openSpace(t, t.TempDir(), 3)
	first := s.new("")
	ids := s.say("a", "b", "c", "d")
	for i := range 4 {
		if out := s.append(workspace.Append{Session: first, Parent: ids[1], Text: fmt.Sprint("side", i)}); out.Session != first {
			t.Errorf("side message %d went to %s", i, out.Session)
		}
	}
	s.append(workspace.Append{Session: first, Parent: ids[3], Text: "e"})
	if out := s.append(workspace.Append{Session: first, Parent: ids[2], Text: "late"}); out.Session != first {
		t.Errorf("a message below the last one of a continued file went to %s", out.Session)
	}
	if got := s.texts(first + "@" + ids[3]); got != "a b c d" {
		t.Errorf("the continuation now follows %q", got)
	}
	if got := s.texts(first); got != "a b c late" {
		t.Errorf("the newest leaf is %q", got)
	}
	healthy(t, s)
}

// TestContinueBranch: a branch longer than the limit is one file, and its continuation
// another.
func TestContinueBranch(t *testing.T) {
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
