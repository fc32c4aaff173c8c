package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/gitcommit"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// exportCommit writes the state to the folder dir, with a repository that has a commit of it.
func (st described) exportCommit(ctx context.Context, w *store.Store, dir string) (*files.Export, error) {
	switch err := gitcommit.Check(ctx, dir); {
	case errors.Is(err, gitcommit.ErrNoGit):
		return nil, &fault.Error{Code: fault.Refused, Message: "a commit needs git, which is not installed", Hint: "an export without a commit does not", Err: err}
	case err != nil:
		if _, ok := errors.AsType[*gitcommit.InsideError](err); ok {
			return nil, &fault.Error{Code: fault.Refused, Message: err.Error(), Hint: "name a folder outside of any repository", Err: err}
		}
		return nil, err
	}
	message, err := store.Read(ctx, w, st.commitMessage)
	if err != nil {
		return nil, err
	}
	commit := gitcommit.Commit{Message: message, Time: st.description.Time}
	return st.export(ctx, w, dir, func(x *export, dir string, tree pack.ID) error {
		return x.prepared(dir, func() (err error) {
			if x.result.Commit, err = gitcommit.Create(ctx, dir, commit, x.files(tree)); err != nil {
				return err
			}
			if err := x.fill(dir, tree); err != nil {
				return errors.Join(err, gitcommit.Remove(dir))
			}
			return gitcommit.Refresh(ctx, dir)
		})
	})
}

// commitMessage returns the message of a commit of the state.
func (st described) commitMessage(v *store.View) (string, error) {
	var b strings.Builder
	title := "a folder"
	if st.SessionID != "" {
		title = cmp.Or(v.Overview(st.SessionID).Title, st.SessionID)
	}
	fmt.Fprintf(&b, "Files of %s\n\n", title)
	fmt.Fprintf(&b, "Bough-Folder: %s\nBough-State: %s\n", st.description.Dir, st.ID)
	if st.SessionID != "" {
		fmt.Fprintf(&b, "Bough-Message: %s@%s\n", st.SessionID, st.MessageID)
	}
	if st.Git != nil && st.Git.Head != "" {
		fmt.Fprintf(&b, "Bough-Commit: %s\n", st.Git.Head)
	}
	return b.String(), nil
}

// files yields the files of a tree as a commit has them, which has no empty folders.
func (x *export) files(tree pack.ID) iter.Seq2[gitcommit.File, error] {
	return func(yield func(gitcommit.File, error) bool) { x.yield(".", tree, yield) }
}

// yield yields the files of a directory, and reports whether to continue.
func (x *export) yield(dir string, id pack.ID, yield func(gitcommit.File, error) bool) bool {
	t, err := x.decode(id)
	if err != nil {
		yield(gitcommit.File{}, fmt.Errorf("%s: %w", dir, err))
		return false
	}
	for _, e := range t {
		name := path.Join(dir, e.Name)
		if e.Type == filetree.Dir {
			if !x.yield(name, e.ID, yield) {
				return false
			}
			continue
		}
		f := gitcommit.File{Path: name, Mode: gitcommit.Regular}
		switch {
		case e.Type == filetree.Link:
			f.Mode = gitcommit.Link
		case e.Perm&0o100 != 0:
			f.Mode = gitcommit.Executable
		}
		if f.Data, err = x.store.Get(e.ID); errors.Is(err, states.ErrForgotten) {
			continue
		}
		if !yield(f, err) || err != nil {
			return false
		}
	}
	return true
}
