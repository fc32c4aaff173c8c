package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	system = flag.String("target", "linux/arm64", "build for this system, `linux/ARCH`; the program is tried if this machine can run it")
	cold   = flag.Bool("cold", false, "compile everything anew in the second build")
)

// TestRelease builds the last commit twice, in clones in two folders: the files are the same
// bytes, and each of them is what it says.
func TestRelease(t *testing.T) {
	os, arch, ok := strings.Cut(*system, "/")
	if !ok || os != "linux" {
		t.Fatalf("-target is linux/ARCH, not %q", *system)
	}
	b := &builder{t: t, target: target{os, arch}}
	b.program = b.here()
	first := b.build("a", nil)
	var env []string
	if *cold {
		env = append(env, "GOCACHE="+t.TempDir())
	}
	second := b.build(filepath.Join("another folder", "b"), env)
	b.same(first, second)
	b.dir = first
	for name, test := range map[string]func(*testing.T){"archive": b.archive, "deb": b.deb, "rpm": b.rpm, "sums": b.sums, "commit": b.commit} {
		t.Run(name, test)
	}
}

type builder struct {
	t       *testing.T
	target  target
	program string // a bough for this machine
	dir     string // the files of a release
}

// here builds bough for this machine, as 'go build' does, which other checks have compiled.
func (b *builder) here() string {
	b.t.Helper()
	program := filepath.Join(b.t.TempDir(), "bough")
	cmd := exec.Command("go", "build", "-o", program, "./cmd/bough")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("go build: %v: %s", err, out)
	}
	return program
}

// build builds the last commit in a new clone, and returns the folder with the files.
func (b *builder) build(name string, env []string) string {
	b.t.Helper()
	clone := filepath.Join(b.t.TempDir(), name)
	if out, err := exec.Command("git", "clone", "--quiet", "--shared", "../..", clone).CombinedOutput(); err != nil {
		b.t.Fatalf("git clone: %v: %s", err, out)
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		b.t.Setenv(name, value)
	}
	out := filepath.Join(b.t.TempDir(), "dist")
	if err := release(b.t.Context(), options{source: clone, out: out, program: b.program, targets: []target{b.target}}); err != nil {
		b.t.Fatal(err)
	}
	return out
}

// same fails unless two folders have the same files.
func (b *builder) same(one, other string) {
	b.t.Helper()
	names := list(b.t, one)
	if found := list(b.t, other); !slices.Equal(names, found) || len(names) != 4 {
		b.t.Errorf("one build made %q, the other %q", names, found)
	}
	for _, name := range names {
		if !bytes.Equal(read(b.t, filepath.Join(one, name)), read(b.t, filepath.Join(other, name))) {
			b.t.Errorf("%s differs between two builds", name)
		}
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// only returns the file with an extension.
func (b *builder) only(t *testing.T, extension string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(b.dir, "*"+extension))
	if err != nil || len(found) != 1 {
		t.Fatalf("the release has the files %q with %s, %v", found, extension, err)
	}
	return found[0]
}

// command runs a program, and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v: %s", name, args, err, out)
	}
	return string(out)
}

func (b *builder) archive(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(read(t, b.only(t, ".tar.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"bough": true, "man/bough.1": true, "man/bough-agent-chat.1": true, "completions/_bough": true, "LICENSE": true, "README.md": true}
	pages := 0
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		delete(want, name)
		if strings.HasPrefix(name, "man/") {
			pages++
		}
		if h.Uid != 0 || h.Uname != "" || (h.Mode == 0o755) != (name == "bough") {
			t.Errorf("%s has the owner %d %q and the mode %o", h.Name, h.Uid, h.Uname, h.Mode)
		}
	}
	if len(want) > 0 || pages < 100 {
		t.Errorf("the archive lacks %v, and has %d man pages", want, pages)
	}
}

// deb installs the package in a root that has nothing else, runs the program there, and removes
// it again.
func (b *builder) deb(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("dpkg is not installed: apt-get install dpkg")
	}
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dpkg := func(args ...string) string {
		t.Helper()
		return command(t, "dpkg", append([]string{"--root=" + root, "--log=/dev/null", "--force-not-root", "--force-bad-path"}, args...)...)
	}
	arch := b.target.arch
	if arch == "386" {
		arch = "i386" // for Debian
	}
	if native := strings.TrimSpace(command(t, "dpkg", "--print-architecture")); native != arch {
		dpkg("--add-architecture", arch)
	}
	dpkg("--install", b.only(t, ".deb"))
	if found := dpkg("--verify", "bough:"+arch); found != "" {
		t.Errorf("dpkg --verify: %s", found)
	}
	files := dpkg("--listfiles", "bough:"+arch)
	for _, name := range []string{"/usr/bin/bough", "/usr/share/man/man1/bough.1.gz", "/usr/share/bash-completion/completions/bough", "/usr/share/zsh/vendor-completions/_bough", "/usr/share/doc/bough/copyright"} {
		if !strings.Contains(files, name+"\n") {
			t.Errorf("the package lacks %s", name)
		}
	}
	if b.target.system == runtime.GOOS && b.target.arch == runtime.GOARCH {
		tryInRoot(t, root)
	}
	dpkg("--remove", "bough:"+arch)
	if _, err := os.Lstat(filepath.Join(root, "usr/bin/bough")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program is still there after it was removed: %v", err)
	}
}

// rpm installs the package in a root that has nothing else.
func (b *builder) rpm(t *testing.T) {
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Skip("rpm is not installed: apt-get install rpm")
	}
	name := b.only(t, ".rpm")
	if got := command(t, "rpm", "--query", "--package", "--nosignature", "--queryformat", "%{NAME} %{LICENSE} %{BUILDHOST}", name); got != "bough MIT localhost" {
		t.Errorf("the package is %q", got)
	}
	root := t.TempDir()
	rpm := func(args ...string) string {
		t.Helper()
		return command(t, "rpm", append([]string{"--root", root, "--dbpath", "/var/lib/rpm"}, args...)...)
	}
	rpm("--install", "--ignorearch", "--ignoreos", "--nosignature", name)
	if found := rpm("--verify", "--nouser", "--nogroup", "bough"); found != "" {
		t.Errorf("rpm --verify: %s", found)
	}
	if _, err := os.Stat(filepath.Join(root, "usr/share/man/man1/bough.1.gz")); err != nil {
		t.Error(err)
	}
}

func (b *builder) sums(t *testing.T) {
	cmd := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte(": OK\n")) != 3 {
		t.Errorf("sha256sum: %v: %s", err, out)
	}
}

// commit: the program in the archive says which commit it was built from.
func (b *builder) commit(t *testing.T) {
	dir := t.TempDir()
	command(t, "tar", "-C", dir, "--strip-components=1", "-xzf", b.only(t, ".tar.gz"))
	head := strings.TrimSpace(command(t, "git", "rev-parse", "HEAD"))
	about := command(t, "go", "version", "-m", filepath.Join(dir, "bough"))
	for _, want := range []string{"vcs.revision=" + head, "vcs.modified=false", "CGO_ENABLED=0", "-trimpath=true"} {
		if !strings.Contains(about, want) {
			t.Errorf("the program was not built with %s:\n%s", want, about)
		}
	}
}

// TestManifests: the formula and the manifest name each archive with its checksum.
func TestManifests(t *testing.T) {
	b := &build{version: "1.2.3", time: time.Unix(1795887000, 0)}
	var made []file
	for _, target := range released {
		files, err := b.pack(target, []byte("the program for "+target.String()))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, files...)
	}
	manifests := b.manifests(made)
	if len(manifests) != 2 || !json.Valid(manifests[1].data) {
		t.Fatalf("there are %d manifests, or JSON that is not valid", len(manifests))
	}
	for _, f := range made {
		text := string(manifests[0].data)
		switch {
		case strings.HasSuffix(f.name, ".zip"):
			text = string(manifests[1].data)
		case !strings.HasSuffix(f.name, ".tar.gz"):
			continue
		}
		url := "https://github.com/bough-dev/bough/releases/download/v1.2.3/" + f.name
		_, after, found := strings.Cut(text, url)
		if at := strings.Index(after, sum(f)); !found || at < 0 || at > 40 {
			t.Errorf("%s is not in\n%s", f.name, text)
		}
	}
	if found := b.manifests(made[:1]); len(found) > 0 {
		t.Errorf("without some archives there are %d manifests", len(found))
	}
}

// TestArchives: archives of the same files are the same bytes, with another time others.
func TestArchives(t *testing.T) {
	files := []file{{"bough", []byte("program"), 0o755}, {"man/bough.1", []byte("page"), 0o644}}
	for name, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"tar": tarred, "zip": zipped} {
		var made [3][]byte
		for i, when := range []int64{1795887000, 1795887000, 1795890600} {
			data, err := pack("bough", files, time.Unix(when, 0).UTC())
			if err != nil {
				t.Fatal(err)
			}
			made[i] = data
		}
		if !bytes.Equal(made[0], made[1]) || bytes.Equal(made[0], made[2]) {
			t.Errorf("%s: the bytes do not depend on files and time alone", name)
		}
	}
	data, err := zipped("bough", files, time.Unix(1795887000, 0))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) != 2 || z.File[0].Name != "bough/bough" || z.File[0].Mode() != 0o755 {
		t.Errorf("the zip archive has %v, %v", z.File, err)
	}
}

// TestRefusals: a release is refused, and writes nothing, if the tag is that of another version,
// the clone has other changes, or the folder exists.
func TestRefusals(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bough")
	script := "#!/bin/sh\ncase $1 in version) echo '{\"version\":\"1.2.3\"}';; man) echo page >$3/bough.1;; *) echo script;; esac\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	clone := t.TempDir()
	for name, text := range map[string]string{"CHANGELOG.md": "a", "LICENSE": "b", "README.md": "c"} {
		if err := os.WriteFile(filepath.Join(clone, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		command(t, "git", append([]string{"-C", clone, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	}
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "x")
	out := filepath.Join(t.TempDir(), "dist")
	fails := func(o options, want string) {
		t.Helper()
		o.source, o.program = clone, program
		if err := release(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		if _, err := os.Lstat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder exists: %v", err)
		}
	}
	fails(options{out: out, tag: "v1.2.4"}, "the tag v1.2.4 is not that of version 1.2.3")
	fails(options{out: clone}, "already exists")
	if err := release(t.Context(), options{source: clone, program: program, out: filepath.Join(t.TempDir(), "dist"), tag: "v1.2.3"}); err != nil {
		t.Errorf("the control fails: %v", err)
	}
	if err := os.WriteFile(filepath.Join(clone, "LICENSE"), []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	fails(options{out: out}, "changes that are not committed")
	if err := run(t.Context(), []string{"-out", out, "-targets", "linux"}); err == nil || !strings.Contains(err.Error(), "OS/ARCH") {
		t.Errorf("a wrong target: %v", fmt.Sprint(err))
	}
}
