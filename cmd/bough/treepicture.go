package main

import (
	"bytes"
	"fmt"

	"github.com/bough-dev/bough/internal/outfile"
	"github.com/bough-dev/bough/internal/treegraph"
	"github.com/bough-dev/bough/internal/treepicture"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// A picture is the result of 'bough tree --svg'.
type picture struct {
	Path  session.ID `json:"path"` // absolute path of the file, null if there is none
	Bytes int        `json:"bytes"`
	SVG   string     `json:"svg,omitempty"` // without a file
}

// treePicture is 'bough tree --svg'.
func (p *program) treePicture(c *cli.Context, w *workspace.Workspace) error {
	path := c.String("output")
	if path == "-" {
		path = ""
	}
	switch {
	case !c.Bool("svg"):
		return usageError("-o requires --svg")
	case c.Bool("messages"):
		return usageError("--messages and --svg exclude each other: the picture has the messages")
	case path == "" && c.Bool("force"):
		return usageError("--force requires -o FILE")
	case path == "" && !p.json && p.paint.width > 0:
		e := usageError("a picture is not written to a terminal")
		e.Hint = "add -o FILE, or redirect the output"
		return e
	}
	g, err := treegraph.Load(c.Context, w, c.Args().First(), treegraph.Options{ReadOptions: readOptions(c)})
	if err != nil {
		return err
	}
	for _, err := range g.Unreadable {
		fmt.Fprintln(p.stderr, clean(err.Error()))
	}
	title := ""
	if c.Args().Present() {
		title = g.Title
	}
	var svg bytes.Buffer
	if err := treepicture.Write(&svg, g.Nodes, treepicture.Options{Title: title}); err != nil {
		return err
	}
	out := picture{Bytes: svg.Len()}
	if path == "" {
		if p.json {
			out.SVG = svg.String()
			return p.printJSON(out)
		}
		_, err = svg.WriteTo(p.stdout)
		return err
	}
	write := outfile.Create
	if c.Bool("force") {
		write = outfile.Replace
	}
	if path, err = write(c.Context, path, svg.Bytes()); err != nil {
		return err
	}
	if p.json {
		out.Path = session.ID(path)
		return p.printJSON(out)
	}
	fmt.Fprintln(p.stdout, clean(path))
	return nil
}
