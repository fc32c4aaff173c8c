package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// resolve finds the session that name means: an id, else an exact title, else a
// unique piece of an id.
func (v *view) resolve(name string) (string, error) {
	candidates := v.named(name)
	if len(candidates) == 0 && strings.TrimSpace(name) != "" {
		candidates = v.matching(func(id, _ string) bool { return strings.Contains(id, name) })
	}
	switch len(candidates) {
	case 0:
		return "", notFound("session", name)
	case 1:
		return candidates[0], v.index.Err(candidates[0])
	}
	return "", ambiguous("session", name, candidates)
}

// named returns the session whose id is name, else those with that title, else
// Penguin's checkpoints with that name: Penguin names one like the branch that
// it made of it.
func (v *view) named(name string) []string {
	if v.index.Entry(name) != nil || v.index.Err(name) != nil || v.isPenguin(name) {
		return []string{name}
	}
	ids := v.matching(func(_, title string) bool { return title == name && title != "" })
	if own := slices.DeleteFunc(slices.Clone(ids), v.isPenguin); len(own) > 0 {
		return own
	}
	return ids
}

// matching returns the ids of all sessions and of Penguin's checkpoints that
// match.
func (v *view) matching(match func(id, title string) bool) []string {
	var ids []string
	add := func(id, title string) {
		if match(id, title) {
			ids = append(ids, id)
		}
	}
	for _, e := range v.index.Entries() {
		add(e.ID, e.DisplayTitle())
	}
	for _, e := range v.index.Unusable() {
		add(e.ID, e.DisplayTitle())
	}
	for _, id := range v.penguinIDs() {
		add(id, v.penguin[id].Name)
	}
	return ids
}

// penguinIDs returns the ids of Penguin's checkpoints that are not sessions
// too, oldest first.
func (v *view) penguinIDs() []string {
	var ids []string
	for id := range v.penguin {
		if v.isPenguin(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(v.penguin[a].CreatedAt.Compare(v.penguin[b].CreatedAt), cmp.Compare(a, b))
	})
	return ids
}

// split takes a REF apart. A title may hold the separators, so the whole of it
// is tried first.
func (v *view) split(ref string) (id, message string, err error) {
	i := strings.LastIndex(ref, "@")
	if i < 0 {
		i = strings.LastIndex(ref, "/")
	}
	if i < 0 || len(v.named(ref)) > 0 {
		id, err = v.resolve(ref)
		return id, "", err
	}
	if ref[i+1:] == "" {
		return "", "", &Error{Code: Usage, Message: fmt.Sprintf("%q names no message after the %c", ref, ref[i])}
	}
	id, err = v.resolve(ref[:i])
	return id, ref[i+1:], err
}
