// Package edits finds the calls of tools that changed files of a folder, in all conversations of
// a workspace. Commands for a shell are not understood, except patches in them.
package edits

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/fileedit"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// An Edit is what a call that did not fail changed in a file of the folder.
type Edit struct {
	fileedit.Edit
	Path    string // relative to the folder, with slashes; of a Move, New is so too
	Session string // the file that has the message; of several copies of it the oldest
	Message string
	Time    time.Time
}

// Find returns the edits of what is at a path of the folder dir and below it, oldest first, also
// under the names from which calls renamed it. If sessions is not nil, it returns only edits of
// these. Sessions that cannot be read are skipped.
func Find(v *store.View, dir, at string, sessions []string) ([]Edit, error) {
	if err := v.Whole(); err != nil {
		return nil, err
	}
	names := []string{at}
	for {
		list, err := find(v, dir, names, sessions)
		if err != nil {
			return nil, err
		}
		more := false
		for _, e := range list {
			if e.Kind == fileedit.Move && slices.Contains(names, e.New) && !slices.Contains(names, e.Path) {
				names, more = append(names, e.Path), true
			}
		}
		if !more {
			return list, nil
		}
	}
}

func find(v *store.View, dir string, names, sessions []string) ([]Edit, error) {
	var files []file
	for _, e := range v.Index.Entries() {
		if e.Kind() == session.Checkpoint || e.Err != nil || sessions != nil && !slices.Contains(sessions, e.ID) {
			continue
		}
		files = append(files, file{id: e.ID, dir: dir, from: v.Overview(e.ID).Setting.Directory, names: names, created: e.CreatedAt})
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	parallel.Do(len(files), func(i int) {
		if v.Ctx.Err() == nil {
			f := &files[i]
			f.err = v.Folder.Look(f.id, f.may, f.read)
		}
	})
	if err := v.Ctx.Err(); err != nil {
		return nil, err
	}
	var list []Edit
	seen := map[string]string{} // by message the file that has it
	for _, f := range files {
		if f.err != nil {
			v.Store.Opts.Note(f.id + ": " + f.err.Error())
			continue
		}
		for _, e := range f.found {
			if first, ok := seen[e.Message]; !ok {
				seen[e.Message] = f.id
			} else if first != f.id {
				continue // a copy
			}
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b Edit) int { return a.Time.Compare(b.Time) })
	return list, nil
}

// A file is a session that is searched.
type file struct {
	id, dir, from string
	names         []string
	created       time.Time
	found         []Edit
	err           error
}

// may reports whether a text may have a call for one of the paths: JSON has their last names as
// they are, unless these need escapes.
func (f *file) may(data []byte) bool {
	return slices.ContainsFunc(f.names, func(name string) bool {
		base := path.Base(name)
		return name == "." || strings.ContainsFunc(base, func(r rune) bool {
			return r < ' ' || r > '~' || r == '"' || r == '\\' || r == '<' || r == '>' || r == '&'
		}) ||
			bytes.Contains(data, []byte(base))
	})
}

func (f *file) read(s *session.Session) error {
	calls := map[string][]int{} // by id the indexes of its edits
	var failed []string
	for _, m := range s.Messages[s.Header:] {
		mayCall, mayFail := f.may(m.Raw), bytes.Contains(m.Raw, []byte(`is_error`))
		if !mayCall && !mayFail {
			continue
		}
		said := content.Read(m.Raw)
		for i := range said.Parts {
			p := &said.Parts[i]
			switch p.Type {
			case content.TypeToolResult:
				if c := p.Call(); c.Failed {
					failed = append(failed, c.ID)
				}
			case content.TypeToolCall:
				c := p.Call()
				for _, e := range f.edits(c) {
					calls[c.ID] = append(calls[c.ID], len(f.found))
					at, ok := m.Time()
					if !ok {
						at = f.created
					}
					e.Session, e.Message, e.Time = f.id, m.ID, at
					f.found = append(f.found, e)
				}
			}
		}
	}
	drop := map[int]bool{}
	for _, id := range failed {
		for _, i := range calls[id] {
			drop[i] = id != ""
		}
	}
	kept := f.found[:0]
	for i, e := range f.found {
		if !drop[i] {
			kept = append(kept, e)
		}
	}
	f.found = kept
	return nil
}

// edits returns the edits of a call at the paths.
func (f *file) edits(c content.Call) (list []Edit) {
	for _, e := range fileedit.Of(c) {
		rel, ok := fileedit.In(f.dir, f.from, e.Path)
		if e.Kind == fileedit.Move {
			to, in := fileedit.In(f.dir, f.from, e.New)
			if !ok || !in {
				continue
			}
			if e.New = to; f.wants(to) {
				list = append(list, Edit{Edit: e, Path: rel})
				continue
			}
		}
		if ok && f.wants(rel) {
			list = append(list, Edit{Edit: e, Path: rel})
		}
	}
	return list
}

func (f *file) wants(rel string) bool {
	return slices.ContainsFunc(f.names, func(name string) bool {
		return name == "." || rel == name || strings.HasPrefix(rel, name+"/")
	})
}
