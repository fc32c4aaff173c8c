package workspace

import (
	"context"
	"errors"
	"slices"

	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/importer"
)

// Tails are those of package importer.
type Tails = importer.Tails

// ImportGrown imports a file as [Workspace.Follow] does, and reports whether it read only the part that is
// new.
func (w *Workspace) ImportGrown(ctx context.Context, path string, tails *Tails) (rows []imports.Transcript, grown bool, err error) {
	if r, ok := tails.Grow(ctx, w.store, path); ok {
		return []imports.Transcript{r}, true, nil
	}
	list, err := importer.ImportTails(ctx, w.store, []imports.Source{{Paths: []string{path}, Found: true}}, imports.Options{Live: true}, tails)
	if err != nil {
		return nil, false, err
	}
	return list.Imported, false, nil
}

// ImportStored imports a file as a hook does, and reports whether it read only the new part: an
// import that must not read a whole file succeeds, and does not skip it.
func (w *Workspace) ImportStored(ctx context.Context, path string, o imports.Options) (rows []imports.Transcript, grown bool, err error) {
	o.Live, o.MaxWhole = true, 1
	source := []imports.Source{{Paths: []string{path}, Found: true}}
	list, err := w.ImportAll(ctx, source, o)
	if grown = !errors.Is(err, imports.ErrLarge); !grown {
		o.MaxWhole = 0
		list, err = w.ImportAll(ctx, source, o)
	}
	if err != nil {
		return nil, false, err
	}
	skipped := func(r imports.Transcript) bool { return r.Status == imports.Skipped }
	return list.Imported, grown && !slices.ContainsFunc(list.Imported, skipped), nil
}
