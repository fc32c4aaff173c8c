package store

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// Resolve returns the session that name refers to: HEAD or the previous head;
// else the session with that id, UUID or title; else the only session that name
// abbreviates. If name begins with urn:uuid:, only UUIDs are compared.
func (v *View) Resolve(name string) (string, error) {
	if IsHeadName(name) {
		h, err := v.headNamed(name)
		return h.Session, err
	}
	ids, err := v.called(name)
	if err == nil && len(ids) == 0 {
		ids, err = v.abbreviated(name)
	}
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", v.noSession(name)
	case len(ids) == 1:
		return ids[0], v.Index.Err(ids[0])
	}
	return "", v.ambiguousSessions(name, ids)
}

// called returns the session whose id or UUID is name, else those with that
// title.
func (v *View) called(name string) ([]string, error) {
	if id, ok := v.byID(name); ok {
		return []string{id}, nil
	}
	return v.titled(name)
}

// byID returns the session whose id or UUID is name, and reports whether there
// is one.
func (v *View) byID(name string) (id string, ok bool) {
	if uuid, strict := strings.CutPrefix(name, urn); strict {
		return v.ByUUID(uuid)
	}
	switch {
	case name == "":
	case v.Has(name):
		return name, true
	case sessionid.IsUUID(name):
		return v.ByUUID(strings.ToLower(name))
	}
	return "", false
}

// titled returns the conversations with a title, compared exactly; if there is
// none, ignoring case. Of several files of one conversation it returns the
// first. Sessions take precedence over Penguin's checkpoints, because Penguin
// gives a checkpoint and the branch made from it the same name.
func (v *View) titled(title string) ([]string, error) {
	if title == "" || strings.HasPrefix(title, urn) {
		return nil, nil
	}
	for _, by := range []struct {
		index   func(string) ([]string, error)
		penguin func(name string) bool
	}{
		{v.Index.Titled, func(name string) bool { return name == title }},
		{v.Index.TitledFold, func(name string) bool { return strings.EqualFold(name, title) }},
	} {
		ids, err := by.index(title)
		if err != nil {
			return nil, err
		}
		if len(ids) > 1 {
			ids = v.notBelow(v.conversations(ids))
		}
		if len(ids) == 0 {
			ids = v.penguins(func(id string) bool { return by.penguin(v.Penguin[id].Name) })
		}
		if len(ids) > 0 {
			return ids, nil
		}
	}
	return nil, nil
}

// notBelow returns those of ids that are not conversations of sub-agents below another one, which
// often begin with the words of that; if all are, it returns ids.
func (v *View) notBelow(ids []string) []string {
	if kept := slices.DeleteFunc(slices.Clone(ids), v.IsBelow); len(kept) > 0 {
		return kept
	}
	return ids
}

// conversations replaces each continuation in ids with the first file of its
// line, and removes duplicates.
func (v *View) conversations(ids []string) []string {
	var firsts []string
	for _, id := range ids {
		if e := v.Index.Entry(id); e != nil && e.Kind() == session.Continuation {
			id = v.FirstFile(id)
		}
		if !slices.Contains(firsts, id) {
			firsts = append(firsts, id)
		}
	}
	return firsts
}

// abbreviated returns the sessions that prefix abbreviates, as defined in
// package lookup. If prefix was the id of a session, it returns none.
func (v *View) abbreviated(prefix string) ([]string, error) {
	if !lookup.IsPrefix(prefix) || strings.HasPrefix(prefix, urn) {
		return nil, nil
	}
	ids, err := v.Index.Containing(prefix)
	if err != nil {
		return nil, err
	}
	ids = append(ids, v.penguins(func(id string) bool { return strings.Contains(id, prefix) })...)
	var found []string
	for _, i := range lookup.Abbreviated(prefix, len(ids), func(i int) lookup.Name {
		return lookup.Name{ID: ids[i], Short: lookup.Short(ids[i])}
	}) {
		found = append(found, ids[i])
	}
	if len(found) > 0 && v.wasSession(prefix, found) {
		return nil, nil
	}
	return found, nil
}

// wasSession reports whether id was the id of a session: whether its file is in
// the trash, or the log has it. The log is not read if all candidates are
// generated ids, because no other id resembles these.
func (v *View) wasSession(id string, candidates []string) bool {
	if !sessionid.Valid(id) {
		return false
	}
	if v.inTrashNow(id) {
		return true
	}
	if !slices.ContainsFunc(candidates, func(c string) bool { return !sessionid.Generated(c) }) {
		return false
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return false
	}
	defer log.Close()
	for op := range v.Operations(log, &err) {
		if slices.Contains(op.Sessions, id) {
			return true
		}
	}
	return false
}

// inTrashNow reports whether the file of a session is in the trash.
func (v *View) inTrashNow(id string) bool {
	stamps, err := fs.ReadDir(v.Root.FS(), TrashDir)
	return err == nil && slices.ContainsFunc(stamps, func(d fs.DirEntry) bool {
		dir := TrashDir + "/" + d.Name() + "/"
		return v.IsThere(dir+session.FileName(id)) || v.IsThere(dir+sessions.RecipeFile(id))
	})
}

// noSession returns the error for a name that refers to no session.
func (v *View) noSession(name string) *fault.Error {
	e := NoSuch("session", strings.TrimPrefix(name, urn))
	if sessionid.Valid(name) && v.inTrashNow(name) {
		e.Message = fmt.Sprintf("the session %q was removed", name)
		e.Hint, e.Next = "", fault.Do(fault.RestoreRemoved)
	}
	return e
}

// Has reports whether there is a session or a checkpoint of Penguin with this
// id, damaged or not.
func (v *View) Has(id string) bool {
	return v.Index.Entry(id) != nil || v.Index.Err(id) != nil || v.IsPenguin(id)
}

// penguins returns the ids of Penguin's checkpoints that match.
func (v *View) penguins(match func(id string) bool) []string {
	return slices.DeleteFunc(v.PenguinIDs(), func(id string) bool { return !match(id) })
}

// PenguinIDs returns the ids of Penguin's checkpoints that are not also
// sessions, oldest first.
func (v *View) PenguinIDs() []string {
	var ids []string
	for id := range v.Penguin {
		if v.IsPenguin(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(v.Penguin[a].CreatedAt.Compare(v.Penguin[b].CreatedAt), cmp.Compare(a, b))
	})
	return ids
}

// pieceOf returns the shown part of a session's id if that refers to the
// session, else the whole id.
func (v *View) pieceOf(id string) string {
	if named, err := v.Resolve(lookup.Short(id)); err != nil || named != id {
		return id
	}
	return lookup.Short(id)
}
