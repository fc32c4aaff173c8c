package explore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/isolate"
)

// tidy removes the folders of ended branches that a crash left, except those
// that child branches need.
func (r *run) tidy() {
	for _, b := range r.e.Branches {
		if b.Status != Pending && b.Status != Executing && (b.Folder == "" || !r.e.continued(b.ID)) {
			r.removeFolders(b.ID)
		}
	}
}

// removeFolders removes the folders of a branch, unless they are to be kept.
func (r *run) removeFolders(id string) {
	if r.e.Runner.Keep || r.e.Runner.Command == "" {
		return
	}
	dirs, _ := filepath.Glob(filepath.Join(r.folder, id+"*")) // glob characters in the path only make it find fewer
	for _, dir := range dirs {
		r.remove(dir)
	}
}

// makeFolder creates the folder of a branch, and returns the path in it that
// corresponds to the explored folder. A child branch begins with the content of
// its parent's folder.
func (r *run) makeFolder(ctx context.Context, dir string, parent *Branch) (string, error) {
	if err := r.removeFolder(dir); err != nil { // left by a crash
		return "", err
	}
	switch {
	case parent != nil && parent.Folder != "":
		return r.noted(r.continueFrom(ctx, parent, dir))
	case r.e.Runner.Dir == "":
		return dir, os.MkdirAll(dir, 0o700)
	}
	base, err := isolate.Repository(ctx, r.e.Runner.Dir)
	if _, ok := errors.AsType[*isolate.Unsuitable](err); ok || err == nil && r.e.State == "" {
		return r.noted(r.from.Copy(ctx, dir))
	}
	if err != nil {
		return "", err
	}
	made, err := r.clone(ctx, base, dir)
	if made != "" || err != nil {
		return made, err
	}
	return r.noted(r.from.Copy(ctx, dir))
}

// clone creates the folder of a branch as a clone of the repository base with the files of
// the state. The path is empty if git cannot make one.
func (r *run) clone(ctx context.Context, base, dir string) (string, error) {
	c, err := r.w.Folder(base).Checkout(ctx, r.e.State, dir)
	if err != nil {
		return "", err
	}
	if c.Git == nil {
		r.x.note(c.Why)
		return "", r.removeFolder(dir)
	}
	for _, left := range c.Left {
		r.x.note(fmt.Sprintf("not copied to the folder of a branch: %s: %s", left.Path, left.Why))
	}
	explored, err := filepath.EvalSymlinks(r.e.Runner.Dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(base, explored)
	if err != nil {
		return "", err
	}
	made := filepath.Join(c.Dir, rel)
	return made, os.MkdirAll(made, 0o777) // git and states of other folders may not have it
}

// noted notes the files that a copy lacks, and returns its path.
func (r *run) noted(f *isolate.Folder, err error) (string, error) {
	if err != nil {
		return "", err
	}
	for _, left := range f.Left {
		r.x.note("not copied to the folder of a branch: " + left)
	}
	return f.Dir, nil
}

// continueFrom creates a folder with the content of the parent's folder.
func (r *run) continueFrom(ctx context.Context, parent *Branch, dir string) (*isolate.Folder, error) {
	if !filepath.IsLocal(filepath.FromSlash(parent.Folder)) {
		return nil, fmt.Errorf("the branch %s has the folder %q, which is not in that of the exploration", parent.Strategy, parent.Folder)
	}
	name, _, _ := strings.Cut(parent.Folder, "/")
	f, err := r.from.Continue(ctx, filepath.Join(r.folder, name), filepath.Join(r.folder, filepath.FromSlash(parent.Folder)), dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("the folder of the branch %s, which it begins with, is gone: %w", parent.Strategy, err)
	}
	return f, err
}

func (r *run) remove(dir string) { r.x.noteError(r.removeFolder(dir)) }

func (r *run) removeFolder(dir string) error {
	if r.e.Runner.Dir == "" {
		return os.RemoveAll(dir)
	}
	return r.from.Remove(dir)
}
