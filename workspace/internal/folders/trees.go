package folders

import (
	"fmt"
	"path"
	"slices"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/workspace/fault"
)

// trees reads trees, each once.
type trees struct {
	read  filetree.Reader
	known map[pack.ID]filetree.Tree
}

// entry returns what a tree has at a path, a zero entry if there is nothing or it cannot be
// read.
func (t trees) entry(tree pack.ID, name string) filetree.Entry {
	e := filetree.Entry{Type: filetree.Dir, ID: tree}
	if name == "." {
		return e
	}
	above := t.entry(tree, path.Dir(name))
	if above.Type != filetree.Dir {
		return filetree.Entry{}
	}
	list, ok := t.known[above.ID]
	if !ok {
		if data, err := t.read(above.ID); err == nil {
			list, _ = filetree.Decode(data)
		}
		t.known[above.ID] = list
	}
	e, _ = list.Find(path.Base(name))
	return e
}

func (t trees) has(tree pack.ID, name string) bool { return t.entry(tree, name).Type != 0 }

// sources returns files of a directory of a tree that rules are made of.
func (t trees) sources(tree pack.ID, dir string, names []string) (list []scan.Source) {
	for _, name := range names {
		e := t.entry(tree, path.Join(dir, name))
		switch e.Type {
		case filetree.Dir:
			list = append(list, scan.Source{Name: name, IsDir: true})
		case filetree.File:
			if data, err := t.read(e.ID); err == nil {
				list = append(list, scan.Source{Name: name, Data: data})
			}
		}
	}
	return list
}

// checkOnly returns an error if a path is in none of the states.
func checkOnly(paths []string, t trees, states ...pack.ID) error {
	for _, name := range paths {
		if !slices.ContainsFunc(states, func(state pack.ID) bool { return t.has(state, name) }) {
			return &fault.Error{
				Code: fault.NotFound, Message: fmt.Sprintf("neither the state nor the folder has %q", name),
				Hint: "paths are relative to the folder; what states do not hold is never changed",
			}
		}
	}
	return nil
}
