package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
)

// resolve finds the session that name means: an id, else a UUID, else an exact
// title, else a unique piece of an id. A name that begins with urn:uuid: is a UUID
// and nothing else.
func (v *view) resolve(name string) (string, error) {
	if uuid, strict := strings.CutPrefix(name, urn); strict {
		id, ok := v.byUUID(uuid)
		if !ok {
			return "", notFound("session", uuid)
		}
		return id, v.index.Err(id)
	}
	candidates, err := v.named(name)
	if err == nil && len(candidates) == 0 && strings.TrimSpace(name) != "" {
		candidates, err = v.index.Containing(name)
		candidates = append(candidates, v.penguins(func(id string) bool { return strings.Contains(id, name) })...)
	}
	switch {
	case err != nil:
		return "", err
	case len(candidates) == 0:
		return "", notFound("session", name)
	case len(candidates) == 1:
		return candidates[0], v.index.Err(candidates[0])
	}
	return "", ambiguous("session", name, candidates)
}

// named returns the session whose id is name, else the one with that UUID, else
// those with that title, else Penguin's checkpoints with that name: Penguin names one
// like the branch that it made of it.
func (v *view) named(name string) ([]string, error) {
	if v.index.Entry(name) != nil || v.index.Err(name) != nil || v.isPenguin(name) {
		return []string{name}, nil
	}
	if name == "" {
		return nil, nil
	}
	if session.IsUUID(name) {
		if id, ok := v.byUUID(strings.ToLower(name)); ok {
			return []string{id}, nil
		}
	}
	if own, err := v.index.Titled(name); err != nil || len(own) > 0 {
		return own, err
	}
	return v.penguins(func(id string) bool { return v.penguin[id].Name == name }), nil
}

// penguins returns the ids of Penguin's checkpoints that match.
func (v *view) penguins(match func(id string) bool) []string {
	return slices.DeleteFunc(v.penguinIDs(), func(id string) bool { return !match(id) })
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
	whole := i < 0
	if !whole {
		named, err := v.named(ref)
		if err != nil {
			return "", "", err
		}
		whole = len(named) > 0
	}
	if whole {
		id, err = v.resolve(ref)
		return id, "", err
	}
	if ref[i+1:] == "" {
		return "", "", &Error{Code: Usage, Message: fmt.Sprintf("%q names no message after the %c", ref, ref[i])}
	}
	id, err = v.resolve(ref[:i])
	return id, ref[i+1:], err
}
