package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace"
)

// TestEventsMovedAway: Events does not create a folder that was moved away, and continues
// when the folder is back.
func TestEventsMovedAway(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not move a watched folder")
	}
	for _, part := range []string{".", "conversations"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "ws")
			s := openSpace(t, dir, 0)
			bread := s.new("Bread")
			s.say("one")
			notes := make(chan string, 100)
			w, err := workspace.Open(t.Context(), dir, &workspace.Options{Note: func(note string) { notes <- note }})
			if err != nil {
				t.Fatal(err)
			}
			watched := &space{Workspace: w, t: t}
			e := watched.events(0)
			e.want("session_created "+bread, "head_moved "+bread)
			said := strings.Fields(e.next())[2]
			e.want("head_moved " + bread + " " + said)
			log := s.read(operation.Path)

			note := func(want string) {
				t.Helper()
				select {
				case got := <-notes:
					if !strings.HasSuffix(got, want) {
						t.Fatalf("the note is %q, want one that ends with %q", got, want)
					}
				case <-time.After(20 * time.Second):
					t.Fatalf("no note, want one that ends with %q", want)
				}
			}
			move := func(from, to string) {
				t.Helper()
				if err := os.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			place := filepath.Join(dir, part)
			for range 2 {
				move(place, dir+".away")
				note("is missing; events resume when it is restored")
				if _, err := os.Stat(place); !os.IsNotExist(err) {
					t.Errorf("the folder exists again: %v", err)
				}
				move(dir+".away", place)
				note("was restored; events resume")
			}
			if got := s.read(operation.Path); got != log {
				t.Errorf("the log is now\n%s", got)
			}
			more := s.append(workspace.Append{Session: bread, Text: "two"})
			e.want("message_added " + bread + " " + more.Message + " user")
		})
	}
}
