package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/inspect"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/search"
	"github.com/bough-dev/bough/workspace/trash"
)

// TestOpenNew: an absent or empty folder reads as an empty workspace, and reading creates
// nothing.
func TestOpenNew(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"absent", "empty"} {
		dir := filepath.Join(t.TempDir(), "new")
		if name == "empty" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		s := openSpace(t, dir, 0)
		ctx := t.Context()
		listing, errList := s.List(ctx, "")
		forest, errTree := s.Tree(ctx, "")
		log, errLog := s.Log(ctx, history.LogOptions{})
		trash, errTrash := s.Trash(ctx)
		marks, errMarks := s.Bookmarks(ctx, workspace.BookmarksOptions{})
		agents, errAgents := s.Agents(ctx)
		found, errSearch := s.Search(ctx, search.Options{})
		report, errDoctor := s.Doctor(ctx, doctor.Options{})
		head, errHead := s.Head(ctx)
		if err := errors.Join(errList, errTree, errLog, errTrash, errMarks, errAgents, errSearch, errDoctor, errHead); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := len(listing.Sessions) + len(forest.Roots) + len(log.Operations) + len(trash.Files) + len(marks.Bookmarks) + len(agents.Agents) + len(found.Matches); n != 0 || head != nil || !report.OK {
			t.Errorf("%s: %d sessions, the head is %v, the report %v", name, n, head, report)
		}
		if _, err := s.Show(ctx, "Bread", session.ReadOptions{}); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: Show of a missing session: %v", name, err)
		}
		if _, err := s.Append(ctx, workspace.Append{Session: "Bread", Text: "x"}); !errors.Is(err, fault.NotFound) {
			t.Errorf("%s: Append to a missing session: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if name == "absent" && !errors.Is(err, fs.ErrNotExist) || len(entries) > 0 {
			t.Errorf("%s: reading left %v, %v", name, entries, err)
		}
	}
}

// TestExisting: with Existing, a reader of an absent workspace fails.
func TestExisting(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	w, err := workspace.Open(t.Context(), dir, &workspace.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.List(t.Context(), ""); !errors.Is(err, fault.NotFound) {
		t.Errorf("listing: %v", err)
	}
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	if l, err := w.List(t.Context(), ""); err != nil || len(l.Sessions) != 1 {
		t.Errorf("listing afterwards: %v, %v", l, err)
	}
}

// TestEventsOfNew: the events of an absent folder begin with its first change.
func TestEventsOfNew(t *testing.T) {
	t.Parallel()
	s := openSpace(t, filepath.Join(t.TempDir(), "new"), 0)
	e := s.events(0)
	bread := s.new("Bread")
	e.want("session_created "+bread, "head_moved "+bread)
	a := s.append(workspace.Append{Text: "a"})
	e.want("message_added "+bread+" "+a.Message+" user", "head_moved "+bread+" "+a.Message)
	if len(s.notes) > 0 {
		t.Errorf("unexpected note: %q", s.notes)
	}
}

// TestSentinels: for each code there is an error that errors.Is finds in the errors of the
// methods.
func TestSentinels(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ctx := t.Context()
	one, two := s.new("Bread"), s.new("Bread")
	s.say("one")
	point := s.checkpoint(two)
	s.write("conversations/torn.json", `{"messages": [`)
	s.write("agents/torn.json", `{`)
	stopped, stop := context.WithCancel(ctx)
	stop()
	show := func(ref string) error {
		_, err := s.Show(ctx, ref, session.ReadOptions{})
		return err
	}
	_, failed := s.List(stopped, "")
	_, usage := s.List(ctx, "no kind")
	_, readOnly := s.Line(point.ID).Store(ctx, lines.Message{})
	_, hasChildren := s.Remove(ctx, two, workspace.RemoveOptions{})
	_, refused := s.Restore(ctx, one)
	_, damagedAgent := s.Agent("torn").Info(ctx)
	_, damagedAppend := s.Append(ctx, workspace.Append{Session: "torn", Text: "x"})
	for _, tt := range []struct {
		what     string
		err      error
		sentinel error
	}{
		{"listing after the end", failed, fault.Failed},
		{"an unknown kind", usage, fault.Usage},
		{"an unknown session", show("nothing"), fault.NotFound},
		{"a title of two", show("Bread"), fault.Ambiguous},
		{"storing in a checkpoint", readOnly, fault.ReadOnly},
		{"removing an origin", hasChildren, fault.HasChildren},
		{"restoring a root", refused, fault.Refused},
		{"a torn session", show("torn"), fault.Damaged},
		{"appending to a torn session", damagedAppend, fault.Damaged},
		{"a torn agent", damagedAgent, fault.Damaged},
		{"the lock", &fault.Error{Code: fault.Locked}, fault.Locked},
		{"a busy file", fmt.Errorf("wrapped: %w", &fault.Error{Code: fault.Busy}), fault.Busy},
		{"a cut", &fault.Error{Code: fault.ToolCut}, fault.ToolCut},
	} {
		if !errors.Is(tt.err, tt.sentinel) {
			t.Errorf("%s: %v is not %v", tt.what, tt.err, tt.sentinel)
		}
		if tt.sentinel != fault.Locked && errors.Is(tt.err, fault.Locked) {
			t.Errorf("%s: %v is locked too", tt.what, tt.err)
		}
	}
	var damage *session.DamageError
	if !errors.As(damagedAppend, &damage) || damage.Path != "conversations/torn.json" {
		t.Errorf("the error has no place: %v", damagedAppend)
	}
	if !errors.Is(failed, context.Canceled) {
		t.Errorf("the error has no reason: %v", failed)
	}
}

// TestConversationJSON: a conversation marshals to the output of 'bough show --json', with
// null in place of values that JSON does not have.
func TestConversationJSON(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.write("conversations/odd.json", `{"created_at": "2020-05-25T15:00:00Z", "metadata": {"title": "Odd", "score": 12345678901234567890.5},
		"messages": [ {"id": "m1", "role": "user", "content": "NaN \" \ud83d", "logprob": -Infinity, "n": [NaN, 1e400]} ]}`)
	c, err := s.Show(t.Context(), "odd", session.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const message = `{"id":"m1","role":"user","content":"NaN \" \ud83d","logprob":-Infinity,"n":[NaN,1e400]}`
	if got := string(c.JSON()); !strings.Contains(got, `"messages":[`+message+`]`) || !strings.Contains(got, `12345678901234567890.5`) || strings.Contains(got, "\n") {
		t.Errorf("the JSON is %s", got)
	}
	data, err := json.Marshal(map[string]any{"conversation": c})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"conversation":` + strings.NewReplacer("-Infinity", "null", "[NaN", "[null").Replace(string(c.JSON())) + `}`
	if string(data) != want {
		t.Errorf("it marshals to\n%s, want\n%s", data, want)
	}
	if data, err := json.Marshal(c.Messages); err != nil || !strings.Contains(string(data), `"logprob":null`) {
		t.Errorf("the messages marshal to %s, %v", data, err)
	}
}

// TestResultsMarshal: encoding/json marshals results as the command prints them, including
// those that embed another one.
func TestResultsMarshal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 8, 29, 4, 980213000, time.FixedZone("", 3600))
	const text = `"2026-11-20T07:29:04.980213+00:00"`
	entry := workspace.Entry{ID: "e", CreatedAt: at, LastActive: at}
	for _, v := range []any{
		entry, workspace.Snapshot{Entry: entry, Path: "/p"}, workspace.TreeEntry{Entry: entry, Children: []workspace.TreeEntry{{Entry: entry}}},
		workspace.Listing{Sessions: []workspace.Entry{entry}}, workspace.Leaf{CreatedAt: at}, workspace.StraightRun{CreatedAt: at},
		history.Operation{Time: at}, events.Event{Time: at}, search.Match{CreatedAt: at}, workspace.PruneDecision{CreatedAt: at},
		trash.File{RemovedAt: at}, agents.Tree{CreatedAt: at}, inspect.Conversation{Begins: at},
		inspect.End{Message: inspect.Message{Time: at}, Depth: 7},
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != string(rawjson.Answer(v)) || !strings.Contains(string(got), text) {
			t.Errorf("%T marshals to %s, %v, and is printed as %s", v, got, err, rawjson.Answer(v))
		}
	}
	var back struct {
		CreatedAt time.Time `json:"created_at"`
	}
	data, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || !back.CreatedAt.Equal(at) {
		t.Errorf("%s reads as %v, %v", data, back, err)
	}
}
