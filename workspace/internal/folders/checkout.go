package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Checkout makes the folder out, which must be new or empty, with the files of a state, to work
// in. Where the folder of the state is in a repository of git, it is a clone. After an error
// out does not exist.
func Checkout(ctx context.Context, w *store.Store, dir, name, out string) (*files.Checkout, error) {
	if w.Confined {
		return nil, &fault.Error{Code: fault.Refused, Message: "a new folder with files can be anywhere on the machine"}
	}
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	st, err := named(ctx, w, name, f)
	if err != nil {
		return nil, err
	}
	return st.checkOut(ctx, w, out, "")
}

// Discard removes a folder that Checkout made.
func Discard(c *files.Checkout) error {
	return (&isolate.Source{Dir: c.State.Dir}).Remove(c.Root)
}

// A checkout is a folder that is being made.
type checkout struct {
	ctx    context.Context
	state  described
	folder string // path of the state's folder
	home   bool   // the folder is still there
	from   *isolate.Source
	clone  *isolate.Clone // nil if there can be none
	result *files.Checkout
}

func (st described) checkOut(ctx context.Context, w *store.Store, out, label string) (_ *files.Checkout, err error) {
	folder, home := st.description.Dir, st.here != ""
	if home {
		folder = st.here
	} else if st.description.Machine == "" {
		home = st.home(ctx, w)
	}
	switch {
	case out == "" && st.description.Machine != "" && !home:
		return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the state is of %s:%s, a folder of another machine", st.description.Machine, folder), Hint: "name the new folder"}
	case out == "":
		out, err = beside(ctx, folder, label)
	default:
		out, err = filepath.Abs(out)
	}
	if err != nil {
		return nil, err
	}
	if err := vacate(out); err != nil {
		return nil, err
	}
	c := &checkout{
		ctx: ctx, state: st, folder: folder, home: home, from: &isolate.Source{Dir: folder},
		result: &files.Checkout{State: *st.description, From: st.here, Root: out, Dir: out, Left: []files.Left{}},
	}
	if err := c.begin(out); err != nil {
		if _, ok := errors.AsType[*isolate.InsideError](err); ok {
			err = &fault.Error{Code: fault.Refused, Message: err.Error(), Hint: "name a folder elsewhere", Err: err}
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.from.Remove(out))
		}
	}()
	x, err := st.export(ctx, w, c.result.Dir, (*export).fill)
	if err != nil {
		return nil, err
	}
	c.result.Files, c.result.Bytes, c.result.Missing = x.Files, x.Bytes, x.Missing
	if err := c.carry(w.Opts.Note); err != nil {
		return nil, err
	}
	if c.clone != nil {
		if err := c.clone.Refresh(ctx); err != nil {
			return nil, err
		}
	}
	if info, err := os.Stat(c.folder); err == nil && c.home {
		err = os.Chmod(c.result.Dir, info.Mode().Perm()|0o700)
		return c.result, err
	}
	return c.result, nil
}

// beside returns the path of a folder that does not exist, beside the repository that contains
// dir, else beside dir, whose name ends in label.
func beside(ctx context.Context, dir, label string) (string, error) {
	top, err := isolate.Repository(ctx, dir)
	if _, ok := errors.AsType[*isolate.Unsuitable](err); ok {
		top = dir
	} else if err != nil {
		return "", err
	}
	base := top + "-" + nameOf(label)
	for out, n := base, 2; ; n++ {
		if _, err := os.Lstat(out); errors.Is(err, fs.ErrNotExist) {
			return out, nil
		} else if err != nil {
			return "", err
		}
		out = fmt.Sprintf("%s-%d", base, n)
	}
}

// maxName is the maximum number of letters of a name that nameOf makes.
const maxName = 40

// nameOf returns a text as a part of the name of a folder: letters, digits and hyphens.
func nameOf(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := []rune(strings.Join(words, "-"))
	return cmp.Or(strings.TrimRight(string(name[:min(len(name), maxName)]), "-"), "branch")
}

// vacate removes an empty folder, and refuses any other file.
func vacate(out string) error {
	if err := outsideNew(out); err != nil {
		return err
	}
	info, err := os.Lstat(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		err = os.Remove(out)
	}
	if err != nil || !info.IsDir() {
		return &fault.Error{Code: fault.Refused, Message: out + " exists and is not an empty folder", Hint: "name a new folder", Err: err}
	}
	return nil
}

// begin makes the folder out, a clone if there can be one.
func (c *checkout) begin(out string) (err error) {
	if !c.home {
		c.result.Why = c.folder + " no longer exists"
		if machine := c.state.description.Machine; machine != "" {
			c.result.Why = c.folder + " is on " + machine
		}
		return c.from.Empty(c.ctx, out)
	}
	at := &isolate.Commit{}
	if git := c.state.Git; git != nil {
		at.ID, at.Branch = git.Head, git.Branch
	}
	c.clone, err = c.from.Clone(c.ctx, out, at)
	if no, ok := errors.AsType[*isolate.Unsuitable](err); ok {
		c.result.Why = no.Why
		return c.from.Empty(c.ctx, out)
	}
	if err != nil {
		return err
	}
	c.result.Dir, c.result.Git = c.clone.Dir, &files.Git{Head: c.clone.Commit, Branch: at.Branch}
	if c.clone.Other != "" {
		c.result.Git.Branch = ""
		c.result.Why = fmt.Sprintf("the repository no longer has the commit %s of the state", c.clone.Other)
	}
	return nil
}

// carry copies what the state does not hold, as it is now: files that git tracks, and those
// that the file includeName names. It sets what is missing then.
func (c *checkout) carry(note func(string)) error {
	if !c.home {
		c.result.Left = c.result.State.Left
		return nil
	}
	names, err := included(c.ctx, c.folder, c.result.State.Left)
	if err != nil {
		return err
	}
	for _, l := range c.result.State.Left {
		if c.clone != nil && c.clone.Tracks(l.Path) {
			names = append(names, l.Path)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return c.has(name) })
	skipped, err := c.from.Carry(c.ctx, c.result.Dir, names)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		note("not copied: " + s)
	}
	for _, l := range c.result.State.Left {
		if !c.has(l.Path) {
			c.result.Left = append(c.result.Left, l)
		}
	}
	return nil
}

func (c *checkout) has(name string) bool {
	_, err := os.Lstat(filepath.Join(c.result.Dir, filepath.FromSlash(name)))
	return err == nil
}

// home reports whether the folder of the state is still at its path. Another folder may be
// there.
func (st described) home(ctx context.Context, w *store.Store) bool {
	f, err := Find(ctx, w, st.description.Dir)
	return err == nil && f.ID == st.Folder
}
