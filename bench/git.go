package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A git keeps the conversation in a repository of its own; a checkpoint is a
// commit of its files.
type git struct {
	fsync   string // what git syncs, a value of core.fsync
	oneFile bool   // the conversation is one session file
}

func findGit(context.Context, *work) error {
	_, err := exec.LookPath("git")
	return err
}

// A repository is the git repository in a folder.
type repository struct {
	git
	ctx context.Context
	dir string
}

// run runs git undisturbed by anyone's configuration and without its upkeep.
func (r repository) run(args ...string) ([]byte, error) {
	args = append([]string{"-C", r.dir, "-c", "core.fsync=" + r.fsync, "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)
	c := exec.CommandContext(r.ctx, "git", args...)
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost")
	return output(c)
}

// all runs one command after the other.
func (r repository) all(commands ...[]string) error {
	for _, args := range commands {
		if _, err := r.run(args...); err != nil {
			return err
		}
	}
	return nil
}

func (r repository) commit(message string) error {
	return r.all([]string{"add", "--all", "conversations"}, []string{"commit", "--quiet", "--allow-empty", "-m", message})
}

// holds reports how a commit holds other files than c.
func (r repository) holds(commit string, c chat) error {
	names, err := r.run("ls-tree", "-r", "--name-only", commit)
	if err != nil {
		return err
	}
	if n := strings.Count(string(names), "\n"); n != len(c) {
		return fmt.Errorf("%s has %d files, want %d", commit, n, len(c))
	}
	for _, f := range c {
		data, err := r.run("cat-file", "blob", commit+":conversations/"+f.ID+".json")
		if err != nil {
			return err
		}
		if !bytes.Equal(data, f.Data) {
			return fmt.Errorf("%s has other bytes in %s", commit, f.ID)
		}
	}
	return nil
}

func (g git) init(ctx context.Context, dir string) (repository, error) {
	r := repository{g, ctx, dir}
	_, err := r.run("init", "--quiet", "--template=", "--initial-branch=main")
	return r, err
}

func (g git) open(ctx context.Context, w *work, dir string) (*running, error) {
	files := w.chained
	if g.oneFile {
		files = w.single
	}
	r, err := g.init(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := files.write(dir, nil); err != nil {
		return nil, err
	}
	checkpoint := func(c chat) task {
		return task{
			do:     func() error { return r.commit("checkpoint") },
			verify: func() error { return r.holds("HEAD", c) },
		}
	}
	grown, cut := files.grown(), files.cut(w.branch)
	once := checkpoint(grown)
	once.before = func() error { return grown.write(dir, files) }
	loaded := make([][]byte, len(grown))
	path := func(i int) string { return filepath.Join(dir, "conversations", grown[i].ID+".json") }
	return &running{
		tasks: map[job]task{
			first: checkpoint(files),
			again: checkpoint(files),
			later: once,
			branch: {
				do: func() error {
					if _, err := r.run("checkout", "--quiet", "-b", "branch"); err != nil {
						return err
					}
					if err := cut.write(dir, grown); err != nil {
						return err
					}
					return r.commit("branch")
				},
				verify: func() error { return errors.Join(r.holds("main", grown), r.holds("branch", cut)) },
			},
			load: {
				before: func() error { return os.RemoveAll(filepath.Join(dir, "conversations")) },
				do: func() (err error) {
					if _, err := r.run("checkout", "--quiet", "--force", "main"); err != nil {
						return err
					}
					for i := range grown {
						if loaded[i], err = os.ReadFile(path(i)); err != nil {
							return err
						}
					}
					return nil
				},
				verify: func() error {
					for i, f := range grown {
						if !bytes.Equal(loaded[i], f.Data) {
							return fmt.Errorf("%s has other bytes", f.ID)
						}
					}
					return nil
				},
			},
		},
		close: func() error { return nil },
	}, nil
}

// fifty counts what git keeps, before and after it packs it.
func (g git) fifty(ctx context.Context, w *work, dir string) ([]footprint, error) {
	r, err := g.init(ctx, dir)
	if err != nil {
		return nil, err
	}
	var before chat
	var times laps
	err = w.growing(g.oneFile, func(c chat) error {
		if err := c.write(dir, before); err != nil {
			return err
		}
		before = c
		if err := times.checkpoint(func() error { return r.commit("checkpoint") }); err != nil {
			return err
		}
		_, err := r.run("tag", fmt.Sprint("at-", len(c.messages())))
		return err
	})
	if err != nil {
		return nil, err
	}
	loose, err := bytesIn(filepath.Join(dir, ".git"), anyName)
	if err != nil {
		return nil, err
	}
	commits, gc := times.each(), laps{n: 1}
	err = times.do(func() error {
		return gc.do(func() error {
			_, err := r.run("gc", "--quiet", "--prune=now")
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	packed, err := bytesIn(filepath.Join(dir, ".git"), anyName)
	if err != nil {
		return nil, err
	}
	err = w.growing(g.oneFile, func(c chat) error { return r.holds(fmt.Sprint("at-", len(c.messages())), c) })
	return []footprint{{"loose", loose, commits}, {fmt.Sprintf("after a gc of %.1f s, which is part of the time", gc.sum.Seconds()), packed, times.each()}}, err
}
