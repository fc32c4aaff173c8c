package unpack_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/unpack"
	"github.com/klauspost/compress/zstd"
)

// walk returns the files with their content, and the errors.
func walk(t *testing.T, dir string, o unpack.Options, paths ...string) (files, failed []string) {
	t.Helper()
	err := unpack.Walk(t.Context(), paths, o, func(f unpack.File) error {
		data, err := io.ReadAll(f.In)
		rel := func(path string) string {
			return filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
		if err != nil {
			failed = append(failed, rel(f.Path)+": "+err.Error())
			return nil
		}
		about := ""
		if f.Named {
			about = " named"
		}
		if len(data) > 20 {
			data = fmt.Appendf(nil, "%d bytes", len(data))
		}
		files = append(files, fmt.Sprintf("%s (%s)%s: %s", rel(f.Path), f.Within, about, data))
		return nil
	}, func(path string, err error) { failed = append(failed, filepath.Base(path)+": "+err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	return files, failed
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipOf(t *testing.T, parts ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		part, err := w.CreateHeader(&zip.FileHeader{Name: parts[i], Method: zip.Deflate})
		if err == nil {
			_, err = io.WriteString(part, parts[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarOf(t *testing.T, parts ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		h := &tar.Header{Name: parts[i], Mode: 0o600, Size: int64(len(parts[i+1])), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(parts[i+1], "-> "); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, target, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, parts[i+1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b", "two.json"), []byte("2"))
	write(t, filepath.Join(dir, "b", "deep", "three"), []byte("3"))
	write(t, filepath.Join(dir, "a.json"), []byte("1"))
	write(t, filepath.Join(dir, "empty"), nil)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "c.zst"), z.EncodeAll([]byte("zstd"), nil))
	write(t, filepath.Join(dir, "d.bin"), gzipped(t, tarOf(t, "x", "in a tar")))
	write(t, filepath.Join(dir, "e"), zipOf(t, "x/y.json", "in a zip"))
	write(t, filepath.Join(dir, "f.gz"), gzipped(t, []byte("gzip")))
	if runtime.GOOS != "windows" {
		if err := os.Symlink(filepath.Join(dir, "a.json"), filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
	}
	files, failed := walk(t, dir, unpack.Options{}, dir)
	same(t, "a folder", files, []string{
		"a.json (a.json): 1", "b/deep/three (b/deep/three): 3", "b/two.json (b/two.json): 2", "c.zst (c.zst): zstd",
		"d.bin/x (x): in a tar", "e/x/y.json (x/y.json): in a zip", "empty (empty): ", "f.gz (f.gz): gzip",
	})
	same(t, "what failed", failed, nil)
	files, failed = walk(t, dir, unpack.Options{Holds: func(within string) bool { return strings.HasPrefix(within, "b/") }}, dir)
	same(t, "some of it", files, []string{"b/deep/three (b/deep/three): 3", "b/two.json (b/two.json): 2"})
	same(t, "what failed", failed, nil)
	files, failed = walk(t, dir, unpack.Options{Stdin: bytes.NewReader(zipOf(t, "s", "piped"))}, "-", filepath.Join(dir, "a.json"), filepath.Join(dir, "nowhere"))
	same(t, "named", files, []string{"-/s (s): piped", "a.json (a.json) named: 1"})
	if len(failed) != 1 || !strings.HasPrefix(failed[0], "nowhere: ") {
		t.Errorf("failed are %q", failed)
	}
}

// TestHostile: names lead nowhere, links are not followed, and uncompressed sizes
// are limited.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	secret := write(t, filepath.Join(dir, "outside", "secret"), []byte("secret"))
	in := filepath.Join(dir, "in")
	write(t, filepath.Join(in, "1.zip"), zipOf(t, "../../outside/secret", "mine", "/etc/passwd", "mine too", "a\x1b[31m\nb", "odd"))
	write(t, filepath.Join(in, "2.tar"), tarOf(t, "../x", "up", "link", "-> "+secret))
	files, failed := walk(t, dir, unpack.Options{}, in)
	same(t, "names", files, []string{
		"in/1.zip/outside/secret (outside/secret): mine", "in/1.zip/etc/passwd (etc/passwd): mine too", "in/1.zip/a?[31m?b (a?[31m?b): odd",
		"in/2.tar/x (x): up",
	})
	same(t, "what failed", failed, nil)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("unexpected files: %v, %v", left, err)
	}

	var o unpack.Options
	bomb := 80 << 20
	if limit := testsize.Of(1<<20, 0, 0); limit > 0 {
		o.SetFree(int64(limit))
		bomb = limit + limit/4
	}
	zeros := strings.Repeat("0", bomb)
	for name, bomb := range map[string][]byte{
		"a.zip": zipOf(t, "z", zeros), "a.gz": gzipped(t, []byte(zeros)), "a.tgz": gzipped(t, tarOf(t, "z", zeros)),
	} {
		files, failed := walk(t, dir, o, write(t, filepath.Join(dir, name), bomb))
		if len(files) > 0 || len(failed) == 0 || name == "a.gz" && len(failed) > 1 || !strings.Contains(failed[0], "unpacks to too much") {
			t.Errorf("%s: files %q, failed %q", name, files, failed)
		}
	}

	whole := zipOf(t, "x", strings.Repeat("some text ", 100))
	for _, data := range [][]byte{whole[:len(whole)/2], gzipped(t, []byte("whole"))[:12], []byte("PK\x03\x04"), []byte("\x1f\x8b"), []byte("\x28\xb5\x2f\xfd")} {
		files, failed := walk(t, dir, unpack.Options{}, write(t, filepath.Join(dir, "torn"), data))
		if len(files) > 0 || len(failed) == 0 {
			t.Errorf("%.8q: files %q, failed %q", data, files, failed)
		}
	}
}

// TestNested: an archive in an archive is not read, and the files beside it are.
func TestNested(t *testing.T) {
	dir := t.TempDir()
	inner := map[string]string{
		"zip": string(zipOf(t, "x", "1")), "tar": string(tarOf(t, "x", "1")),
		"gz": string(gzipped(t, []byte("1"))), "tgz": string(gzipped(t, tarOf(t, "x", "1"))),
	}
	for ext, data := range inner {
		for name, outer := range map[string][]byte{
			"a.zip": zipOf(t, "in."+ext, data, "plain", "2"), "a.tar": tarOf(t, "in."+ext, data, "plain", "2"),
			"a.tgz": gzipped(t, tarOf(t, "in."+ext, data, "plain", "2")),
		} {
			path := write(t, filepath.Join(dir, name), outer)
			files, failed := walk(t, dir, unpack.Options{}, path)
			same(t, name+" with "+ext, files, []string{name + "/plain (plain): 2"})
			same(t, name+" with "+ext+" failed", failed, []string{"in." + ext + ": " + unpack.ErrNested.Error()})
		}
	}
	path := write(t, filepath.Join(dir, "zip.gz"), gzipped(t, []byte(inner["zip"])))
	files, failed := walk(t, dir, unpack.Options{}, path)
	same(t, "zip.gz", files, nil)
	same(t, "zip.gz failed", failed, []string{"zip.gz: " + unpack.ErrNested.Error()})
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		write(t, filepath.Join(dir, fmt.Sprint(i)), bytes.Repeat([]byte("x"), 10000))
	}
	last, total := int64(0), int64(0)
	o := unpack.Options{Progress: func(done, of int64) {
		if done < last || done > of {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last, total = done, of
	}}
	walk(t, dir, o, dir)
	if last != 100000 || total != 100000 {
		t.Errorf("it ends with %d of %d", last, total)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := unpack.Walk(ctx, []string{dir}, unpack.Options{}, func(unpack.File) error {
		if n++; n == 3 {
			cancel()
		}
		return nil
	}, func(path string, err error) { t.Errorf("%s: %v", path, err) })
	if !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("it ends with %v after %d files", err, n)
	}
}

// TestLinks: a folder argument may be a link, for example to a synchronized folder;
// links in folders are not followed.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "real", "sub", "a.txt"), []byte("a"))
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(dir, "real", "ring")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, link + string(filepath.Separator)} {
		files, failed := walk(t, dir, unpack.Options{}, path)
		if want := []string{"link/sub/a.txt (sub/a.txt): a"}; !slices.Equal(files, want) || len(failed) > 0 {
			t.Errorf("%s: %q, %q", path, files, failed)
		}
	}
}
