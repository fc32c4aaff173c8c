package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// A grower adds the same messages to two workspaces, one of which has a limit of messages
// per file. It identifies the messages by their texts.
type grower struct {
	limited, whole *space
	root           string              // the first file of the line, in both
	ids            []map[string]string // by text, for each space
	texts          []string            // of the existing messages
	added          [][]string          // for each operation that can be undone, the texts before it
}

func (g *grower) spaces() []*space { return []*space{g.limited, g.whole} }

// append adds a message below the message with the text parent, or at the end if that is
// empty.
func (g *grower) append(text, parent string) {
	for i, s := range g.spaces() {
		out := s.append(workspace.Append{Session: g.root, Parent: g.ids[i][parent], Text: text})
		g.ids[i][text] = out.Message
	}
	g.added = append(g.added, slices.Clone(g.texts))
	g.texts = append(g.texts, text)
}

// undo undoes the last operation in both spaces.
func (g *grower) undo() {
	for _, s := range g.spaces() {
		if _, err := s.undo(""); err != nil {
			s.t.Fatal(err)
		}
	}
	last := len(g.added) - 1
	g.texts, g.added = g.added[last], g.added[:last]
}

// check compares the path to each message, and to the end of the line.
func (g *grower) check(t *testing.T) {
	t.Helper()
	if got, want := g.limited.texts(g.root), g.whole.texts(g.root); got != want {
		t.Errorf("the newest path is %q, want %q", got, want)
	}
	leaves := func(s *space) string {
		var list []string
		for _, leaf := range s.branches(g.root).Leaves {
			list = append(list, fmt.Sprint(leaf.Message.Text(), " ", leaf.Depth, " ", leaf.Newest))
		}
		return strings.Join(list, "\n")
	}
	if got, want := leaves(g.limited), leaves(g.whole); got != want {
		t.Errorf("the leaves are\n%s\nwant\n%s", got, want)
	}
	for _, text := range g.texts {
		var paths []string
		for i, s := range g.spaces() {
			paths = append(paths, s.texts(g.root+"@"+g.ids[i][text]))
		}
		if paths[0] != paths[1] {
			t.Errorf("the path to %s is\n%s\nwant\n%s", text, paths[0], paths[1])
		}
	}
}

// TestContinueLaw: messages that are added below random messages of full files form the same
// tree as in a line whose files are never full, and open at most one file more than their
// number requires. Undo, a rebuilt index and doctor do not change this.
func TestContinueLaw(t *testing.T) {
	t.Parallel()
	const limit, before = 4, 12
	for _, dialect := range []session.Dialect{session.Bough, session.Penguin} {
		t.Run(dialect.String(), func(t *testing.T) {
			for seed := range uint64(testsize.Of(1, 1, 20)) {
				random := rand.New(rand.NewPCG(seed, 18))
				files := testchat.Chat{Messages: before, PerFile: limit, Text: 10, Seed: seed}.Files()
				g := &grower{root: files[0].ID, ids: []map[string]string{{}, {}}}
				g.limited, g.whole = openSpace(t, t.TempDir(), limit), openSpace(t, t.TempDir(), 0)
				for i, s := range g.spaces() {
					if err := testchat.Write(s.Dir(), files); err != nil {
						t.Fatal(err)
					}
					if dialect == session.Bough {
						if _, err := s.Doctor(t.Context(), doctor.Options{Fix: true, Dialect: "bough"}); err != nil {
							t.Fatal(err)
						}
					}
					for n, m := range s.show(g.root).Messages {
						g.ids[i][fmt.Sprint("old", n)] = m.ID
					}
				}
				for n := range before {
					g.texts = append(g.texts, fmt.Sprint("old", n))
				}
				full := map[string]string{}
				for _, f := range files {
					full[f.ID] = string(region(g.limited.session(f.ID), 0, len(g.limited.session(f.ID).Messages)))
				}
				most, n := 0, testsize.Of(8, 16, 40)
				for step := range n {
					switch k := random.IntN(10); {
					case k == 0 && len(g.added) > 0:
						g.undo()
					case k < 4:
						g.append(fmt.Sprint("new", step), "")
					default:
						g.append(fmt.Sprint("new", step), g.texts[random.IntN(len(g.texts))])
					}
					if random.IntN(8) == 0 {
						if err := os.Remove(filepath.Join(g.limited.Dir(), filepath.FromSlash(session.IndexPath))); err != nil {
							t.Fatal(err)
						}
					}
					most = max(most, len(g.limited.line(g.root))-len(files))
				}
				if allowed := (n+limit-1)/limit + 1; most > allowed {
					t.Errorf("%d messages made %d files, want at most %d", n, most, allowed)
				}
				for id, was := range full {
					s := g.limited.session(id)
					if len(s.Messages)-s.Header != limit || string(region(s, 0, len(s.Messages))) != was {
						t.Errorf("the full file %s changed", id)
					}
				}
				if report, err := g.limited.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil || !report.OK {
					t.Errorf("doctor finds %+v, %v", report.Problems, err)
				}
				g.check(t)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}
