package explore

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
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

// adoptFiles adopts the outcome of e, or the result of b if that is not nil, with the files.
func (x *Explorer) adoptFiles(ctx context.Context, e *Exploration, b *Branch, o restores.Options) (*restores.Restore, error) {
	if err := e.adoptable(b); err != nil {
		return nil, err
	}
	from := b
	if from == nil && e.Evaluation != nil {
		from = e.Branch(e.Evaluation.Selected)
	}
	switch {
	case from == nil:
		return nil, &fault.Error{Code: fault.Refused, Message: "the outcome is not the result of one branch, whose files could be adopted", Hint: "name a branch"}
	case e.State == "" || from.State == "":
		return nil, &fault.Error{Code: fault.Refused, Message: "no state of the files of the branch " + from.Strategy, Hint: "branches have states if the exploration was given a folder"}
	}
	folder, err := x.explored(ctx, e)
	if err != nil {
		return nil, err
	}
	// Before the message is added, so that conflicts change nothing.
	dry := o
	dry.DryRun = true
	plan, err := folder.Adopt(ctx, e.State, from.State, e.Session+"@"+e.Node, false, dry)
	if err != nil || o.DryRun {
		return filesOf(plan), err
	}
	if list := plan.Files.Conflicts; len(list) > 0 {
		return nil, &restores.ConflictError{Dir: plan.Files.Dir, Conflicts: list}
	}
	node, err := x.adoptedNode(ctx, e, b)
	if err != nil {
		return nil, err
	}
	pos, err := folder.Adopt(ctx, e.State, from.State, e.Session+"@"+node, e.Agent == "", o)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // the files have changed
	if e.Agent != "" {
		if err := x.moveHead(ctx, e, node); err != nil {
			return nil, err
		}
	}
	e.Adopted = &node
	return pos.Files, x.Workspace.Exploration(e.ID).Write(ctx, e.Encode())
}

func filesOf(pos *lines.Position) *restores.Restore {
	if pos == nil {
		return nil
	}
	return pos.Files
}

// explored returns the folder of the state with which e began.
func (x *Explorer) explored(ctx context.Context, e *Exploration) (workspace.Folder, error) {
	entry, err := x.Workspace.Folder("").Show(ctx, e.State, ".")
	if err != nil {
		return workspace.Folder{}, err
	}
	return x.Workspace.Folder(entry.State.Dir), nil
}
