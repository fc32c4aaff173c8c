package sessions_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// TestPackChanged: a message that another program changed after the outline was made is not
// packed.
func TestPackChanged(t *testing.T) {
	content := laidOut(message("a", `"x":1`), message("b", ""))
	for name, change := range map[string]func(file string) error{
		"a byte": func(file string) error {
			return os.WriteFile(file, []byte(strings.Replace(content, "x", "y", 1)), 0o600)
		},
		"truncated":  func(file string) error { return os.Truncate(file, 60) },
		"empty":      func(file string) error { return os.Truncate(file, 0) },
		"missing":    os.Remove,
		"of its own": nil,
	} {
		f, dir := folder(t, map[string]string{"conversations/p.json": content})
		p := outline(t, f, "p")
		if change != nil {
			if err := change(filepath.Join(dir, "conversations", "p.json")); err != nil {
				t.Fatal(err)
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		b := durable.NewBatch(root)
		d := &session.Document{ID: "q", Messages: []session.Run{{Part: p, From: 0, To: 2}}}
		var done, total int64
		_, err = f.Pack(b, d, []sessions.PackedLine{{ID: "line"}}, func(d, t int64) error {
			done, total = d, t
			return nil
		})
		if is := errors.Is(err, session.ErrChanged); is != (change != nil) || !is && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if change == nil && (done != total || total == 0) {
			t.Errorf("%d of %d bytes were reported", done, total)
		}
		b.Discard()
		if _, err := os.Stat(filepath.Join(dir, "packed", "line.zst")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the pack exists: %v", name, err)
		}
	}
}
