//go:build linux && powerloss

package workspace_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"golang.org/x/sys/unix"
)

// usedBytes returns how many bytes of the file system in dir are in use.
func usedBytes(t *testing.T, dir string) int64 {
	t.Helper()
	f := openFolder(t, dir)
	defer unix.Close(f)
	var st unix.Statfs_t
	if err := unix.Syncfs(f); err != nil {
		t.Fatal(err)
	}
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize
}

// openFolder opens a folder until the test ends.
func openFolder(t *testing.T, dir string) (fd int) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// TestReflink: on XFS and btrfs 50 named checkpoints of a chat of 9,020 messages, and the 980
// messages between them, take at most 0.3 of its size beyond the chat, without the cache; btrfs
// keeps its metadata twice.
func TestReflink(t *testing.T) {
	const checkpoints, between = 50, 20
	for kind, limit := range map[string]float64{"xfs": 0.3, "btrfs": 0.5} {
		t.Run(kind, func(t *testing.T) {
			device, dir := loop(t, kind, 512<<20), filepath.Join(t.TempDir(), "disk")
			unmount := mounted(t, dir, kind, device)
			s := openSpace(t, filepath.Join(dir, "ws"), 1<<30)
			files := testchat.Chat{Messages: 9_020, PerFile: 834, Text: 1530}.Files()
			if err := testchat.Write(s.Dir(), files); err != nil {
				t.Fatal(err)
			}
			tail := files[len(files)-1].ID
			var names []string
			size := int64(0)
			for _, f := range files {
				names, size = append(names, session.FileName(f.ID)), size+int64(len(f.Data))
			}
			s.append(workspace.Append{Session: tail, Text: "ready"})
			var plain, taken []time.Duration
			for range 5 {
				plain = append(plain, timed(func() { s.copyRaw(names, "raw") }))
				s.removeRaw()
			}
			remount := func() {
				unmount()
				unmount = mounted(t, dir, kind, device)
			}
			remount()
			s.forget()
			before := usedBytes(t, dir)
			last := ""
			for i := range checkpoints {
				if i > 0 {
					for k := range between {
						s.append(workspace.Append{Session: tail, Text: fmt.Sprintf("message %d of round %d %s", k, i, strings.Repeat("some words of text ", 80))})
					}
				}
				taken = append(taken, timed(func() { last = s.checkpoint(tail).ID }))
			}
			s.healthy("after 50 checkpoints")
			s.forget()
			remount()
			grown := s.sizeOf(session.FileName(tail)) - int64(len(files[len(files)-1].Data))
			used := float64(usedBytes(t, dir)-before-grown) / float64(size+grown)
			t.Logf("%d checkpoints on %s take %.3f of the chat, and each %.2f of the time of a copy", checkpoints, kind, used, ratio(taken, plain))
			if used > limit {
				t.Errorf("%d checkpoints take %.3f of the chat", checkpoints, used)
			}
			if got := s.session(last).Len(); got != 9_020+1+(checkpoints-1)*between {
				t.Errorf("the last checkpoint has %d messages", got)
			}
		})
	}
}
