package workspace

import (
	"context"

	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/follower"
)

// Follow imports the conversations of other programs while these write them: first
// those that are in the sources, then, within a moment, each that changes, until
// ctx ends. A source names folders, which need not exist, and which of their files
// are transcripts.
//
// Conversations are imported as by [Workspace.ImportAll] with o.Live, and o.Each is
// called for those that were new or changed. Follow ignores o.DryRun, o.Format,
// o.Holds and o.Name. A file that is growing fast is read for at most half of the
// time. A file that cannot be read is passed to o.Each once, as [imports.Failed], when the
// file has not changed for a few seconds.
//
// Errors that may pass, such as a lock that another process holds, are passed to
// Options.Note, and the import is tried again. While the sessions folder is
// missing, nothing is imported. The error has the code [fault.NotFound] if the
// workspace was removed; the error of ctx is not returned.
func (w *Workspace) Follow(ctx context.Context, sources []imports.Source, o imports.Options) error {
	return follower.Follow(ctx, w.store, sources, o)
}
