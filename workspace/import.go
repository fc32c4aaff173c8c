package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/importer"
)

// Import reads conversations of other programs from files, folders, including
// their subfolders, and archives, and stores each as a session with all its
// branches; package convert lists the formats. New messages of a known
// conversation are added to its session. So are those of a conversation that
// began as a copy of a known one, or as an export from this workspace. A file
// that did not change since the last import is not read again. No head moves.
// Stored messages do not change, except an open message, which a longer
// transcript completes.
//
// Import skips conversations that the user removed, unless o.Again is set. Data
// that cannot be read results in a row with the status Failed or with problems,
// and the import continues; it returns an error only if the whole import fails.
// Each conversation is an operation. All operations of an import form one
// group, which [Workspace.Undo] undoes together.
func (w *Workspace) Import(ctx context.Context, paths []string, o imports.Options) (*imports.Report, error) {
	return w.ImportAll(ctx, []imports.Source{{Paths: paths, Format: o.Format, Holds: o.Holds, Name: o.Name}}, o)
}

// ImportAll is [Workspace.Import] for several sources, in one group of
// operations. It ignores o.Format, o.Holds and o.Name.
func (w *Workspace) ImportAll(ctx context.Context, sources []imports.Source, o imports.Options) (*imports.Report, error) {
	return importer.Import(ctx, w.store, sources, o)
}
