package isolate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/gitrepo"
)

// unlist removes the deleted worktree at to from the list of the repository that contains
// from, as git does. Other missing worktrees stay listed, because their disk may be
// temporarily unavailable.
func unlist(from, to string) error {
	for !exists(from) && filepath.Dir(from) != from {
		from = filepath.Dir(from)
	}
	r, _ := gitrepo.Find(from, os.Getenv)
	if r == nil {
		return nil
	}
	list := filepath.Join(r.Common, "worktrees")
	entries, err := os.ReadDir(list)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	found := false
	for _, entry := range entries {
		dir := filepath.Join(list, entry.Name())
		b, _ := os.ReadFile(filepath.Join(dir, "gitdir"))
		back := filepath.FromSlash(strings.TrimSpace(string(b)))
		if !filepath.IsAbs(back) {
			back = filepath.Join(dir, back)
		}
		if back == filepath.Join(to, ".git") {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			found = true
		}
	}
	if found {
		os.Remove(list) // fails if it is not empty
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
