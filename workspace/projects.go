package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/project"
)

// Projects returns the projects that conversations are about and those whose folders the user named,
// by id, with their folders on this machine.
func (w *Workspace) Projects(ctx context.Context) ([]project.Place, error) {
	return store.Read(ctx, w.store, func(v *store.View) ([]project.Place, error) {
		at := map[string]*project.Place{}
		place := func(id string) *project.Place {
			if at[id] == nil {
				set, found := v.Projects()[id], v.FoundProjects()[id]
				at[id] = &project.Place{ID: id, Folder: found, Named: set != ""}
				if set != "" {
					at[id].Folder = set
				}
			}
			return at[id]
		}
		for id := range v.Projects() {
			place(id)
		}
		if err := v.Whole(); err != nil {
			return nil, err
		}
		for _, e := range v.Index.Entries() {
			if e.Err != nil || e.Kind() == session.Continuation {
				continue
			}
			if p := v.ProjectOf(e.ID); p != nil {
				place(p.ID).Sessions++
			}
		}
		list := make([]project.Place, 0, len(at))
		for _, p := range at {
			list = append(list, *p)
		}
		slices.SortFunc(list, func(a, b project.Place) int { return strings.Compare(a.ID, b.ID) })
		return list, nil
	})
}

// MapProject sets the folder of a project on this machine, which is sent nowhere. The project is an id
// or the address of a repository. If folder is "", the project has none any more.
func (w *Workspace) MapProject(ctx context.Context, name, folder string) (*project.Place, error) {
	place := &project.Place{ID: name, Named: folder != ""}
	if id := project.Normalize(name); id != "" {
		place.ID = id
	}
	if !project.ValidID(place.ID) {
		return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q cannot be the name of a project", name)}
	}
	if folder != "" {
		var err error
		if place.Folder, err = filepath.Abs(folder); err != nil {
			return nil, err
		}
		if info, err := os.Stat(place.Folder); err != nil || !info.IsDir() {
			return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("there is no folder %q", folder), Err: err}
		}
	}
	if err := w.Make(ctx); err != nil {
		return nil, err
	}
	return place, w.store.WithLock(ctx, "remote map", func(root *os.Root) error {
		set, err := store.ReadProjects(root)
		if err != nil {
			return err
		}
		if _, known := set[place.ID]; folder == "" && !known {
			return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no folder is set for the project %q", place.ID)}
		}
		if set[place.ID] = place.Folder; folder == "" {
			delete(set, place.ID)
		}
		return store.WriteProjects(root, set)
	})
}
