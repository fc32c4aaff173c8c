package durable_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
)

// extended returns a batch that creates the file recipe and adds bytes at an offset of the
// file pack.
func extended(t *testing.T, root *os.Root, at int64) (*durable.Batch, error) {
	t.Helper()
	b := durable.NewBatch(root)
	if err := b.Extend("pack", at, at > 0, durable.Bytes([]byte("new "), []byte("frame"))); err != nil {
		return b, err
	}
	_, err := b.Create("recipe", durable.Bytes([]byte("recipe")))
	return b, err
}

// TestExtend: bytes are added at an offset, in place of a torn write, and a discarded batch
// removes them.
func TestExtend(t *testing.T) {
	for _, c := range []struct {
		had              string // "" for no file
		at               int64
		committed, after string // "" if there is no file
	}{
		{"", 0, "new frame", ""},
		{"old", 3, "oldnew frame", "old"},
		{"old torn", 3, "oldnew frame", "old"},
		{"old and a torn write that is longer", 3, "oldnew frame", "old"},
		{"torn", 0, "new frame", ""},
	} {
		for _, commit := range []bool{true, false} {
			root, dir := open(t)
			if c.had != "" {
				put(t, filepath.Join(dir, "pack"), c.had, 0o640)
			}
			b, err := extended(t, root, c.at)
			if err != nil {
				t.Fatal(err)
			}
			want := c.after
			if commit {
				want = c.committed
				_, later, err := b.Commit(t.Context())
				if err != nil || later != nil {
					t.Fatal(err, later)
				}
			}
			b.Discard()
			got := ""
			if slices.Contains(names(t, dir), "pack") {
				got = content(t, filepath.Join(dir, "pack"))
			}
			if got != want {
				t.Errorf("%q from %d on, committed %v: %q, want %q", c.had, c.at, commit, got, want)
			}
			if slices.Contains(names(t, dir), "recipe") != commit {
				t.Errorf("%q from %d on, committed %v: the folder holds %q", c.had, c.at, commit, names(t, dir))
			}
			switch {
			case c.had != "":
				wantMode(t, filepath.Join(dir, "pack"), 0o640)
			case commit:
				wantMode(t, filepath.Join(dir, "pack"), durable.Mode)
			}
			if err := os.RemoveAll(dir); err != nil { // Windows refuses it if a file is still open
				t.Error(err)
			}
		}
	}
}

// TestExtendOrder: the added bytes, and the name of a file of which that is not known, are
// durable before any rename.
func TestExtendOrder(t *testing.T) {
	for _, c := range []struct {
		had    string
		opened string // how the file is opened
		named  string // how its name is made durable
	}{
		{"", "make pack", "\nsyncdir ."},
		{", torn", "open pack\ncut pack", "\nsyncdir ."},
		{"old, torn", "open pack\ncut pack", ""},
	} {
		want := c.opened + `
write pack
make .recipe.bough-tmp
write .recipe.bough-tmp
open log
write log
sync log
sync pack` + c.named + `
sync .recipe.bough-tmp
rename .recipe.bough-tmp
syncdir .
write log`
		root, dir := open(t)
		put(t, filepath.Join(dir, "log"), "before\n", 0o600)
		at := int64(0)
		if c.had != "" {
			put(t, filepath.Join(dir, "pack"), c.had, 0o600)
			at = int64(strings.Index(c.had, ", torn"))
		}
		var steps []string
		restore := durable.Interpose(func(_ *os.Root, s durable.Step) error {
			if s.Do != durable.Chmod {
				steps = append(steps, string(s.Do)+" "+s.Name)
			}
			return nil
		})
		b, err := extended(t, root, at)
		if err == nil {
			err = b.Log("log", []byte("line\n"))
		}
		if err == nil {
			_, _, err = b.Commit(t.Context())
		}
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(steps, "\n"); got != want {
			t.Errorf("with %q a commit does\n%s\nwant\n%s", c.had, got, want)
		}
	}
}

// TestExtendFails: whichever step fails, the file has its old bytes, and the new ones if and
// only if the other file of the batch has its name.
func TestExtendFails(t *testing.T) {
	disk := errors.New("disk")
	for _, had := range []string{"", "old", "old, torn"} {
		failed := 0
		for k := 0; ; k++ {
			root, dir := open(t)
			at := int64(0)
			if had != "" {
				put(t, filepath.Join(dir, "pack"), had, 0o600)
				at = 3
			}
			n, what := -1, ""
			restore := durable.Interpose(func(_ *os.Root, s durable.Step) error {
				if n++; n == k {
					what = fmt.Sprintf("%q, where %s %s fails", had, s.Do, s.Name)
					return disk
				}
				return nil
			})
			b, err := extended(t, root, at)
			if err == nil {
				_, _, err = b.Commit(t.Context())
			}
			b.Discard()
			restore()
			if what == "" {
				break
			}
			failed++
			if err != nil && !errors.Is(err, disk) {
				t.Errorf("%s: %v", what, err)
			}
			named := slices.Contains(names(t, dir), "recipe")
			got := ""
			if slices.Contains(names(t, dir), "pack") {
				got = content(t, filepath.Join(dir, "pack"))
			}
			switch {
			case err == nil && !named:
				t.Errorf("%s: no error, and no recipe", what)
			case !strings.HasPrefix(got, had[:at]):
				t.Errorf("%s: the pack is %q", what, got)
			case named && got != had[:at]+"new frame":
				t.Errorf("%s: there is a recipe, and the pack is %q", what, got)
			case !named && !strings.HasPrefix(had, got):
				t.Errorf("%s: there is no recipe, and the pack is %q", what, got)
			}
			for _, name := range names(t, dir) {
				if strings.HasSuffix(name, durable.TempSuffix) {
					t.Errorf("%s: %s is left", what, name)
				}
			}
		}
		if failed < 8 {
			t.Errorf("%q: %d steps", had, failed)
		}
	}
}

// TestExtendWriteFails: an error of the function that writes leaves the old bytes.
func TestExtendWriteFails(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "pack"), "old", 0o600)
	broken := errors.New("broken")
	for _, name := range []string{"pack", "other"} {
		b := durable.NewBatch(root)
		at := int64(3)
		if name == "other" {
			at = 0
		}
		err := b.Extend(name, at, false, func(w *durable.Writer) error {
			if _, err := w.Write(make([]byte, 3<<20)); err != nil { // more than is written ahead at once
				return err
			}
			return broken
		})
		if !errors.Is(err, broken) {
			t.Errorf("Extend of %s = %v", name, err)
		}
		b.Discard()
	}
	if got := names(t, dir); !slices.Equal(got, []string{"pack"}) || content(t, filepath.Join(dir, "pack")) != "old" {
		t.Errorf("the folder holds %q", got)
	}
}

// TestExtendRefused: a file that is too short, missing, not regular or extended already is
// not changed.
func TestExtendRefused(t *testing.T) {
	root, dir := open(t)
	put(t, filepath.Join(dir, "short"), "12", 0o600)
	put(t, filepath.Join(dir, "twice"), "12", 0o600)
	if err := root.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	b := durable.NewBatch(root)
	if err := b.Extend("twice", 2, true, durable.Bytes([]byte("3"))); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int64{"short": 3, "missing": 1, "folder": 0, "twice": 3, "nowhere/pack": 0} {
		if err := b.Extend(name, at, true, durable.Bytes([]byte("3"))); err == nil {
			t.Errorf("Extend of %s succeeds", name)
		}
	}
	b.Discard()
	if got := names(t, dir); !slices.Equal(got, []string{"folder", "short", "twice"}) {
		t.Errorf("the folder holds %q", got)
	}
	for _, name := range []string{"short", "twice"} {
		if got := content(t, filepath.Join(dir, name)); got != "12" {
			t.Errorf("%s holds %q", name, got)
		}
	}
}
