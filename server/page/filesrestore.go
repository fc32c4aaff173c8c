package page

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/restores"
)

// wholeFolder is the way to restore that makes the folder exactly the state. The others are
// those of [restores.Options].
const wholeFolder = "whole"

// maxPlanned is how many paths of each kind a plan lists.
const maxPlanned = 500

// A restorePage is the plan of a restore, with the form that makes it.
type restorePage struct {
	Ref         string
	Title       string
	Target      folderState
	Earlier     bool
	Dir         string
	What        string // files, both, turn, adopt or merge
	Message     bool   // Ref is a message, which is in a turn
	Head        bool   // the head can move there
	Way         string
	Ways        []restoreWay
	Only        string  // the paths to which the plan is restricted, one a line; "" for all
	Form        string  // the address of the plan
	Hidden      []field // of the forms of the plan and of the restore
	Posted      []field // of that of the restore
	Crumbs      []crumb
	Summary     string
	Refused     bool // because of conflicts
	Nothing     bool // no file and not the head
	Orphan      bool // the state belongs to no conversation that exists
	Lists       []plannedList
	Action      string
	Back        string
	Compare     string // the address of how the folder differs from the state now
	CompareText string
}

// A field is a hidden field of a form.
type field struct{ Name, Value string }

// A restoreWay is a choice for paths that others changed too.
type restoreWay struct {
	Value, Text string
	Current     bool
}

// A plannedList is what a plan does with some paths.
type plannedList struct {
	Title string
	Paths []plannedPath
	More  string
}

// A plannedPath is a path in a plan.
type plannedPath struct{ Path, Href, Why string }

// restoreAddress returns the address of the plan for a REF or a state.
func restoreAddress(ref string) string { return "/files/restore?" + url.Values{"ref": {ref}}.Encode() }

// showRestore shows what a restore would do, and the form that does it.
func showRestore(c *request) (view, error) {
	q := c.r.URL.Query()
	p := &restorePage{Ref: q.Get("ref"), Way: q.Get("way"), Dir: q.Get("dir"), What: q.Get("what"), Only: onlyIn(q), Form: "/files/restore"}
	if p.Ref == "" {
		return view{}, &fault.Error{Code: fault.Usage, Message: "the address names no message and no state"}
	}
	target, err := p.target(c)
	if err != nil {
		return view{}, err
	}
	p.Target, p.Earlier, p.Dir = c.folderState(target), !target.Exact, target.Dir
	p.Target.Words = c.wordsAt(target)
	if p.Message, p.Head, err = c.isMessage(p.Ref, target.ID); err != nil {
		return view{}, err
	}
	if p.What == withHead && !p.Head {
		p.What = ""
	}
	planned, err := p.plan(c)
	if err != nil {
		return view{}, err
	}
	p.Hidden = []field{{"ref", p.Ref}, {"dir", p.Dir}}
	p.Crumbs = []crumb{{Title: "Files", Href: "/files"}, {Title: p.Target.Folder, Href: p.Target.Href}}
	p.Compare, p.CompareText = differenceAddress(p.Target.ID, files.Now), "How the folder differs from the state"
	p.of(planned)
	p.Title = "Restore " + filepath.Base(p.Dir)
	if p.What == oneTurn {
		p.Title = "Revert a turn in " + filepath.Base(p.Dir)
	}
	p.Back = c.r.URL.RequestURI()
	return view{Template: "restore", Title: p.Title, Data: p}, nil
}

// What goes back, beside the files.
const (
	withHead = "both" // the head too
	oneTurn  = "turn" // only what one turn changed
)

// target returns the state to which files are brought back.
func (p *restorePage) target(c *request) (*files.State, error) {
	folder := c.workspace.Confined().Folder(p.Dir)
	if p.What == oneTurn {
		d, err := folder.Turn(c.r.Context(), p.Ref, files.DiffOptions{})
		if err != nil {
			return nil, err
		}
		return d.From, nil
	}
	e, err := folder.Show(c.r.Context(), p.Ref, ".")
	if err != nil {
		return nil, err
	}
	return &e.State, nil
}

// isMessage reports whether a REF is a message, and whether the head of the workspace can move to
// it: that of an agent is moved on its page.
func (c *request) isMessage(ref, state string) (is, canMove bool, err error) {
	if ref == state {
		return false, false, nil
	}
	shown, err := c.workspace.Show(c.r.Context(), ref, partial())
	if err != nil {
		return false, false, nil // the start of the id of a state
	}
	tree, err := c.workspace.MessageTree(c.r.Context(), shown.Entry.ID, partial())
	if err != nil {
		return false, false, err
	}
	related, err := c.related(tree.Session)
	return true, related.agent == "", err
}

// onlyIn returns the paths in the query of an address, one a line.
func onlyIn(q url.Values) string {
	var list []string
	for line := range strings.Lines(q.Get("only")) {
		if name := strings.TrimSuffix(strings.TrimSpace(line), "/"); name != "" {
			list = append(list, name)
		}
	}
	return strings.Join(list, "\n")
}

// options returns the options of a dry run, and adds them to the form of the restore.
func (p *restorePage) options() restores.Options {
	o := restores.Options{DryRun: true, Whole: p.Way == wholeFolder}
	switch {
	case o.Whole:
		p.Posted = append(p.Posted, field{"whole", "true"})
	case p.Way != restores.Refuse:
		o.Conflicts = p.Way
		p.Posted = append(p.Posted, field{"conflicts", p.Way})
	}
	for name := range strings.Lines(p.Only) {
		name = strings.TrimSuffix(name, "\n")
		o.Only = append(o.Only, name)
		p.Posted = append(p.Posted, field{"only", name})
	}
	return o
}

// plan returns what the restore would do.
func (p *restorePage) plan(c *request) (*restores.Restore, error) {
	o := p.options()
	ctx, folder := c.r.Context(), c.workspace.Confined().Folder(p.Dir)
	switch p.What {
	case oneTurn:
		p.Action = "/do/files/turn/undo"
		return folder.UndoTurn(ctx, p.Ref, o)
	case withHead:
		p.Action = "/do/rewind/both"
		pos, err := folder.Rewind(ctx, p.Ref, checkpoint.CutOptions{}, o)
		if err != nil {
			return nil, err
		}
		return pos.Files, nil
	}
	p.Action = "/do/rewind/files"
	return folder.RestoreFiles(ctx, p.Ref, o)
}

// of sets what follows from a plan.
func (p *restorePage) of(r *restores.Restore) {
	for _, way := range []restoreWay{
		{Value: restores.Refuse, Text: "restore nothing"},
		{Value: restores.Keep, Text: "keep them as they are"},
		{Value: restores.Take, Text: "take those of the state"},
		{Value: restores.Merge, Text: p.mergeText()},
		{Value: wholeFolder, Text: "make the whole folder exactly the state"},
	} {
		way.Current = way.Value == p.Way
		p.Ways = append(p.Ways, way)
	}
	changes := len(r.Written) + len(r.Deleted)
	p.Refused = len(r.Conflicts) > 0
	p.Nothing = changes == 0 && p.What != withHead && p.What != adoption
	p.Orphan = r.Orphan
	switch {
	case p.Refused:
		p.Summary = count(len(r.Conflicts), "conflict")
	case changes == 0:
		p.Summary = "The files stay as they are"
	default:
		p.Summary = count(changes, "file") + " would change"
	}
	state := func(name string) string { return stateAddress(p.Target.ID, name) }
	p.list(p.conflictsTitle(), len(r.Conflicts), func(i int) plannedPath {
		k := r.Conflicts[i]
		return plannedPath{k.Path, p.Compare + "&" + url.Values{"path": {k.Path}}.Encode(), sentence.Conflict(k)}
	})
	p.list("To be written, as the state has them", len(r.Written), func(i int) plannedPath { return plannedPath{Path: r.Written[i], Href: state(r.Written[i])} })
	p.list("To be deleted, because the state does not have them", len(r.Deleted), func(i int) plannedPath { return plannedPath{Path: r.Deleted[i]} })
	kept := keptOf(r.Kept)
	p.list("Kept, although they differ from the state", len(kept), func(i int) plannedPath { return kept[i] })
}

func (p *restorePage) conflictsTitle() string {
	if p.What == adoption || p.What == merging {
		return "Conflicts: the branch changed these files, and they changed here too"
	}
	return "Conflicts: the conversation changed these files, and others did too"
}

func (p *restorePage) mergeText() string {
	if p.What == adoption || p.What == merging {
		return "merge the lines of both"
	}
	return "revert the lines of the conversation"
}

// list adds a list of n paths, unless it is empty.
func (p *restorePage) list(title string, n int, at func(i int) plannedPath) {
	if n == 0 {
		return
	}
	l := plannedList{Title: title}
	for i := range min(n, maxPlanned) {
		l.Paths = append(l.Paths, at(i))
	}
	if n > maxPlanned {
		l.More = count(n-maxPlanned, "more path")
	}
	p.Lists = append(p.Lists, l)
}

// showTurn leads to what a turn changed.
func showTurn(c *request) (view, error) {
	ref := c.r.FormValue("ref")
	d, err := c.workspace.Confined().Folder(c.r.FormValue("dir")).Turn(c.r.Context(), ref, files.DiffOptions{})
	if err != nil {
		return view{}, err
	}
	return view{Location: differenceAddress(d.From.ID, d.To.ID) + "&" + url.Values{"turn": {ref}}.Encode()}, nil
}

// turnAddress returns the address of what the turn of a message changed.
func turnAddress(ref string) string { return "/files/turn?" + url.Values{"ref": {ref}}.Encode() }
