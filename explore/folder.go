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
	if err := r.from.Remove(ctx, dir); r.e.Runner.Dir != "" && err != nil { // left by a crash
		return "", err
	}
	if r.e.Runner.Dir == "" {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	var f *isolate.Folder
	var err error
	switch {
	case parent != nil && parent.Folder != "":
		f, err = r.continueFrom(ctx, parent, dir)
	case r.e.Runner.Dir == "":
		return dir, os.MkdirAll(dir, 0o700)
	default:
		f, err = r.from.Make(ctx, dir)
	}
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

func (r *run) remove(dir string) {
	err := error(nil)
	if r.e.Runner.Dir == "" {
		err = os.RemoveAll(dir)
	} else {
		err = r.from.Remove(context.Background(), dir)
	}
	if err != nil {
		r.x.note(err.Error())
	}
}
