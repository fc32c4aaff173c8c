package main

import (
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/workspace/imports"
)

// followSources returns the folders of the named tools, or of all tools that keep
// files. The folders need not exist.
func (p *program) followSources(names []string) (sources []imports.Source, err error) {
	tools, err := toolsNamed(names)
	if err != nil {
		return nil, err
	}
	if len(tools) == 0 {
		tools = slices.DeleteFunc(slices.Clone(formats()), func(f *convert.Format) bool { return f.Roots(machine()) == nil })
	}
	for _, tool := range tools {
		roots := tool.Roots(machine())
		if roots == nil {
			e := usageError("--from: bough does not know where %s keeps its conversations", tool.Tool())
			e.Hint = "export them there and run 'bough import FILE'"
			return nil, e
		}
		sources = append(sources, imports.Source{Paths: roots, Format: tool, Holds: tool.Holds})
	}
	return imports.Disjoint(sources), nil
}
