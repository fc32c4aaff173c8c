package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/internal/outfile"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/urfave/cli/v2"
)

func (p *program) compareVerb() verb {
	return verb{
		name:  "compare",
		args:  "REF REF [REF ...] [--model M] [--prompt] [--html FILE] [--force] [--partial]",
		short: "compare the content of branches",
		long: `Prints what each of the paths added since the last message that all of them have: its messages and
turns, its tokens, the models and the agent that wrote it, the outcome of an exploration, and how its
files changed, if there are states of them. On a wide terminal the paths are side by side.

--html writes a page with the whole messages in columns to FILE, or to standard output for '-'.
--model asks a model which branch to continue, and why. The model must cite messages; an answer
without citations, or with messages that are not compared, is refused. --prompt prints the prompt
for the model. 'bough diff' lists only messages, and 'bough merge' merges a branch into another one.`,
		example: `bough compare "By train" "By plane" "By car"
bough compare HEAD - --html compare.html`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "model", Usage: "ask `MODEL` which one to continue: " + modelForms},
			allowCommandFlag(),
			&cli.BoolFlag{Name: "prompt", DisableDefaultText: true, Usage: "print the question for a model, and ask none"},
			&cli.StringFlag{Name: "html", Usage: "write a page to `FILE`"},
			&cli.BoolFlag{Name: "force", DisableDefaultText: true, Usage: "replace FILE if it exists"},
			partialFlag(),
		},
		min:     2,
		max:     compare.Max,
		choices: []choice{chooseSession, chooseSession},
		action:  p.compareAction,
	}
}

func (p *program) compareAction(c *cli.Context, w *workspace.Workspace) error {
	switch {
	case c.Bool("prompt") && (c.IsSet("model") || c.IsSet("html")):
		return usageError("--prompt excludes --model and --html")
	case c.IsSet("html") && c.String("html") == "":
		return usageError("--html takes a file, or '-' for standard output")
	case c.Bool("force") && !c.IsSet("html"):
		return usageError("--force requires --html FILE")
	}
	m, id, closeModel, err := p.modelOf(c, w)
	if err != nil {
		return err
	}
	defer closeModel()
	var counter tokens.Counter
	d, err := w.Compare(c.Context, c.Args().Slice(), compare.Options{Tokens: counter.Count, ReadOptions: readOptions(c)})
	if err != nil {
		return err
	}
	if c.Bool("prompt") {
		if p.json {
			return p.printJSON(map[string]string{"prompt": d.Prompt()})
		}
		fmt.Fprintln(p.stdout, clean(d.Prompt()))
		return nil
	}
	if m != nil {
		ctx, stop := untilInterrupt(c.Context)
		defer stop()
		if d.Summary, err = d.Summarize(ctx, m, id); err != nil {
			return err
		}
	}
	switch {
	case c.IsSet("html"):
		return p.comparePage(c, d)
	case p.json:
		return p.printJSON(d)
	}
	p.comparison(d)
	return nil
}

// modelOf opens the model of the flag --model, nil without the flag.
func (p *program) modelOf(c *cli.Context, w *workspace.Workspace) (m model.Model, id string, done func(), err error) {
	done = func() {}
	if id = c.String("model"); !c.IsSet("model") {
		return nil, "", done, nil
	}
	if _, _, err := parseModel(id); err != nil {
		return nil, "", done, err
	}
	s := p.newSupply(c, w)
	m, err = s.model(c.Context, id)
	return m, id, s.close, err
}

// A comparePage is the result of 'bough compare --html'.
type comparePage struct {
	Path  session.ID `json:"path"` // absolute path of the file, null if there is none
	Bytes int        `json:"bytes"`
	HTML  string     `json:"html,omitempty"` // without a file
}

func (p *program) comparePage(c *cli.Context, d *compare.Comparison) error {
	var page bytes.Buffer
	if err := html.WriteColumns(&page, columnsOf(d)); err != nil {
		return err
	}
	path := c.String("html")
	out := comparePage{Bytes: page.Len()}
	if path == "-" {
		if p.json {
			out.HTML = page.String()
			return p.printJSON(out)
		}
		_, err := page.WriteTo(p.stdout)
		return err
	}
	write := outfile.Create
	if c.Bool("force") {
		write = outfile.Replace
	}
	path, err := write(c.Context, path, page.Bytes())
	if err != nil {
		return err
	}
	if p.json {
		out.Path = session.ID(path)
		return p.printJSON(out)
	}
	fmt.Fprintln(p.stdout, clean(path))
	return nil
}

// A cell is a line of a column: its text, and how it is painted.
type cell struct {
	text  string
	paint func(string) string
}

// comparison prints a comparison: the sides in columns if there is room, else one below the
// other.
func (p *program) comparison(d *compare.Comparison) {
	if d.Common == "" {
		fmt.Fprintln(p.stdout, "no message in common")
	} else {
		fmt.Fprintf(p.stdout, "%s in common, up to %s\n", count(d.Shared, "message"), p.paint.yellow(line(d.CommonRef)))
	}
	const narrowest, gap = 48, 2 // columns
	columns := make([][]cell, len(d.Sides))
	each := (p.paint.width+gap)/len(d.Sides) - gap
	side := each >= narrowest
	for i := range d.Sides {
		columns[i] = p.sideCells(&d.Sides[i])
	}
	if side {
		fmt.Fprintln(p.stdout)
		for row := range longest(columns) {
			var b strings.Builder
			for _, column := range columns {
				var c cell
				if row < len(column) {
					c = column[row]
				}
				text := p.paint.fit(c.text, each)
				painted := text
				if c.paint != nil {
					painted = c.paint(text)
				}
				b.WriteString(painted + strings.Repeat(" ", max(0, each+gap-width(text))))
			}
			fmt.Fprintln(p.stdout, strings.TrimRight(b.String(), " "))
		}
	} else {
		for _, column := range columns {
			fmt.Fprintln(p.stdout)
			for _, c := range column {
				text := p.paint.fit(c.text, p.paint.width)
				if c.paint != nil {
					text = c.paint(text)
				}
				fmt.Fprintln(p.stdout, text)
			}
		}
	}
	if d.Summary != nil {
		fmt.Fprintf(p.stdout, "\n%s\n%s\n", p.paint.bold(line(d.Summary.Model)), clean(d.Summary.Text))
	}
}

func longest(columns [][]cell) (rows int) {
	for _, c := range columns {
		rows = max(rows, len(c))
	}
	return rows
}

// sideCells returns the lines about a side.
func (p *program) sideCells(s *compare.Side) []cell {
	list := []cell{
		{line(s.Title), p.paint.bold},
		{cmp.Or(line(s.EndRef), "no messages"), p.paint.yellow},
	}
	for _, f := range facts(s) {
		list = append(list, cell{pad(f.name, 9) + f.text, p.paint.dim})
	}
	if s.Files != nil {
		for _, f := range s.Files.Changes {
			list = append(list, cell{"  " + f.Kind + " " + line(f.Path), nil})
		}
	}
	for _, m := range s.Messages {
		mark := line(m.Role)
		if m.Merged {
			mark = "merge"
		}
		_, id, _ := strings.Cut(m.Ref, "@")
		list = append(list, cell{shortMessage(id) + "  " + pad(mark, 9) + " " + line(m.Text), nil})
	}
	return list
}

// A fact is something about a side, with its name.
type fact struct{ name, text string }

// facts returns the facts about a side that are known.
func facts(s *compare.Side) []fact {
	list := []fact{
		{"added", strings.Join([]string{count(len(s.Messages), "message"), count(s.Turns, "turn"), count(s.Tokens, "token")}, " · ")},
		{"by", strings.Join(authors(s), ", ")},
		{"outcome", outcomeText(s.Outcome)},
	}
	if s.Files != nil {
		list = append(list, fact{"files", count(len(s.Files.Changes), "change")})
	}
	return slices.DeleteFunc(list, func(f fact) bool { return f.text == "" })
}

// authors returns the models and the agent of a side.
func authors(s *compare.Side) (list []string) {
	for _, m := range s.Models {
		list = append(list, line(m))
	}
	if s.Agent != "" {
		list = append(list, "agent "+line(s.Agent))
	}
	return list
}

// outcomeText describes the outcome of an exploration, "" for none.
func outcomeText(o *compare.Outcome) string {
	if o == nil {
		return ""
	}
	var list []string
	if o.Confidence != nil {
		list = append(list, "confidence "+strconv.FormatFloat(*o.Confidence, 'g', 3, 64))
	}
	if o.Success != nil && *o.Success {
		list = append(list, "succeeded")
	} else if o.Success != nil {
		list = append(list, "did not succeed")
	}
	if len(o.Metrics) > 0 {
		list = append(list, line(string(o.Metrics)))
	}
	return cmp.Or(strings.Join(list, " · "), "without a confidence")
}

// newSupply returns a supply of models with the flags of a verb.
func (p *program) newSupply(c *cli.Context, w *workspace.Workspace) *supply {
	var asks *asker
	return &supply{approve: p.newApprover(c, w, func() *asker {
		if asks == nil {
			asks = p.newAsker()
			asks.start()
		}
		return asks
	})}
}
