package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// options say what to build.
type options struct {
	source, out string
	tag         string // "" for any version
	program     string // "" to build one
	targets     []target
}

// A target is a system to build for.
type target struct{ system, arch string }

func (t target) String() string { return t.system + "_" + t.arch }

// program returns the name of the program.
func (t target) program() string {
	if t.system == "windows" {
		return "bough.exe"
	}
	return "bough"
}

// A build is what all files of a release share.
type build struct {
	version string
	time    time.Time // of every file
	files   []file    // beside the program
}

// A file is a file of an archive or a package. Its name has slashes.
type file struct {
	name string
	data []byte
	mode os.FileMode
}

// release builds all files of a release. It writes nothing into o.out before all are built.
func release(ctx context.Context, o options) error {
	if _, err := os.Lstat(o.out); !errors.Is(err, os.ErrNotExist) {
		return cmp.Or(err, fmt.Errorf("%s already exists", o.out))
	}
	work, err := os.MkdirTemp("", "bough-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if o.program == "" {
		here := target{runtime.GOOS, runtime.GOARCH}
		if o.program, err = compile(ctx, o.source, filepath.Join(work, "here"), here); err != nil {
			return err
		}
	}
	b, err := describe(ctx, o)
	if err != nil {
		return err
	}
	var made []file
	for _, t := range o.targets {
		name, err := compile(ctx, o.source, filepath.Join(work, t.String()), t)
		if err != nil {
			return err
		}
		program, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "built %s, %d bytes\n", t, len(program))
		files, err := b.pack(t, program)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		made = append(made, files...)
	}
	made = append(made, b.manifests(made)...)
	made = append(made, checksums(made))
	return write(o.out, made)
}

// compile builds the program for a target, and returns its path. The information of Go in it has
// the commit, its time, and whether the clone has other changes.
func compile(ctx context.Context, source, dir string, t target) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, t.program())
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-tags=urfave_cli_no_docs", "-ldflags=-s -w", "-o", program, "./cmd/bough")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+t.system, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build for %s: %w\n%s", t, err, out)
	}
	return program, nil
}

// describe asks the program for its version, and has it write the files beside it.
func describe(ctx context.Context, o options) (*build, error) {
	var about struct{ Version string }
	text, err := output(ctx, o.program, nil, "version", "--json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return nil, fmt.Errorf("%s version --json: %w", o.program, err)
	}
	if o.tag != "" && o.tag != "v"+about.Version {
		return nil, fmt.Errorf("the tag %s is not that of version %s", o.tag, about.Version)
	}
	b := &build{version: about.Version}
	if b.time, err = sourceTime(ctx, o.source); err != nil {
		return nil, err
	}
	if b.files, err = accompanying(ctx, o, b.time); err != nil {
		return nil, err
	}
	return b, nil
}

// sourceTime returns the time in $SOURCE_DATE_EPOCH, by default that of the commit. The clone
// must have no other changes, so that the time and the commit in the program are true.
func sourceTime(ctx context.Context, source string) (time.Time, error) {
	changes, err := output(ctx, "git", nil, "-C", source, "status", "--porcelain")
	if err != nil {
		return time.Time{}, err
	}
	if len(changes) > 0 {
		return time.Time{}, fmt.Errorf("%s has changes that are not committed:\n%s", source, changes)
	}
	text := []byte(os.Getenv("SOURCE_DATE_EPOCH"))
	if len(text) == 0 {
		if text, err = output(ctx, "git", nil, "-C", source, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("the time of the source: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// accompanying returns the files beside the program: what the program writes about itself, and
// documents.
func accompanying(ctx context.Context, o options, when time.Time) (files []file, err error) {
	dir, err := os.MkdirTemp("", "bough-man-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	env := []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", when.Unix())}
	if _, err := output(ctx, o.program, env, "man", "--dir", dir); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		data, err := os.ReadFile(filepath.Join(dir, p.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"man/" + p.Name(), data, 0o644})
	}
	for _, c := range []struct{ shell, name string }{{"bash", "bough.bash"}, {"fish", "bough.fish"}, {"zsh", "_bough"}} {
		script, err := output(ctx, o.program, nil, "completion", c.shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + c.name, script, 0o644})
	}
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(o.source, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data, 0o644})
	}
	return files, nil
}

// output runs a program with additional variables, and returns its output.
func output(ctx context.Context, program string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, &errs)
	}
	return out, nil
}

// write writes files into a new folder.
func write(dir string, files []file) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
