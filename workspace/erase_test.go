package workspace_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/task"
	"github.com/bough-dev/bough/workspace"
)

// secret is in every text of the session that a test erases, and kept in every text of
// another one.
const (
	secret = "xyzzy"
	kept   = "plugh"
)

// holding returns the files of the workspace that hold a word.
func (s *space) holding(word string) (names []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.Dir(), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(strings.ToLower(string(data)+d.Name()), word) {
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

// fill makes a session with a word in all that is kept of it and about it, and returns its
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
	must(s.SetMessageMeta(ctx, title+" again", messages[0], fmt.Appendf(nil, `{"note":%q}`, word)))
	branch := s.new("Branch of " + word)
	exploration := fmt.Sprintf("%08d-0000-4000-8000-000000000000", len(word)*1000+int(word[0]))
	must(nil, s.KeepExploration(ctx, exploration, fmt.Appendf(nil, `{"id":%q,"session_id":%q,"question":%q,"branches":[]}`, exploration, id, word)))
	other := strings.Replace(exploration, "-4000-", "-4001-", 1)
	must(nil, s.KeepExploration(ctx, other, fmt.Appendf(nil, `{"id":%[1]q,"session_id":"elsewhere","question":"q","branches":[{"branch_id":"b1","session_id":"elsewhere","result":"stays"},{"branch_id":"b-%[2]s","session_id":%[3]q,"result":%[4]q,"reason":%[4]q,"insights":[%[4]q],"metrics":{"n":1}}],"notes":[{"branch_id":"b-%[2]s","text":%[4]q}],"evaluation":{"from":["b-%[2]s"],"result":%[4]q,"reasons":[%[4]q]}}`, other, word[:1], id, "result "+word)))
	for _, line := range []string{
		fmt.Sprintf(`{"strategy":"s","context":%q,"exploration_id":%q,"branch_id":"a-%s"}`, word, exploration, word[:1]),
		fmt.Sprintf(`{"strategy":"s","context":%q,"exploration_id":%q,"branch_id":"b-%s"}`, word, other, word[:1]),
	} {
		must(nil, s.AppendLearnings(ctx, []byte(line+"\n")))
	}
	must(s.Worked(ctx, task.Record{Session: id, Messages: messages[:1], Status: task.Success, Tasks: []task.Task{
		{ID: strings.Replace(exploration, "-4000-", "-4002-", 1), Status: "pending", Session: id, Message: messages[0], Branch: messages[0], Order: 1, Messages: messages[:1], Data: fmt.Appendf(nil, `{"task_description":%q}`, word)},
	}}))
	must(s.Remove(ctx, branch, workspace.RemoveOptions{}))
	return id, messages[:2]
}

// TestPurgeText: what was deleted from the trash is in no file any more, and what was not
// is as it was.
func TestPurgeText(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	id, _ := s.fill(secret)
	other, _ := s.fill(kept)
	if _, err := s.Remove(t.Context(), id, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(s.holding(secret)) < 5 {
		t.Fatalf("before the purge only %q hold the text", s.holding(secret))
	}
	if _, err := s.PurgeTrash(t.Context(), workspace.PurgeOptions{}); err != nil {
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
	data, err := s.Exploration(t.Context(), list[len(list)-1])
	if err != nil || !strings.Contains(string(data), `"stays"`) {
		t.Errorf("an exploration is %s, %v", data, err)
	}
	for { // what is not purged can be undone
		if _, err := s.undo(other); err != nil {
			break
		}
	}
	if _, err := s.Show(t.Context(), other, workspace.ReadOptions{}); code(err) != workspace.NotFound {
		t.Errorf("all is undone, and the other session is there: %v", err)
	}
	healthy(t, s)
}
