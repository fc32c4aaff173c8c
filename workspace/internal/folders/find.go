package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/tidwall/gjson"
)

// A reading reads the states of a workspace.
type reading struct {
	*states.Store
	view  *store.View
	list  []*states.State // oldest first
	paths map[string]string
	// machines has the machines of folders that are not of this one.
	machines map[string]string
	projects map[string]project.Project // of these folders
	mappings map[string]string          // results of mapped
	// temporary has the folders that were to be removed.
	temporary map[string]bool
	links     []*states.Link // newest first

	damagedLinks bool
}

// read calls f with the states of a workspace.
func read[T any](v *store.View, f func(*reading) (T, error)) (result T, err error) {
	s := open(v.Root)
	defer s.Close()
	r := &reading{Store: s, view: v, paths: map[string]string{}, machines: map[string]string{}, projects: map[string]project.Project{}, mappings: map[string]string{}, temporary: map[string]bool{}}
	if r.list, err = s.States(); err != nil {
		if _, ok := errors.AsType[*states.RecordError](err); !ok {
			return result, err
		}
		v.Store.Opts.Note(err.Error() + "; the other states are used")
	}
	for i, st := range r.list {
		own := *st // its owner may be set
		r.list[i] = &own
	}
	known, err := s.Folders()
	if err != nil {
		return result, explain(err)
	}
	for _, k := range known {
		r.paths[k.ID] = k.Path
		r.temporary[k.ID] = k.Identity == states.Identity{} && k.Machine == ""
		if k.Machine != "" {
			r.machines[k.ID] = k.Machine
			if p := project.Project(k.Project); p.Valid() {
				r.projects[k.ID] = p
			}
		}
	}
	if r.links, err = s.Links(); err != nil {
		r.damagedLinks = true
		v.Store.Opts.Note(err.Error())
	}
	result, err = f(r)
	return result, explain(err)
}

// find returns the state that name refers to: its id, a REF, or a unique prefix of its id.
// exact is false if the state at the REF was taken for an earlier message. If f is not nil,
// only its states are at a REF. An empty name is the head, or without a head the newest state.
func (r *reading) find(name string, f *Folder) (st *states.State, exact bool, err error) {
	if name == "" {
		if _, ok := r.view.Head(); !ok {
			return r.newest(f)
		}
		name = store.HeadName
	}
	for _, st := range r.list {
		if st.ID == name {
			return st, true, nil
		}
	}
	p, err := r.view.Place(name, false)
	if err == nil {
		return r.at(p, name, f)
	}
	if store.IsNotFound(err) && store.IsHeadName(name) {
		e := *store.Explain(err)
		e.Hint, e.Next = "a state is also named by its id", fault.Do(fault.ListStates)
		err = &e
	}
	if !store.IsNotFound(err) || strings.ContainsAny(name, "@~/") || store.IsHeadName(name) {
		return nil, false, err // these are in no id
	}
	kind := lookup.Kind[*states.State]{
		What: "state",
		Next: fault.Do(fault.ListStates),
		Names: func(st *states.State) []lookup.Name {
			return []lookup.Name{{ID: st.ID, Short: lookup.Short(st.ID)}}
		},
		Candidate: func(st *states.State) fault.Candidate {
			return fault.Candidate{Kind: "state", Title: st.ID, Time: st.Time, Text: r.nameOf(st.Folder)}
		},
	}
	st, missing := kind.Find(name, r.list)
	if store.IsNotFound(missing) {
		return nil, false, &fault.Error{
			Code: fault.NotFound, Message: fmt.Sprintf("no state, session, message or bookmark %q", name), Next: fault.Do(fault.ListStates),
		}
	}
	return st, true, missing
}

// at returns the state at the place of a REF: that of its message, else of the nearest
// message before it.
func (r *reading) at(p *store.Place, ref string, f *Folder) (st *states.State, exact bool, err error) {
	if st, exact, err = r.nearest(p, f); st != nil || err != nil {
		return st, exact, err
	}
	missing := none(f, fmt.Sprintf(" at %q or before it", ref))
	if f != nil {
		if other, _, _ := r.nearest(p, nil); other != nil {
			missing.Hint, missing.Next = "the state at it is of "+r.nameOf(other.Folder), fault.Do(fault.ChooseFolder)
		}
	}
	return nil, false, missing
}

// nearest is at, but returns nil if there is no state.
func (r *reading) nearest(p *store.Place, f *Folder) (st *states.State, exact bool, err error) {
	if len(r.list) == 0 || p.Node < 0 {
		return nil, false, nil
	}
	scope := r.scope(p)
	for _, node := range slices.Backward(p.Path(p.Node)) {
		if st, err := r.of(p.Line, node, scope, f); st != nil || err != nil {
			return st, node == p.Node, err
		}
	}
	return nil, false, nil
}

// newest returns the newest state of a folder, or of all if f is nil.
func (r *reading) newest(f *Folder) (st *states.State, exact bool, err error) {
	for _, st := range slices.Backward(r.list) {
		if f == nil || st.Folder == f.ID {
			return st, true, nil
		}
	}
	return nil, false, none(f, "")
}

// Missing returns err as a *[fault.Error], nil for nil. That there is no workspace is not final:
// the first state creates it.
func Missing(err error) error {
	e := store.Explain(err)
	switch {
	case e == nil:
		return nil
	case e.Next.Do != fault.ChooseWorkspace:
		return e
	}
	missing := *e
	missing.Hint, missing.Next = "the first state creates it", fault.Do(fault.SnapFolder)
	return &missing
}

// none returns the error that a folder, or the workspace if f is nil, has no state.
func none(f *Folder, where string) *fault.Error {
	if f != nil {
		where = " of " + f.Path + where
	}
	return &fault.Error{Code: fault.NotFound, Message: "no state" + where, Next: fault.Do(fault.SnapFolder)}
}

// of returns the state that belongs to a message, nil if there is none.
func (r *reading) of(l *store.Line, node int, scope []string, f *Folder) (*states.State, error) {
	st, err := r.ofAny(l, node, scope, func(id string) bool { return f == nil || f.ID == id })
	if st == nil && err == nil && f != nil && len(r.machines) > 0 {
		return r.ofAny(l, node, scope, func(id string) bool { return r.standsFor(f, id) })
	}
	return st, err
}

// nameOf returns how messages name a folder: its path, with its machine if that is another one.
func (r *reading) nameOf(folder string) string {
	if machine := r.machines[folder]; machine != "" {
		return machine + ":" + r.paths[folder]
	}
	return r.paths[folder]
}

// ofAny returns the state that belongs to a message, of the folders for whose ids fits returns
// true.
func (r *reading) ofAny(l *store.Line, node int, scope []string, fits func(folder string) bool) (*states.State, error) {
	m, err := r.view.Message(l, node)
	if err != nil {
		return nil, err
	}
	if own := gjson.GetBytes(m.Raw, ownPath); own.IsObject() {
		if st := r.linked(own.Get("folder").Str, own.Get("state").Str); st != nil && fits(st.Folder) {
			return st, nil
		}
	}
	for _, link := range r.links {
		if link.PromptID == "" && (link.MessageID != l.ID(node) || !slices.Contains(scope, link.SessionID)) {
			continue
		}
		if link.PromptID != "" && !r.begins(l, node, m.Raw, link.PromptID) {
			continue
		}
		if st := r.linked(link.Folder, link.State); st != nil && fits(st.Folder) {
			return st, nil
		}
	}
	for _, st := range slices.Backward(r.list) {
		if st.MessageID == l.ID(node) && slices.Contains(scope, st.SessionID) && fits(st.Folder) && r.lostLink(st) {
			return st, nil
		}
	}
	return nil, nil
}

// lostLink reports whether the line that links a state to its message may be lost: others than
// these may have been taken for a later message, which names them.
func (r *reading) lostLink(st *states.State) bool {
	return r.damagedLinks && st.At != states.Restore || st.At == states.Manual || st.At == states.Checkpoint
}

// linked returns the state of a link, nil if it was removed.
func (r *reading) linked(folder, state string) *states.State {
	i := slices.IndexFunc(r.list, func(st *states.State) bool { return st.ID == state && st.Folder == folder })
	if i < 0 {
		return nil
	}
	return r.list[i]
}

// only returns the folder whose states are meant: dir, or the registered folder that contains
// the current directory, or nil for all folders.
func only(ctx context.Context, w *store.Store, dir string) (*Folder, error) {
	if w.Confined {
		if dir == "" {
			return nil, nil
		}
		f, err := recordedAt(ctx, w, dir)
		if err != nil {
			return nil, err
		}
		f.abroad = true
		return f, nil
	}
	f, err := Find(ctx, w, dir)
	if err != nil || dir == "" && f.ID == "" {
		return nil, err
	}
	f.abroad = true
	return f, nil
}

// Show returns what a state holds at a path.
func Show(ctx context.Context, w *store.Store, dir, name, at string) (*files.Entry, error) {
	if err := checkPath(at); err != nil {
		return nil, err
	}
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*files.Entry, error) {
		return read(v, func(r *reading) (*files.Entry, error) {
			st, exact, err := r.find(name, f)
			if err != nil {
				return nil, err
			}
			d, err := r.describe(st, exact)
			if err != nil {
				return nil, err
			}
			return r.entry(st, d, at)
		})
	})
}

func (r *reading) entry(st *states.State, d *files.State, at string) (*files.Entry, error) {
	e, err := r.Store.Find(st, at)
	if err != nil {
		return nil, noPath(err, st, at)
	}
	out := &files.Entry{State: *d, Path: at, Version: versionOf(e)}
	data, err := r.Get(e.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	switch e.Type {
	case filetree.File:
		out.Content = data
	case filetree.Link:
		out.Target = string(data)
	default:
		t, err := filetree.Decode(data)
		if err != nil {
			return nil, err
		}
		for _, e := range t {
			out.Entries = append(out.Entries, files.Name{Name: e.Name, RawName: files.Raw(e.Name), Version: versionOf(e)})
		}
	}
	return out, nil
}

// versionOf returns what a tree has at a path as results have it.
func versionOf(e filetree.Entry) files.Version {
	v := files.Version{Type: "file", Mode: fmt.Sprintf("%o", e.Perm), Size: e.Size, SHA256: e.ID.String()}
	switch e.Type {
	case filetree.Link:
		v.Type = "link"
	case filetree.Dir:
		v.Type, v.Size, v.SHA256 = "folder", 0, ""
	}
	return v
}

func versionAt(e filetree.Entry) *files.Version {
	if e.Type == 0 {
		return nil
	}
	v := versionOf(e)
	return &v
}

// checkPath refuses an invalid path of a state.
func checkPath(name string) error {
	if path.Clean(name) != name || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not a path in a state", name), Hint: "paths are relative to the folder, with slashes between names"}
	}
	return nil
}

func noPath(err error, st *states.State, name string) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the state %s has no %q", st.ID, name), Hint: "paths are relative to the folder", Err: err}
	}
	return err
}
