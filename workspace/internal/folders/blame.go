package folders

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/blame"
	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/edits"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/origin"
)

// maxBlame is the size of the largest file whose lines are followed.
const maxBlame = 16 << 20

// pathIn returns the folder and the path in it that name refers to. In the folder dir, name is
// relative to it. Without dir, the folder is the innermost registered one that contains the
// absolute path name, else the directory of the file.
func pathIn(ctx context.Context, w *store.Store, dir, name string) (*Folder, string, error) {
	if !filepath.IsAbs(name) {
		if err := checkPath(name); err != nil {
			return nil, "", err
		}
		if !w.Confined {
			f, err := Find(ctx, w, dir)
			return f, name, err
		}
		f, err := oneRegistered(ctx, w, dir)
		return f, name, err
	}
	if w.Confined {
		return nil, "", &fault.Error{Code: fault.Usage, Message: "the path is absolute", Hint: "paths are relative to the folder, with slashes between names"}
	}
	full, err := realPathOf(name)
	if err != nil {
		return nil, "", err
	}
	f := &Folder{Path: filepath.Dir(full)}
	if dir != "" {
		f, err = Find(ctx, w, dir)
	} else {
		known, failed := registered(ctx, w)
		if inner := (&Folder{Path: full + string(filepath.Separator)}).around(known); inner.ID != "" { // the folder itself, too
			f = inner
		}
		err = failed
	}
	if err != nil {
		return nil, "", err
	}
	rel, err := filepath.Rel(f.Path, full)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, "", &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%s is not in the folder %s", name, f.Path)}
	}
	return f, filepath.ToSlash(rel), nil
}

// oneRegistered returns the registered folder with the path dir or, without dir, the only one.
func oneRegistered(ctx context.Context, w *store.Store, dir string) (*Folder, error) {
	if dir != "" {
		return recordedAt(ctx, w, dir)
	}
	known, err := registered(ctx, w)
	if err != nil {
		return nil, err
	}
	known = slices.DeleteFunc(known, func(k states.Folder) bool { return k.Machine != "" || k.Identity == states.Identity{} })
	switch len(known) {
	case 0:
		return nil, none(nil, "")
	case 1:
		return &Folder{Path: known[0].Path, Identity: known[0].Identity, ID: known[0].ID}, nil
	}
	return nil, &fault.Error{Code: fault.Usage, Message: "there are states of " + plural.Of(len(known), "folder"), Hint: "name one as dir", Next: fault.Do(fault.ListStates)}
}

// realPathOf returns a path whose folders are no links, as far as they exist.
func realPathOf(name string) (string, error) {
	dir, base := filepath.Split(filepath.Clean(name))
	dir = filepath.Clean(dir)
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		real, err = realPathOf(dir)
	}
	return filepath.Join(real, base), err
}

// Blame returns what wrote each line of a file, whose path is as pathIn has it.
func Blame(ctx context.Context, w *store.Store, dir, name string, o origin.BlameOptions) (*origin.Blame, error) {
	f, rel, err := pathIn(ctx, w, dir, name)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*origin.Blame, error) {
		return read(v, func(r *reading) (*origin.Blame, error) {
			b := &blaming{trail: r.trail(), folder: f, path: rel}
			return b.run(o)
		})
	})
}

// A blaming follows the lines of a file.
type blaming struct {
	*trail
	folder *Folder
	path   string
	trace  *blame.Trace

	changes []change // what may have written lines
	calls   []edits.Edit
	result  *origin.Blame
}

// A change is something that may have written lines: it is between two states, or a call.
type change struct {
	author
	path  string
	state string // ID of the first state with it, "" if there is none
	time  string // of that state
	call  int    // index of the call, -1 for none
}

func (b *blaming) run(o origin.BlameOptions) (*origin.Blame, error) {
	b.result = &origin.Blame{Dir: b.folder.Path, Path: b.path, From: origin.FromStates, Turns: []origin.Turn{}, Lines: []origin.Line{}}
	start, err := b.start(o.State)
	if err != nil {
		return nil, err
	}
	if start == nil && (b.view.Store.Confined || o.State != "") {
		return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no state of %s has %q", b.folder.Path, b.path), Next: fault.Do(fault.ListStates)}
	}
	text, err := b.text(start, o.State != "")
	if err != nil {
		return nil, err
	}
	b.trace = blame.New(text)
	first, last, err := linesOf(o, text, b.path)
	if err != nil {
		return nil, err
	}
	b.trace.Only(first-1, last-1)
	until := ""
	if start == nil {
		b.result.From = origin.FromCalls
	} else if until, err = b.back(*start, o.State != ""); err != nil {
		return nil, err
	}
	if err := b.backCalls(until); err != nil {
		return nil, err
	}
	return b.result, b.lines(text, first, last)
}

// linesOf returns the first and the last line, from 1.
func linesOf(o origin.BlameOptions, text, path string) (first, last int, err error) {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	first, last = max(o.First, 1), cmp.Or(o.Last, max(n, 1))
	if first > max(n, 1) || last < first {
		return 0, 0, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("%s has %s, so there is no line %d", path, plural.Of(n, "line"), max(o.First, o.Last))}
	}
	return first, min(last, n), nil
}

// start returns the newest point, or that of a state. It returns nil if no state has the path.
func (b *blaming) start(name string) (*point, error) {
	list := b.folders[b.folder.ID]
	if b.folder.ID == "" {
		list = nil
	}
	if name != "" {
		st, exact, err := b.find(name, b.folder)
		if err != nil {
			return nil, err
		}
		if b.result.State, err = b.describe(st, exact); err != nil {
			return nil, err
		}
		b.result.Dir = b.paths[st.Folder]
		p := b.at(st.Folder, slices.Index(b.folders[st.Folder], st), b.path)
		if p.entry.Type == 0 {
			return nil, nil
		}
		return &p, nil
	}
	if !slices.ContainsFunc(list, func(st *states.State) bool { return b.trees.entry(st.Tree, b.path).Type != 0 }) {
		return nil, nil
	}
	p := b.at(b.folder.ID, len(list)-1, b.path)
	return &p, nil
}

// text returns the text of the file: that of a state, or the present one.
func (b *blaming) text(p *point, ofState bool) (string, error) {
	var data []byte
	var err error
	if ofState {
		if p.entry.Type != filetree.File {
			return "", notFile(b.path, p.entry)
		}
		if p.entry.Size > maxBlame {
			return "", tooLarge(b.path)
		}
		data, err = b.Get(p.entry.ID)
	} else {
		data, err = b.present()
	}
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", &fault.Error{Code: fault.Refused, Message: b.path + " is not text"}
	}
	return string(data), nil
}

func notFile(path string, e filetree.Entry) error {
	return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is a %s, not a file", path, versionOf(e).Type)}
}

func tooLarge(path string) error {
	return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s has more than %d MiB", path, maxBlame>>20)}
}

// present returns the file as it is now. No link is followed.
func (b *blaming) present() ([]byte, error) {
	root, err := b.folder.root()
	if err != nil {
		return nil, unusable(b.folder.Path, err)
	}
	defer root.Close()
	dir, err := durable.OpenDir(root, path.Dir(b.path))
	if err != nil {
		return nil, b.unreadable(err)
	}
	defer dir.Close()
	file, err := dir.Open(path.Base(b.path))
	if err != nil {
		return nil, b.unreadable(err)
	}
	defer file.Close()
	data, err := bounded.ReadAll(file, maxBlame)
	if _, ok := errors.AsType[*bounded.TooLongError](err); ok {
		return nil, tooLarge(b.path)
	}
	return data, err
}

// root opens the folder to read it.
func (f *Folder) root() (*os.Root, error) {
	if f.ID != "" {
		return f.open()
	}
	return os.OpenRoot(f.Path)
}

// unreadable gives the error of a file that cannot be opened its code.
func (b *blaming) unreadable(err error) error {
	if other, ok := errors.AsType[*durable.NotRegularError](err); ok {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is a %s, not a file", b.path, durable.TypeName(other.Mode)), Err: err}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no file %q in %s", b.path, b.folder.Path), Next: fault.Do(fault.FindFile), Err: err}
	}
	return err
}

// back goes back through the states from p on. It returns the time of the first one, before
// which calls may have written what is left; "" if that is unknown.
func (b *blaming) back(p point, ofState bool) (until string, err error) {
	if !ofState {
		after := b.authorsIn(p.state.Folder)
		if err := b.step(p, change{author: after[len(after)-1], path: p.path, call: -1}); err != nil {
			return "", err
		}
	}
	for b.trace.Open() > 0 && p.entry.Type == filetree.File {
		if err := b.view.Ctx.Err(); err != nil {
			return "", err
		}
		prev, ok := b.before(p)
		if !ok {
			return p.state.Time, nil
		}
		if !same(prev.entry, p.entry) {
			if err := b.step(prev, change{author: b.authorOf(p.state), path: p.path, state: p.state.ID, time: p.state.Time, call: -1}); err != nil {
				return "", err
			}
		}
		p = prev
	}
	return "", nil
}

// step goes to the text of a point: what it does not have is of the change.
func (b *blaming) step(to point, c change) error {
	text := ""
	if to.entry.Type == filetree.File && to.entry.Size <= maxBlame {
		data, err := b.Get(to.entry.ID)
		switch {
		case errors.Is(err, states.ErrForgotten):
			c.by, c.run = origin.ByUnknown, nil // any change before may have written it
		case err != nil:
			return fmt.Errorf("%s: %w", to.path, err)
		case bytes.IndexByte(data, 0) < 0:
			text = string(data)
		}
	}
	b.trace.Back(text, len(b.changes))
	b.changes = append(b.changes, c)
	return nil
}

// backCalls goes back through the calls of tools that are older than a time, if it is not "".
func (b *blaming) backCalls(until string) error {
	if b.trace.Open() == 0 || b.result.From == origin.FromStates && until == "" {
		return nil
	}
	list, err := edits.Find(b.view, b.folder.Path, b.path, nil)
	if err != nil {
		return err
	}
	if until != "" {
		limit := store.TimeOf(until)
		list = slices.DeleteFunc(list, func(e edits.Edit) bool { return e.Time.After(limit) })
	}
	b.calls = list
	at := b.path
	for i, e := range slices.Backward(list) {
		if b.trace.Open() == 0 {
			break
		}
		by := len(b.changes)
		b.changes = append(b.changes, change{author: author{by: origin.ByTurn}, path: at, call: i})
		at = undoCall(b.trace, e, at, by)
	}
	return nil
}
