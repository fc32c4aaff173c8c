package durable_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
)

// TestClone: a clone has the bytes of its source at the right offset, on every file system
// and with offsets of any kind, and the bytes after it follow.
func TestClone(t *testing.T) {
	root, dir := open(t)
	source := bytes.Repeat([]byte("0123456789abcdef"), 1<<10)
	put(t, filepath.Join(dir, "source"), string(source), 0o600)
	in, err := root.Open("source")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if size := durable.BlockSize(root, "."); size != 0 && (size < 512 || size > 64<<10) {
		t.Errorf("blocks have %d bytes", size)
	}
	if size := durable.BlockSize(root, "missing"); size != 0 {
		t.Errorf("blocks of a missing folder have %d bytes", size)
	}
	for _, c := range []struct{ before, from, n int }{{0, 0, 4096}, {4096, 8192, 8192}, {5, 8192, 4096}, {4096, 3, 17}, {4096, 0, 0}} {
		for what, reader := range map[string]io.ReaderAt{"file": in, "bytes": bytes.NewReader(source)} {
			_, err := durable.Replace(root, "a", func(w *durable.Writer) error {
				w.Write(source[:c.before])
				if err := w.Clone(reader, int64(c.from), int64(c.n)); err != nil {
					return err
				}
				if _, err := w.WriteString("end"); err != nil {
					return err
				}
				_, err := w.WriteAt([]byte("X"), 1)
				return err
			})
			want := []byte(string(source[:c.before]) + string(source[c.from:c.from+c.n]) + "end")
			want[1] = 'X'
			if got := content(t, filepath.Join(dir, "a")); err != nil || got != string(want) {
				t.Errorf("%+v of a %s: %v, %d bytes, want %d", c, what, err, len(got), len(want))
			}
			if got := content(t, filepath.Join(dir, "source")); got != string(source) {
				t.Fatalf("%+v of a %s changes the source", c, what)
			}
		}
	}
	for what, reader := range map[string]io.ReaderAt{"file": in, "bytes": strings.NewReader("short")} {
		_, err := durable.Replace(root, "b", func(w *durable.Writer) error { return w.Clone(reader, 8192, 16384) })
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a clone of a short %s: %v", what, err)
		}
	}
	in.Close()
	_, err = durable.Replace(root, "b", func(w *durable.Writer) error { return w.Clone(in, 0, 4096) })
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("a clone of a closed file: %v", err)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("the folder holds %q", got)
	}
}

// TestCloneSteps: observers of steps see a clone as a write of its bytes.
func TestCloneSteps(t *testing.T) {
	defer durable.AssumeBlockSize(4096)()
	root, dir := open(t)
	put(t, filepath.Join(dir, "source"), strings.Repeat("x", 8192), 0o600)
	in, err := root.Open("source")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	written := 0
	defer durable.Interpose(func(_ *os.Root, s durable.Step) error {
		if s.Do == durable.Write {
			written += len(s.Data)
		}
		return nil
	})()
	_, err = durable.Replace(root, "a", func(w *durable.Writer) error { return w.Clone(in, 0, 8192) })
	if err != nil || written != 8192 || durable.BlockSize(root, ".") != 4096 {
		t.Errorf("%d bytes are written, %v", written, err)
	}
}
