package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/workspace/imports"
)

// followSources returns the folders of the named tools, or of all tools that keep
// files. The folders need not exist.
func (p *program) followSources(names []string) (sources []imports.Source, err error) {
	var tools []*convert.Format
	for _, name := range names {
		tool, err := formatNamed("from", name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(tools, tool) {
			tools = append(tools, tool)
		}
	}
	if len(tools) == 0 {
		tools = slices.DeleteFunc(slices.Clone(formats()), func(f *convert.Format) bool { return f.Roots(machine()) == nil })
	}
	for _, tool := range tools {
		switch roots := tool.Roots(machine()); {
		case isAsked(tool):
			source, err := followOpencode(tool)
			if err != nil {
				return nil, err
			}
			sources = append(sources, source)
		case roots == nil:
			e := usageError("--from: bough does not know where %s keeps its conversations", tool.Name)
			e.Hint = "export them there and run 'bough import FILE'"
			return nil, e
		default:
			sources = append(sources, imports.Source{Paths: roots, Format: tool, Holds: tool.Holds})
		}
	}
	return sources, nil
}

// noteUnfollowed notes that opencode, if it is used on this machine, is not followed although all
// other tools are.
func (p *program) noteUnfollowed() {
	if _, err := os.Stat(filepath.Join(opencodeDir(), opencodeDatabase)); err == nil {
		p.note("opencode is not followed, because bough would have to run it; 'bough hook install opencode' imports its sessions, and --from opencode follows those of the current project")
	}
}

// exportTimeout limits how long opencode may take to export the sessions that changed.
const exportTimeout = time.Minute

// followOpencode returns a source that exports the sessions of the current project when
// the database of opencode changes.
func followOpencode(tool *convert.Format) (imports.Source, error) {
	opencode, err := newOpencodeClient()
	if err != nil {
		return imports.Source{}, err
	}
	return imports.Source{
		Paths:  []string{opencodeDir()},
		Format: tool,
		Holds:  func(within string) bool { return within == opencodeDatabase || within == opencodeDatabase+"-wal" },
		Name:   opencodeName,
		Export: func(ctx context.Context) (files []string, done func(), err error) {
			ctx, stop := context.WithTimeout(ctx, exportTimeout)
			defer stop()
			return opencode.export(ctx, func(int, int) {})
		},
	}, nil
}
