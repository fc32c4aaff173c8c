package workspace_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// A fork is a way to keep the conversation M1 to M6 when M2 is answered again.
type fork struct {
	name  string
	limit int
	files int // at first, and with M7 and M8
	after int
	begin func(s *space) (first string)
}

func forks() []fork {
	say := func(s *space) string {
		first := s.new("Fork")
		s.say("M1", "M2", "M3", "M4", "M5", "M6")
		return first
	}
	files := func(s *space) string {
		said := func(text string) string {
			return fmt.Sprintf(`{"id":%q,"role":"user","content":%[1]q,"timestamp":"2026-05-25T15:00:0%[2]c+00:00","metadata":{}}`, text, text[1])
		}
		after := func(id string) string {
			return fmt.Sprintf(`{"id":"after %s","role":"system","metadata":{"type":"session_transition","previous_session":%[1]q}}`, id)
		}
		const header = `{"id":"%s","role":"system","category":"SYSTEM","content":"prompt"}`
		s.messages("f1", `"title":"Fork","continued_to":"f2"`, said("M1"))
		s.messages("f2", `"continued_from":"f1","continued_to":"f3"`, fmt.Sprintf(header, "h2"), after("f1"), said("M2"), said("M3"))
		s.messages("f3", `"continued_from":"f2","continued_to":"f4"`, fmt.Sprintf(header, "h3"), after("f2"), said("M4"), said("M5"))
		s.messages("f4", `"continued_from":"f3"`, fmt.Sprintf(header, "h4"), after("f3"), said("M6"))
		return "f1"
	}
	return []fork{
		{"in one file", 0, 1, 1, say},
		{"at the end of a file", 2, 3, 4, say},
		{"in the second of four files", 0, 4, 4, files},
		{"in the second of four files, which is full then", 3, 4, 4, files},
		{"in files of one message", 1, 6, 8, say},
	}
}

// line returns the files of the line of a session, each followed by its continuation.
func (s *space) line(first string) []string {
	s.t.Helper()
	ids := []string{first}
	for i := 0; i < len(ids); i++ {
		ids = append(ids, s.entry(ids[i]).ContinuedTo...)
	}
	return ids
}

// TestBranches holds the example M1 to M8: M3 and M7 answer M2, and each answer leads to a
// leaf of its own.
func TestBranches(t *testing.T) {
	t.Parallel()
	all := forks()
	for _, f := range testsize.Sample(t, "forks", all, testsize.Of(3, len(all), len(all))) {
		t.Run(f.name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), f.limit)
			first := f.begin(s)
			if got := s.line(first); len(got) != f.files {
				t.Fatalf("the line has the files %q, want %d", got, f.files)
			}
			ids := map[string]string{}
			for _, m := range s.show(first).Messages {
				ids[m.Text()] = m.ID
			}
			if got := strings.TrimSuffix(s.leaves(first), "*"); got != "M6:6!" {
				t.Errorf("before the fork the leaves are %s", got)
			}

			before := map[string]*session.Session{}
			for _, id := range s.line(first) {
				before[id] = s.session(id)
			}
			ids["M7"] = s.append(workspace.Append{Session: first, Parent: ids["M2"], Text: "M7"}).Message
			ids["M8"] = s.append(workspace.Append{Session: first, Parent: ids["M7"], Text: "M8", Role: "assistant"}).Message
			added := 0
			for _, id := range s.line(first) {
				is, was := s.session(id), before[id]
				switch {
				case was == nil:
					added += len(is.Messages) - is.Header
				case string(region(is, 0, len(was.Messages))) != string(region(was, 0, len(was.Messages))):
					t.Errorf("the messages of %s are now\n%s", id, region(is, 0, len(is.Messages)))
				default:
					added += len(is.Messages) - len(was.Messages)
				}
			}
			if added != 2 || len(s.line(first)) != f.after {
				t.Errorf("two messages add %d, and make the files %q", added, s.line(first))
			}

			// Any file of a line names the whole line.
			for _, name := range append(s.line(first), "Fork") {
				if got := strings.ReplaceAll(s.leaves(name), "*", ""); got != "M6:6 M8:4!" {
					t.Errorf("the leaves of %s are %s", name, got)
				}
				list := s.branches(name).Leaves
				if list[0].ID != ids["M6"] || list[1].ID != ids["M8"] {
					t.Errorf("the leaves of %s are %+v", name, list)
				}
				for _, leaf := range list {
					if leaf.UUID != sessionid.MessageUUID(sessionid.UUID(first), leaf.ID) || !strings.Contains(s.read(session.FileName(leaf.Session)), leaf.Message.ID) {
						t.Errorf("a leaf of %s is %+v", name, leaf)
					}
				}
				for path, want := range map[string]string{"M6": "M1 M2 M3 M4 M5 M6", "M8": "M1 M2 M7 M8", "M7": "M1 M2 M7", "M2": "M1 M2"} {
					if got := s.texts(name + "@" + ids[path]); got != want {
						t.Errorf("the path to %s in %s is %s", path, name, got)
					}
				}
			}
			s.snapshots(first, ids)
			s.rewindAndUndo(first, ids)
			healthy(t, s)
		})
	}
}

// snapshots makes a checkpoint and a copy branch of each path of the fork, and leaves the
// line unchanged.
func (s *space) snapshots(first string, ids map[string]string) {
	s.t.Helper()
	line := map[string]string{}
	for _, id := range s.line(first) {
		line[id] = s.read(session.FileName(id))
	}
	for leaf, want := range map[string]string{"M6": "M1 M2 M3 M4 M5 M6", "M8": "M1 M2 M7 M8"} {
		for verb, snap := range map[string]*workspace.Snapshot{"checkpoint": s.checkpoint(first + "@" + ids[leaf]), "branch": s.branch(first + "@" + ids[leaf])} {
			if got := s.texts(snap.ID); got != want {
				s.t.Errorf("a %s of the path to %s holds %s", verb, leaf, got)
			}
			depth := len(strings.Fields(want))
			if got := strings.ReplaceAll(s.leaves(snap.ID), "*", ""); got != fmt.Sprint(leaf, ":", depth, "!") {
				s.t.Errorf("the leaves of a %s of the path to %s are %s", verb, leaf, got)
			}
			for i, m := range s.session(snap.ID).Messages {
				if !strings.Contains(strings.Join(slices.Collect(maps.Values(line)), ""), string(m.Raw)) {
					s.t.Errorf("message %d of a %s of the path to %s is in no file of the line: %s", i, verb, leaf, m.Raw)
				}
			}
		}
	}
	for id, was := range line {
		if s.read(session.FileName(id)) != was {
			s.t.Errorf("%s changed", id)
		}
	}
}

// rewindAndUndo begins a third branch at M2 from the head, and undoes it.
func (s *space) rewindAndUndo(first string, ids map[string]string) {
	s.t.Helper()
	was := s.truth()
	if _, err := s.Rewind(s.t.Context(), first+"@"+ids["M2"], checkpoint.CutOptions{}); err != nil {
		s.t.Fatal(err)
	}
	if b := s.branches(first); string(b.Head) != ids["M2"] || b.Leaves[0].Head || b.Leaves[1].Head {
		s.t.Errorf("at M2 the head is %+v", b)
	}
	third := s.append(workspace.Append{Text: "M9"})
	if string(third.Parent) != ids["M2"] {
		s.t.Errorf("M9 answers %s", third.Parent)
	}
	if got := s.leaves(first); got != "M6:6 M8:4 M9:3!*" {
		s.t.Errorf("with a third branch the leaves are %s", got)
	}
	if got := s.texts(first); got != "M1 M2 M9" {
		s.t.Errorf("the newest path is %s", got)
	}
	for range 2 {
		if _, err := s.undo(""); err != nil {
			s.t.Fatal(err)
		}
	}
	sameFiles(s.t, "undo of the third branch", was, s.truth())
	if got := strings.ReplaceAll(s.leaves(first), "*", ""); got != "M6:6 M8:4!" {
		s.t.Errorf("after undo the leaves are %s", got)
	}
}
