package api

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
)

// importAll imports the text of a transcript, or the conversations of programs. It opens no
// path that the caller names.
func importAll(ctx context.Context, env Env, in importIn) (*imports.Report, error) {
	o := imports.Options{Skip: in.Skip, Again: in.Again, Live: in.Live, DryRun: in.DryRun}
	var format *convert.Format
	if in.Format != "" {
		var err error
		if format, err = formatNamed(in.Format); err != nil {
			return nil, err
		}
		if !format.Reads() {
			return nil, badArgument("bough writes %s but does not read it", format.Name)
		}
	}
	switch {
	case in.Content != nil && len(in.From) > 0:
		return nil, badArgument("content and from exclude each other")
	case in.Content == nil && len(in.From) == 0:
		return nil, badArgument("one of content and from is needed")
	case in.Content != nil:
		o.Stdin, o.Format = strings.NewReader(*in.Content), format
		return env.Workspace.Import(ctx, []string{"-"}, o)
	}
	sources, err := keptBy(env.Machine, in.From)
	if err != nil {
		return nil, err
	}
	for i := range sources {
		if format != nil {
			sources[i].Format = format
		}
	}
	return env.Workspace.ImportAll(ctx, sources, o)
}

// keptBy returns the conversations that programs keep on a machine. It skips programs without
// any, unless all are.
func keptBy(m *transcript.Machine, programs []string) (sources []imports.Source, err error) {
	list, unknown := convert.FormatsOf(programs...)
	if unknown >= 0 {
		return nil, unknownProgram(programs[unknown])
	}
	if i := slices.IndexFunc(list, func(f *convert.Format) bool { return !f.KeepsFiles() }); i >= 0 {
		return nil, unknownProgram(list[i].Tool())
	}
	var missing error
	for _, f := range list {
		s, err := Kept(m, f)
		switch {
		case err == nil:
			sources = append(sources, s)
		case workspace.Explain(err).Code != fault.NotFound:
			return nil, err
		case missing == nil:
			missing = err
		}
	}
	if len(sources) == 0 {
		return nil, missing
	}
	return imports.Disjoint(sources), nil
}

// unknownProgram returns the error for a name that is not of a program with files.
func unknownProgram(name string) error {
	all := slices.Concat(convert.Programs(), convert.Formats)
	return unknownName("program", name, slices.DeleteFunc(all, func(f *convert.Format) bool { return !f.KeepsFiles() }))
}

// Kept returns the conversations that the program of a format keeps in files of a machine. If
// m is nil, the error has the code [fault.Refused].
func Kept(m *transcript.Machine, f *convert.Format) (imports.Source, error) {
	if m == nil {
		return imports.Source{}, &fault.Error{Code: fault.Refused, Message: "this server imports only content"}
	}
	roots := f.Roots(*m)
	if roots == nil {
		return imports.Source{}, &fault.Error{
			Code: fault.Refused, Message: f.Tool() + " keeps no files with conversations",
			Hint: "export them there, and import the content",
		}
	}
	source := imports.Source{Format: f, Holds: f.Holds}
	for _, root := range roots {
		if _, err := os.Stat(root); err == nil {
			source.Paths = append(source.Paths, root)
		}
	}
	if len(source.Paths) == 0 {
		return source, &fault.Error{Code: fault.NotFound, Message: "no conversations of " + f.Tool() + " in " + strings.Join(roots, " or ")}
	}
	return source, nil
}
