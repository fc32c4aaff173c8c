package explore

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// baseState takes the state with which the branches of e begin, of the repository that
// contains the explored folder, else of that folder itself. If the folder can have no state,
// it returns "", and the branches begin with copies of the folder.
func (x *Explorer) baseState(ctx context.Context, e *Exploration) (string, error) {
	if e.Runner.Dir == "" || e.Runner.Command == "" {
		return "", nil
	}
	base, err := isolate.Repository(ctx, e.Runner.Dir)
	if _, ok := errors.AsType[*isolate.Unsuitable](err); ok {
		base, err = e.Runner.Dir, nil
	}
	if err != nil {
		return "", err
	}
	st, err := x.Workspace.Folder(base).Snap(ctx, e.Session+"@"+e.Node, files.SnapOptions{At: "checkpoint"})
	if errors.Is(err, fault.Refused) || errors.Is(err, fault.Damaged) {
		x.note("no state of the files: " + err.Error())
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return st.ID, nil
}

// keepFiles takes the state that the runner of a branch left, for the message with the
// result.
func (r *run) keepFiles(ctx context.Context, b *Branch, folder string) error {
	if r.e.State == "" || folder == "" || !filepath.IsLocal(filepath.FromSlash(folder)) {
		return nil
	}
	name, _, _ := strings.Cut(folder, "/")
	return r.insist(ctx, func(ctx context.Context) error {
		st, err := r.w.Folder(filepath.Join(r.folder, name)).Snap(ctx, b.Session+"@"+b.ID, files.SnapOptions{At: "end", Temporary: true})
		if err == nil {
			b.State = st.ID
		}
		return err
	})
}
