package api

import (
	"cmp"
	"context"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
)

// aFolder is the folder whose states are meant. Clients name only folders that have states.
type aFolder struct {
	Dir string `json:"dir,omitempty" jsonschema:"only states of this folder: the dir of a state; by default of all folders"`
}

func (f aFolder) of(w *workspace.Workspace) workspace.Folder { return w.Confined().Folder(f.Dir) }

type filesDiffIn struct {
	From string `json:"from,omitempty" jsonschema:"a ref or the id of a state; by default HEAD, or without a head the newest state"`
	To   string `json:"to,omitempty" jsonschema:"a ref, the id of a state, or now, the default: the present files"`
	aFolder
	Paths []string `json:"paths,omitempty" jsonschema:"only these paths and what is below them; they are relative to the folder, with slashes"`
	Patch bool     `json:"patch,omitempty" jsonschema:"return the lines that differ too"`
}

type filesShowIn struct {
	State string `json:"state" jsonschema:"a ref or the id of a state"`
	Path  string `json:"path,omitempty" jsonschema:"a path in the folder, with slashes; by default the folder itself"`
	aFolder
}

func filesVerbs() []*Verb {
	return []*Verb{
		verb("files/ls", Reads, "List states of files", "Lists what folders held at moments, of all conversations or of one, oldest first.",
			func(ctx context.Context, w *workspace.Workspace, in optionalSession) (*files.List, error) {
				return w.States(ctx, in.Session)
			}),
		verb("files/diff", Reads, "Compare states of files", "Returns the files that differ between two states, or between a state and the present files of its folder.",
			func(ctx context.Context, w *workspace.Workspace, in filesDiffIn) (*files.Diff, error) {
				return in.of(w).Diff(ctx, in.From, cmp.Or(in.To, files.Now), files.DiffOptions{Paths: in.Paths, Patch: in.Patch})
			}),
		verb("files/show", Reads, "Show a file of a state", "Returns what a state has at a path: the content of a file, in base64, the target of a link, or the names in a folder.",
			func(ctx context.Context, w *workspace.Workspace, in filesShowIn) (*files.Entry, error) {
				return in.of(w).Show(ctx, in.State, cmp.Or(in.Path, "."))
			}),
	}
}
