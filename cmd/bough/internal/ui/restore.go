package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
)

// A restore is what the user chose about bringing files back.
type restore struct {
	ref      string // a message, a conversation or a state
	dir      string // of the folder, "" until it is known
	scope    scope
	moves    bool // the head can move to ref
	isTurn   bool // ref is a message, so that it is in a turn
	isFrozen bool // ref is a checkpoint
	options  restores.Options
	changed  bool // the plan is another one than the user agreed to
}

// A restorePlan is a screen with a plan that was requested after a number of keys.
type restorePlan struct {
	screen  screen
	pressed int
}

const planning = "Planning what would be restored …"

// showPlan shows a plan, unless the user went on meanwhile: what they type must not be an answer to it.
func (m *model) showPlan(p restorePlan) tea.Cmd {
	if p.pressed != m.pressed {
		m.refuse("The plan of the restore is not shown, because a key was pressed meanwhile. Press w again.")
		return nil
	}
	if m.said == planning {
		m.said = ""
	}
	return m.push(p.screen)
}

// A scope is what a restore brings back.
type scope int

const (
	onlyFiles scope = iota
	withHead        // the head moves too
	oneTurn         // only what one turn changed
)

// restoreFiles shows what bringing the files back to the state at the selection would change.
func (m *model) restoreFiles(ref, id string) tea.Cmd {
	r := restore{
		ref: ref, moves: m.tree.source.Agents[id] == "",
		isTurn:   strings.Contains(ref, "@"),
		isFrozen: m.focus == treeSide && m.tree.selected().Kind == treerows.Checkpoint,
	}
	return m.planRestore(r)
}

// run makes the restore, or returns what it would do if its options say so.
func (r restore) run(ctx context.Context, w *workspace.Workspace) (*restores.Restore, error) {
	folder := w.Folder(r.dir)
	switch {
	case r.scope == oneTurn:
		return folder.UndoTurn(ctx, r.ref, r.options)
	case r.scope == withHead && r.isFrozen:
		return filesOf(folder.Restore(ctx, r.ref, r.options))
	case r.scope == withHead:
		return filesOf(folder.Rewind(ctx, r.ref, checkpoint.CutOptions{}, r.options))
	}
	return folder.RestoreFiles(ctx, r.ref, r.options)
}

func filesOf(p *lines.Position, err error) (*restores.Restore, error) {
	if err != nil {
		return nil, err
	}
	return p.Files, nil
}

// target returns the state to which a restore brings the files.
func (r restore) target(ctx context.Context, w *workspace.Workspace) (*files.State, error) {
	if r.scope == oneTurn {
		d, err := w.Folder(r.dir).Turn(ctx, r.ref, files.DiffOptions{})
		if err != nil {
			return nil, err
		}
		return d.From, nil
	}
	e, err := w.Folder(r.dir).Show(ctx, r.ref, ".")
	if err != nil {
		return nil, err
	}
	return &e.State, nil
}

// planRestore shows what a restore would do. The folder is that of the state, wherever the page
// was started: the screen names it.
func (m *model) planRestore(r restore) tea.Cmd {
	e, pressed := m.env, m.pressed
	m.said, m.refused, m.offered = planning, false, false
	return e.do(func() tea.Msg {
		w := e.w.Confined()
		st, err := r.target(e.ctx, w)
		if err != nil {
			return failure{err}
		}
		r.dir = st.Dir
		plan := r
		plan.options.DryRun = true
		found, err := plan.run(e.ctx, w)
		if err != nil {
			return failure{err}
		}
		return restorePlan{m.restoreScreen(r, st, found), pressed}
	})
}

// A restoreWay is what happens to a path that others changed too.
type restoreWay struct {
	text      string
	conflicts string
	whole     bool
}

func restoreWays() []restoreWay {
	return []restoreWay{
		{text: "restore nothing", conflicts: restores.Refuse},
		{text: "keep them as they are", conflicts: restores.Keep},
		{text: "take those of the state", conflicts: restores.Take},
		{text: "revert the lines of the conversation", conflicts: restores.Merge},
		{text: "make the whole folder exactly the state", whole: true},
	}
}

// restoreScreen shows the plan of a restore, and what can be chosen. Enter makes it, unless it
// would be refused or change nothing.
func (m *model) restoreScreen(r restore, st *files.State, plan *restores.Restore) screen {
	changes := len(plan.Written) + len(plan.Deleted)
	summary := plural.Of(changes, "file") + " would change"
	switch {
	case len(plan.Conflicts) > 0:
		summary = plural.Of(len(plan.Conflicts), "conflict")
	case changes == 0:
		summary = "the files stay as they are"
	}
	s := &textScreen{title: "Restore " + line(m.stateText(st)) + ": " + summary, keys: map[string]func() tea.Cmd{}}
	s.text = func(columns int) []string { return restoreLines(r, st, plan, columns) }
	again := func(change func(*restore)) func() tea.Cmd {
		return func() tea.Cmd {
			changed := r
			change(&changed)
			return m.planRestore(changed)
		}
	}
	s.keys["f"] = again(func(r *restore) { r.scope = onlyFiles })
	if r.moves {
		s.keys["b"] = again(func(r *restore) { r.scope = withHead })
	}
	if r.isTurn {
		s.keys["t"] = again(func(r *restore) { r.scope = oneTurn })
	}
	for i, way := range restoreWays() {
		s.keys[itoa(i+1)] = again(func(r *restore) { r.options.Conflicts, r.options.Whole = way.conflicts, way.whole })
	}
	s.keys["o"] = func() tea.Cmd {
		q := m.input("Only these paths, none for all:", strings.Join(r.options.Only, "\n"), func(text string, _ bool) tea.Cmd {
			return again(func(r *restore) { r.options.Only = pathsIn(text) })()
		})
		q.lines, q.empty = true, true
		return nil
	}
	if len(plan.Conflicts) > 0 || changes == 0 && r.scope != withHead {
		s.hint = "1 to 5 choose"
		return s
	}
	s.hint = "enter restores"
	s.keys["enter"] = func() tea.Cmd { return m.makeRestore(r, plan) }
	return s
}

// pathsIn returns the paths in a text, one a line.
func pathsIn(text string) (paths []string) {
	for l := range strings.Lines(text) {
		if name := strings.TrimSuffix(strings.TrimSpace(l), "/"); name != "" {
			paths = append(paths, name)
		}
	}
	return paths
}

// makeRestore makes a restore that was planned. If it would do something else by now, it shows that instead. It shows the
// paths that stayed as they were although the plan did not say so, because another program changed them meanwhile.
func (m *model) makeRestore(r restore, plan *restores.Restore) tea.Cmd {
	planned := map[string]bool{}
	for _, k := range plan.Kept {
		planned[k.Path] = true
	}
	return m.runShowing(func(ctx context.Context, w *workspace.Workspace) (place, screen, error) {
		dry := r
		dry.options.DryRun = true
		now, err := dry.run(ctx, w.Confined())
		if err != nil {
			return place{}, nil, err
		}
		if now.To != plan.To || !slices.Equal(now.Written, plan.Written) || !slices.Equal(now.Deleted, plan.Deleted) || len(now.Conflicts) > 0 {
			again := r
			again.changed = true
			st, err := again.target(ctx, w.Confined())
			if err != nil {
				return place{}, nil, err
			}
			return place{}, m.restoreScreen(again, st, now), nil
		}
		done, err := r.run(ctx, w.Confined())
		if err != nil {
			return place{}, nil, err
		}
		var kept []restores.Kept
		for _, k := range done.Kept {
			if !planned[k.Path] {
				kept = append(kept, k)
			}
		}
		if len(kept) == 0 {
			return place{}, nil, nil
		}
		return place{}, &textScreen{title: "Restored, but " + plural.Of(len(kept), "path") + " stayed as they were", text: func(columns int) []string {
			return keptLines(kept, columns)
		}}, nil
	})
}

// maxPlanned is how many paths of each kind a plan lists.
const maxPlanned = 500

// restoreLines returns the choices of a restore, and what it would do.
func restoreLines(r restore, st *files.State, plan *restores.Restore, columns int) (text []string) {
	text = append(text, styled(wrap(line(cmp.Or(plan.Dir, st.Dir)), columns), dim)...)
	if r.changed {
		text = append(text, styled(wrap("Nothing was restored: the folder or the conversation has changed meanwhile, and this is the plan now.", columns), yellow)...)
	}
	if !plan.Exact {
		text = append(text, styled(wrap("The message has no state of its own. This is the nearest one before it.", columns), yellow)...)
	}
	if plan.Late {
		text = append(text, styled(wrap("The state was taken while the assistant may already have been working.", columns), yellow)...)
	}
	choice := func(key, what string, chosen bool) {
		mark := "  "
		if chosen {
			mark = "● "
		}
		text = append(text, fit(mark+key+"  "+what, columns))
	}
	text = append(text, "", bold(fit("What goes back", columns)))
	choice("f", "the files", r.scope == onlyFiles)
	if r.moves {
		choice("b", "the files and the head", r.scope == withHead)
	}
	if r.isTurn {
		choice("t", "only what this turn changed", r.scope == oneTurn)
	}
	only := "all paths"
	if len(r.options.Only) > 0 {
		only = "only " + line(strings.Join(r.options.Only, ", "))
	}
	choice("o", only, false)
	text = append(text, "", bold(fit("Where others changed a file too", columns)))
	for i, way := range restoreWays() {
		choice(itoa(i+1), way.text, way.conflicts == r.options.Conflicts && way.whole == r.options.Whole)
	}
	text = append(text, "")
	changes := len(plan.Written) + len(plan.Deleted)
	switch {
	case len(plan.Conflicts) > 0:
		text = append(text, styled(wrap("Nothing can be restored like this. Choose above what happens to these files.", columns), red)...)
	case changes == 0 && plan.Orphan:
		text = append(text, wrap("The conversation of this state does not exist, so what it changed is unknown. 5 makes the whole folder exactly the state.", columns)...)
	case changes == 0 && plan.Differs:
		text = append(text, wrap("The conversation did not change what differs from the state. 5 makes the whole folder exactly the state.", columns)...)
	case changes == 0:
		text = append(text, wrap("There is nothing to restore.", columns)...)
	default:
		text = append(text, wrap("What the folder has now becomes a state first. Undo brings it back.", columns)...)
	}
	list := func(title string, style func(string) string, n int, at func(i int) string) {
		if n == 0 {
			return
		}
		text = append(text, "", bold(fit(title, columns)))
		for i := range min(n, maxPlanned) {
			text = append(text, style(fit("  "+at(i), columns)))
		}
		if n > maxPlanned {
			text = append(text, dim(fit("  … "+plural.Of(n-maxPlanned, "more path"), columns)))
		}
	}
	list("Conflicts: the conversation changed these files, and others did too", red, len(plan.Conflicts), func(i int) string {
		return line(plan.Conflicts[i].Path) + "  " + sentence.Conflict(plan.Conflicts[i])
	})
	list("To be written, as the state has them", green, len(plan.Written), func(i int) string { return line(plan.Written[i]) })
	list("To be deleted, because the state does not have them", red, len(plan.Deleted), func(i int) string { return line(plan.Deleted[i]) })
	if len(plan.Kept) > 0 {
		text = append(text, "", bold(fit("Kept, although they differ from the state", columns)))
		text = append(text, keptLines(plan.Kept, columns)...)
	}
	return text
}

// keptLines returns the paths that stay as they are, and why.
func keptLines(kept []restores.Kept, columns int) (text []string) {
	for i, k := range kept {
		if i == maxPlanned {
			return append(text, dim(fit("  … "+plural.Of(len(kept)-i, "more path"), columns)))
		}
		why := sentence.Kept(k.Why)
		if k.As != "" {
			why += "; what another program wrote is in " + line(k.As)
		}
		text = append(text, fit("  "+line(k.Path)+"  "+why, columns))
	}
	return text
}
