package remote_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// unreachable is a store that cannot be reached.
type unreachable struct{ bucket.Store }

func (unreachable) Put(context.Context, string, []byte) error { return errors.New("unreachable") }

// TestDamagedMachine: the error for a damaged file with the key of the machine, or with a record that waits, says what
// to do, and that helps: nothing is lost.
func TestDamagedMachine(t *testing.T) {
	for _, pattern := range []string{"machine.json", "spool/*/*"} {
		t.Run(pattern, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			a, b := list[0], list[1]
			s := must(a.w.New(ctx, "Trip"))
			must(a.sync())
			must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "not sent yet"}))
			open := a.opts.OpenStore
			a.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return unreachable{store}, nil }
			if _, err := a.remote().Push(ctx, remote.PushOptions{}); err == nil {
				t.Fatal("it is sent")
			}
			a.opts.OpenStore = open
			files := must(filepath.Glob(filepath.Join(a.w.Dir(), ".bough/remotes/home", pattern)))
			if len(files) != 1 {
				t.Fatalf("there is %v", files)
			}
			if err := os.WriteFile(files[0], []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
			info := must(remote.List(a.w))[0]
			_, err := a.remote().Push(ctx, remote.PushOptions{})
			var e *fault.Error
			if !errors.As(err, &e) || e.Code != fault.Damaged || e.Hint == "" {
				t.Fatalf("a push: %v", err)
			}
			if err := remote.Remove(ctx, a.w, "home"); err != nil {
				t.Fatal(err)
			}
			a.add(info.Key)
			must(a.sync())
			must(b.sync())
			must(a.sync())
			if ms := must(b.w.Mirror().Messages(ctx, s.ID)); len(ms) != 1 || textOf(ms[0]) != "not sent yet" {
				t.Errorf("the other machine has %v", ms)
			}
			if x, y := a.answers(), b.answers(); x != y {
				t.Error(difference(x, y))
			}
		})
	}
}
