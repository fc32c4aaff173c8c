package ui

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/tidwall/gjson"
)

func (e *env) explorer() *explore.Explorer {
	return &explore.Explorer{Workspace: e.w, Model: e.Models, Note: func(text string) { e.send(note{text}) }}
}

// explorations lists the explorations, the newest first.
func (m *model) explorations() tea.Cmd {
	e := m.env
	return e.do(func() tea.Msg {
		all, err := e.explorer().List(e.ctx)
		if err != nil {
			return failure{err}
		}
		if len(all) == 0 {
			return refusal{"No explorations; x at a message begins one"}
		}
		items := make([]list.Item, len(all))
		for i, x := range all {
			created, _ := session.ParseTime(x.CreatedAt)
			items[i] = list.Item{Text: questionOf(x), Detail: progress(x) + " · " + age(created, e.Now()), Ref: x.ID}
		}
		return listRequest{list.Options{Prompt: "Exploration:", Items: items}, func(item list.Item) tea.Cmd {
			return m.openExploration(item.Ref)
		}}
	})
}

func questionOf(x *explore.Exploration) string {
	if text := line(x.Question); text != "" {
		return text
	}
	return "Exploration " + line(x.ID)
}

// progress says how far an exploration is.
func progress(x *explore.Exploration) string {
	completed := 0
	for _, b := range x.Branches {
		if b.Status == explore.Completed {
			completed++
		}
	}
	text := itoa(completed) + " of " + plural.Of(len(x.Branches), "strategy") + " completed"
	switch {
	case len(x.Active) > 0:
		text += ", " + itoa(len(x.Active)) + " running"
	case !x.Done():
		text += ", interrupted"
	case x.Adopted != nil:
		text += ", adopted"
	}
	return text
}

// openExploration shows an exploration, and reads it again as long as it runs.
func (m *model) openExploration(id string) tea.Cmd {
	s := &textScreen{title: "Exploration", text: func(int) []string { return []string{dim("Reading…")} }, hint: "a adopts the outcome, 1 to 9 a strategy", keys: map[string]func() tea.Cmd{}}
	s.read = func(ctx context.Context) (screenText, bool) {
		x, err := m.env.explorer().Open(ctx, id)
		if err != nil {
			text := explain(err)
			return screenText{"Exploration", func(columns int) []string { return styled(wrap(text, columns), red) }}, false
		}
		return screenText{questionOf(x) + " · " + progress(x), func(columns int) []string { return explorationLines(x, columns) }}, len(x.Active) > 0
	}
	s.keys["a"] = func() tea.Cmd { return m.adopt(id, 0) }
	const most = 9
	for n := 1; n <= most; n++ {
		s.keys[itoa(n)] = func() tea.Cmd { return m.adopt(id, n) }
	}
	return tea.Batch(m.push(s), s.reload(m.env))
}

// adopt moves the head to the result of a strategy, counted from 1, or for 0 to the outcome.
func (m *model) adopt(id string, n int) tea.Cmd {
	what := "the outcome"
	if n > 0 {
		what = "the result of strategy " + itoa(n)
	}
	e := m.env
	return m.confirm("Move the head to "+what+"?", func() tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			x, err := e.explorer().Open(ctx, id)
			if err != nil {
				return place{}, err
			}
			branch := ""
			if n > 0 {
				branch = itoa(n) // which the error names if there is no such strategy
				if n <= len(x.Branches) {
					branch = x.Branches[n-1].ID
				}
			}
			x, err = e.explorer().Adopt(ctx, id, branch)
			if err != nil || x.Adopted == nil {
				return place{}, err
			}
			return place{session: x.Session, leaf: *x.Adopted}, nil
		})
	})
}

// resultRows is how many lines of the result of a strategy are shown.
const resultRows = 20

// explorationLines returns the strategies of an exploration, and its outcome.
func explorationLines(x *explore.Exploration, columns int) (lines []string) {
	selected := ""
	if v := x.Evaluation; v != nil {
		selected = v.Selected
		lines = append(lines, bold("Outcome"))
		for _, reason := range v.Reasons {
			lines = append(lines, styled(wrap(line(reason), columns), dim)...)
		}
		lines = append(append(lines, foldedText(strings.TrimSpace(clean(v.Result)), resultRows, false, columns, plainly)...), "")
	}
	for i, b := range x.Branches {
		lines = append(lines, strategyHead(i+1, &b, b.ID == selected, columns))
		for _, text := range []string{b.Description, b.Reason, metrics(b.Metrics)} {
			if text = line(text); text != "" {
				lines = append(lines, styled(wrap(text, columns), dim)...)
			}
		}
		lines = append(append(lines, foldedText(strings.TrimSpace(clean(b.Result)), resultRows, false, columns, plainly)...), "")
	}
	return lines
}

// strategyHead returns the line above a strategy: its number, name, status and confidence.
func strategyHead(n int, b *explore.Branch, selected bool, columns int) string {
	facts := []string{string(b.Status)}
	if b.Pruned {
		facts = append(facts, "pruned")
	}
	if b.Confidence != nil {
		facts = append(facts, itoa(int(math.Round(100*min(max(*b.Confidence, 0), 1))))+" %")
	}
	begun, hasBegun := session.ParseTime(b.StartedAt)
	if ended, hasEnded := session.ParseTime(b.EndedAt); hasBegun && hasEnded {
		facts = append(facts, strconv.FormatFloat(ended.Sub(begun).Seconds(), 'f', 1, 64)+" s")
	}
	if selected {
		facts = append(facts, "selected")
	}
	name := fit(itoa(n)+"  "+line(b.Strategy), columns)
	return bold(statusStyle(b.Status)(name)) + dim(fit("  "+strings.Join(facts, " · "), columns-width(name)))
}

func statusStyle(s explore.Status) func(string) string {
	switch s {
	case explore.Completed:
		return green
	case explore.Executing:
		return yellow
	case explore.Failed:
		return red
	}
	return plainly
}

// metrics returns the measured values of a strategy in a line.
func metrics(raw []byte) string {
	var list []string
	if json.Valid(raw) {
		gjson.ParseBytes(raw).ForEach(func(name, value gjson.Result) bool {
			list = append(list, name.String()+" "+value.String())
			return true
		})
	}
	return strings.Join(list, ", ")
}
