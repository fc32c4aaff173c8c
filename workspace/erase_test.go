package workspace_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/task"
	"github.com/bough-dev/bough/workspace/trash"
	"github.com/klauspost/compress/zstd"
)

// secret is in every text of the session that a test erases; kept is in every text of
// another one.
const (
	secret = "xyzzy"
	kept   = "plugh"
)

// holding returns the files of the workspace that contain a word, compressed or not.
func (s *space) holding(word string) (names []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.Dir(), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(strings.ToLower(string(data)+d.Name()+decompressed(data)), word) {
			name, _ = filepath.Rel(s.Dir(), name)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

// decompressed returns what the Zstandard frames of a file decompress to, as far as they do.
func decompressed(data []byte) string {
	var text strings.Builder
	for at := 0; ; at++ {
		n := bytes.Index(data[at:], []byte("\x28\xb5\x2f\xfd"))
		if n < 0 {
			return text.String()
		}
		at += n
		r, err := zstd.NewReader(bytes.NewReader(data[at:]), zstd.IgnoreChecksum(true), zstd.WithDecoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(&text, r) // what precedes an error counts
		r.Close()
	}
}

// fill makes a session with a word in everything that bough stores of it, and returns its
// id and its messages.
func (s *space) fill(word string) (id string, messages []string) {
	s.t.Helper()
	ctx := s.t.Context()
	must := func(_ any, err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	title := "About " + word
	id = s.new(title)
	messages = s.say(word+" one", word+" two", word+" three")
	_, err := s.undo("") // the log holds the third now
	must(nil, err)
	must(s.Bookmark(ctx, id, "label "+word, workspace.BookmarkOptions{Summary: "summary " + word}))
	must(s.Rename(ctx, title, title+" again"))
	must(s.Line(title+" again").SetMeta(ctx, messages[0], fmt.Appendf(nil, `{"note":%q}`, word)))
	branch := s.new("Branch of " + word)
	exploration := fmt.Sprintf("%08d-0000-4000-8000-000000000000", len(word)*1000+int(word[0]))
	must(nil, s.Exploration(exploration).Write(ctx, fmt.Appendf(nil, `{"id":%q,"session_id":%q,"question":%q,"branches":[]}`, exploration, id, word)))
	other := strings.Replace(exploration, "-4000-", "-4001-", 1)
	must(nil, s.Exploration(other).Write(ctx, fmt.Appendf(nil, `{"id":%[1]q,"session_id":"elsewhere","question":"q","branches":[{"branch_id":"b1","session_id":"elsewhere","result":"stays"},{"branch_id":"b-%[2]s","session_id":%[3]q,"result":%[4]q,"reason":%[4]q,"insights":[%[4]q],"metrics":{"n":1}}],"notes":[{"branch_id":"b-%[2]s","text":%[4]q}],"evaluation":{"from":["b-%[2]s"],"result":%[4]q,"reasons":[%[4]q]}}`, other, word[:1], id, "result "+word)))
	for _, line := range []string{
		fmt.Sprintf(`{"strategy":"s","context":%q,"exploration_id":%q,"branch_id":"a-%s"}`, word, exploration, word[:1]),
		fmt.Sprintf(`{"strategy":"s","context":%q,"exploration_id":%q,"branch_id":"b-%s"}`, word, other, word[:1]),
	} {
		must(nil, s.AppendLearnings(ctx, []byte(line+"\n")))
	}
	must(s.RecordTasks(ctx, task.Record{Session: id, Messages: messages[:1], Status: task.Success, Tasks: []task.Task{
		{ID: strings.Replace(exploration, "-4000-", "-4002-", 1), Status: "pending", Session: id, Message: messages[0], Branch: messages[0], Order: 1, Messages: messages[:1], Data: fmt.Appendf(nil, `{"task_description":%q}`, word)},
	}}))
	must(s.Remove(ctx, branch, workspace.RemoveOptions{}))
	return id, messages[:2]
}

// TestPurgeText: after a purge no file has the text of a deleted session, and the other
// sessions are unchanged.
func TestPurgeText(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id, _ := s.fill(secret)
	other, _ := s.fill(kept)
	if _, err := s.Remove(t.Context(), id, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(s.holding(secret)) < 5 {
		t.Fatalf("before the purge only %q hold the text", s.holding(secret))
	}
	if _, err := s.PurgeTrash(t.Context(), trash.PurgeOptions{}); err != nil {
		t.Fatal(err)
	}
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("after the purge %q hold the text", names)
	}
	healthy(t, s)
	marks, err := s.Bookmarks(t.Context(), workspace.BookmarksOptions{})
	if err != nil || len(marks.Bookmarks) != 1 || marks.Bookmarks[0].Session != other {
		t.Errorf("the bookmarks are %+v, %v", marks, err)
	}
	list, err := s.Explorations(t.Context())
	if err != nil || len(list) != 3 {
		t.Errorf("the explorations are %q, %v", list, err)
	}
	data, err := s.Exploration(list[len(list)-1]).Read(t.Context())
	if err != nil || !strings.Contains(string(data), `"stays"`) {
		t.Errorf("an exploration is %s, %v", data, err)
	}
	for { // a removal that was not purged can be undone
		if _, err := s.undo(other); err != nil {
			break
		}
	}
	if _, err := s.Show(t.Context(), other, session.ReadOptions{}); code(err) != fault.NotFound {
		t.Errorf("the other session still exists after undo of everything: %v", err)
	}
	healthy(t, s)
}

// TestForget: no file, not even in the trash, has a text or the title of a forgotten
// conversation; its id stays, and other data is unchanged.
func TestForget(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openSpace(t, t.TempDir(), 2) // the line has several files
	id, messages := s.fill(secret)
	other, _ := s.fill(kept)
	copied, err := s.Branch(ctx, id+"@"+messages[1], workspace.SnapshotOptions{Name: "Copy of " + secret})
	if err != nil {
		t.Fatal(err)
	}
	s.append(workspace.Append{Session: id, Text: secret + " more"})
	s.append(workspace.Append{Session: id, Text: secret + " and more"})
	if len(s.entry(id).ContinuedTo) == 0 {
		t.Fatal("the line has one file")
	}
	before := s.read("conversations/" + other + ".json")
	plan, err := s.Forget(ctx, id, forget.Options{DryRun: true})
	if err != nil || plan.Session != id || len(plan.Copies) != 1 || plan.Copies[0].Session != copied.ID || plan.Copies[0].Forgotten || len(plan.Sessions) < 2 {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	if s.entry(id).ID != id {
		t.Error("a dry run forgets")
	}
	done, err := s.Forget(ctx, id, forget.Options{})
	if err != nil || done.Copies[0].Forgotten {
		t.Fatalf("Forget = %+v, %v", done, err)
	}
	healthy(t, s)
	if names := s.holding(secret); len(names) == 0 || strings.Contains(strings.Join(names, " "), id) {
		t.Errorf("without --copies %q hold the text", names)
	}
	if got := s.texts(copied.ID); got != secret+" one "+secret+" two" {
		t.Errorf("the copy has %q", got)
	}
	if _, err := s.Show(ctx, id, session.ReadOptions{}); code(err) != fault.NotFound {
		t.Errorf("show of a forgotten session = %v", err)
	}
	done, err = s.Forget(ctx, id, forget.Options{Copies: true}) // its id still names it
	if err != nil || len(done.Copies) > 0 {
		t.Errorf("Forget once more = %+v, %v", done, err)
	}
	if _, err = s.Forget(ctx, copied.ID, forget.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.trashed() { // the sessions that fill removed
		if strings.HasPrefix(f.File, "conversations/") {
			if _, err := s.Forget(ctx, strings.TrimSuffix(strings.TrimPrefix(f.File, "conversations/"), ".json"), forget.Options{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("%q hold the text", names)
	}
	if s.read("conversations/"+other+".json") != before {
		t.Error("another session changed")
	}
	if _, err := s.undo(""); code(err) != fault.Refused && err != nil {
		t.Errorf("undo = %v", err)
	}
	healthy(t, s)
}

func (s *space) trashed() []trash.File {
	s.t.Helper()
	trash, err := s.Trash(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return trash.Files
}

// TestForgetCopies: forget erases all conversations that have one of its messages.
func TestForgetCopies(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openSpace(t, t.TempDir(), 0)
	id, messages := s.fill(secret)
	other, _ := s.fill(kept)
	point, err := s.Checkpoint(ctx, id+"@"+messages[0], workspace.SnapshotOptions{Name: secret})
	if err != nil {
		t.Fatal(err)
	}
	branch, err := s.Branch(ctx, id, workspace.SnapshotOptions{Name: secret + " branch"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(ctx, branch.ID, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	// Two programs may use one id for different messages.
	const unrelated = "session_00000000-0000-4000-8000-000000000001"
	s.write("conversations/"+unrelated+".json", `{"session_id":"`+unrelated+`","metadata":{"title":"Unrelated"},
		"messages":[{"role":"user","content":"unrelated","id":"`+messages[0]+`"}]}`)
	done, err := s.Forget(ctx, id, forget.Options{Copies: true})
	if err != nil || len(done.Copies) != 2 || !done.Copies[1].Trashed || len(done.Sessions) != 3 {
		t.Fatalf("Forget = %+v, %v", done, err)
	}
	for _, f := range s.trashed() {
		if strings.Contains(f.File, point.ID) || strings.Contains(f.File, branch.ID) {
			t.Errorf("%s is in the trash", f.File)
		}
	}
	if got := s.texts(other); got != kept+" one "+kept+" two" {
		t.Errorf("the other session has %q", got)
	}
	if got := s.texts(unrelated); got != "unrelated" {
		t.Errorf("the unrelated session has %q", got)
	}
	healthy(t, s)
}

// TestForgetImported: a forgotten conversation is not imported again, longer or not, and
// neither is an export of it.
func TestForgetImported(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openSpace(t, t.TempDir(), 0)
	if err := take(s, askedTwice); err != nil {
		t.Fatal(err)
	}
	listing, err := s.List(ctx, "")
	if err != nil || len(listing.Sessions) != 1 {
		t.Fatalf("List = %+v, %v", listing, err)
	}
	done, err := s.Forget(ctx, listing.Sessions[0].ID, forget.Options{})
	if err != nil || len(done.Sources) != 1 {
		t.Fatalf("Forget = %+v, %v", done, err)
	}
	for _, transcript := range []string{askedTwice, askedThrice} {
		if err := take(s, transcript); err != nil {
			t.Fatal(err)
		}
		if listing, err := s.List(ctx, ""); err != nil || len(listing.Sessions) != 0 {
			t.Errorf("it was imported again: %+v, %v", listing, err)
		}
	}
	healthy(t, s)
}

// TestForgetTree: forget refuses the tree of an agent.
func TestForgetTree(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ada, err := s.Agent("ada").Create(t.Context(), agents.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := s.files()
	if _, err := s.Forget(t.Context(), ada.Head.Tree, forget.Options{}); code(err) != fault.Refused {
		t.Errorf("Forget = %v", err)
	}
	sameFiles(t, "a refused forget", before, s.files())
}

// TestForgetAgent: the log no longer has what an agent's file stored about a deleted tree,
// and later operations can still be undone.
func TestForgetAgent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openSpace(t, t.TempDir(), 0)
	if _, err := s.Agent("ada").Create(ctx, agents.Options{System: strings.Repeat("Be brief.\n", 200)}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{secret, kept} {
		if _, err := s.Agent("ada").NewTree(ctx, name); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(ctx, workspace.Append{Session: s.head("ada").Tree, Text: name + " text"}); err != nil {
			t.Fatal(err)
		}
	}
	to, err := s.Agent("ada").Switch(ctx, secret, checkpoint.CutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tree := to.Head.Tree
	if _, err := s.Agent("ada").Switch(ctx, kept, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Agent("ada").DeleteTree(ctx, secret, agents.DeleteTreeOptions{}); err != nil {
		t.Fatal(err)
	}
	was := s.read("agents/ada.json")
	for _, name := range []string{"one", "two"} {
		if _, err := s.Agent("ada").NewTree(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Forget(ctx, tree, forget.Options{}); err != nil {
		t.Fatal(err)
	}
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("%q hold the text", names)
	}
	healthy(t, s)
	for range 2 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	if s.read("agents/ada.json") != was {
		t.Error("undo of a later operation left another file")
	}
	if _, err := s.undo(""); code(err) != fault.Refused {
		t.Errorf("undo of the deletion = %v", err)
	}
}

// TestPendingForget: doctor reports an interrupted forget as pending, does not report its
// consequences as damage, and writes nothing. Other damage is reported. The next writer
// completes the forget.
func TestPendingForget(t *testing.T) {
	t.Parallel()
	const plan = `{"sessions":["c"],"messages":[],"titles":[],"sources":[],"files":[]}`
	for _, c := range []struct {
		name    string
		change  func(*space)
		problem string // beside the note
	}{
		{"before the first step", func(*space) {}, ""},
		{"the session is deleted", func(s *space) { s.delete("conversations/c.json") }, ""},
		{"the head is in it", func(s *space) {
			s.write("head.json", `{"session_id":"c","message_id":"b1"}`)
			s.delete("conversations/c.json")
		}, ""},
		{"a bookmark is in it", func(s *space) {
			s.write(bookmark.Path, s.bookmarked("here", "c", "b1"))
			s.delete("conversations/c.json")
		}, ""},
		{"a bookmark in a missing session", func(s *space) { s.write(bookmark.Path, s.bookmarked("here", "gone", "b1")) }, doctor.LostBookmark},
		{"the head is nowhere", func(s *space) { s.write("head.json", `{"session_id":"gone","message_id":null}`) }, doctor.LostHead},
		{"another session is missing too", func(s *space) {
			s.messages("x", "")
			s.mend()
			s.delete("conversations/x.json")
			s.delete("conversations/c.json")
		}, doctor.StaleIndex},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := intact(t)
			c.change(s)
			s.write(".bough/forget.json", plan)
			before := s.everything()
			report, err := s.Doctor(t.Context(), doctor.Options{})
			if err != nil {
				t.Fatal(err)
			}
			pending, problem := 0, ""
			for _, p := range report.Problems {
				switch {
				case p.Kind == doctor.PendingForget && p.Note:
					pending++
				case !p.Note:
					problem += p.Kind
				}
			}
			if pending != 1 || problem != c.problem || report.OK != (c.problem == "") {
				t.Errorf("doctor finds %+v, want a note, and %q", report.Problems, c.problem)
			}
			sameFiles(t, "doctor", before, s.everything())
			s.new("The next writer")
			if _, err := os.Stat(filepath.Join(s.Dir(), "conversations/c.json")); err == nil {
				t.Error("the session still exists after the next writer")
			}
			if _, err := os.Stat(filepath.Join(s.Dir(), ".bough/forget.json")); err == nil {
				t.Error("the forget is pending after the next writer")
			}
		})
	}
}
