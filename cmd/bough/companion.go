package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/model/pipe"
	"github.com/bough-dev/bough/workspace"
	"github.com/gofrs/flock"
)

// companion starts the program that has the models and tools whose libraries are large;
// every start of bough would pay for them. Whoever starts it closes it.
func (p *program) companion(ctx context.Context) (*pipe.Client, error) {
	path, err := p.companionPlaces().find(ctx)
	if err != nil {
		return nil, err
	}
	c, err := pipe.Start(ctx, exec.Command(path), &pipe.Options{Version: version})
	if err != nil && ctx.Err() == nil {
		return nil, &workspace.Error{Code: workspace.Failed, Message: err.Error(), Hint: installHint}
	}
	return c, err
}

const installHint = "'go install github.com/bough-dev/bough/cmd/...@latest' installs bough and it"

// companionPlaces is where the companion may be.
type companionPlaces struct {
	executable string // this program, "" if that is not known
	source     string // the folder of its source, "" if it is not known
	cache      string // a folder for what can be made again, "" if there is none
	note       func(string)
}

func (p *program) companionPlaces() *companionPlaces {
	places := &companionPlaces{source: sourceFolder(), note: p.note}
	if path, err := os.Executable(); err == nil {
		if places.executable, err = filepath.EvalSymlinks(path); err != nil {
			places.executable = path
		}
	}
	if dir, err := os.UserCacheDir(); err == nil {
		places.cache = filepath.Join(dir, "bough")
	}
	return places
}

// sourceFolder returns the folder of the module, if this program was built from one that is
// still there.
func sourceFolder() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	dir := filepath.Dir(filepath.Dir(filepath.Dir(filepath.FromSlash(file)))) // cmd/bough/companion.go
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(data), "module github.com/bough-dev/bough\n") {
		return ""
	}
	return dir
}

// find returns the path of the companion: beside this program, else on the PATH, else made
// from the source.
func (c *companionPlaces) find(ctx context.Context) (string, error) {
	name := pipe.Program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if c.executable != "" {
		path := filepath.Join(filepath.Dir(c.executable), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if goCommand, err := exec.LookPath("go"); err == nil && c.source != "" && c.cache != "" {
		return c.build(ctx, goCommand, name)
	}
	return "", &workspace.Error{
		Code:    workspace.Failed,
		Message: fmt.Sprintf("the program %s, which has the models, is neither beside bough nor on the PATH", pipe.Program),
		Hint:    installHint,
	}
}

// build makes the companion from the source, unless it has not changed since.
func (c *companionPlaces) build(ctx context.Context, goCommand, name string) (string, error) {
	sum := sha256.Sum256([]byte(c.source))
	dir := filepath.Join(c.cache, fmt.Sprintf("models-%x", sum[:4]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return "", err
	}
	defer lock.Close()
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		c.note(fmt.Sprintf("makes %s from %s, which takes a while, once", pipe.Program, c.source))
	}
	build := exec.CommandContext(ctx, goCommand, "build", "-o", path, "./cmd/"+pipe.Program)
	build.Dir = c.source
	out, err := build.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		const most = 1000
		said := strings.TrimSpace(string(out))
		return "", fmt.Errorf("%s cannot be made from %s: %w: %s", pipe.Program, c.source, err, said[max(0, len(said)-most):])
	}
	return path, nil
}
