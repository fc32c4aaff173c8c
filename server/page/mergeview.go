package page

import (
	"html/template"
	"net/url"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/merge"
)

// merging is the value of [restorePage.What] for what a merged branch changed.
const merging = "merge"

// A mergePage is the plan of a merge, with the form that makes it.
type mergePage struct {
	restorePage // what happens to the files, if WithFiles is set

	Branch    string
	Into      string
	From      snapshotLink  // the end of the branch
	To        snapshotLink  // the message after which the merge is added
	Targets   []choice      // where it can be added instead
	By        string        // who writes the text, as of [merge.Result]
	Model     string        // that writes it, "" if none is chosen
	Models    bool          // the server has models
	About     string        // how much is merged
	Nothing   string        // why nothing is, "" if something is
	Forks     bool          // the target is read-only and is branched first
	Body      template.HTML // of the message, as rules make it
	Draft     string        // the same as text, for the person who changes it
	Prompt    string        // what the model would be asked
	Failed    string        // why the model cannot be asked
	HasFiles  bool          // the branch has states
	WithFiles bool
	NoFiles   string // why its files cannot be merged too
}

// ByDigest reports whether rules write the text.
func (p *mergePage) ByDigest() bool { return p.By == merge.ByDigest }

// ByPerson reports whether the user writes the text.
func (p *mergePage) ByPerson() bool { return p.By == merge.BySummary }

// ByModel reports whether a model writes the text.
func (p *mergePage) ByModel() bool { return p.By == merge.ByModel }

// Ready reports whether the merge can be made as it is shown.
func (p *mergePage) Ready() bool {
	return p.Nothing == "" && !p.Refused && (p.By != merge.ByModel || p.Model != "" && p.Failed == "")
}

// showMerge shows what a merge would do, and the form that does it.
func showMerge(c *request) (view, error) {
	q := c.r.URL.Query()
	p := &mergePage{
		Branch: q.Get("branch"), Into: q.Get("into"), By: q.Get("by"), Model: q.Get("model"), Models: c.opts.Models != nil,
		WithFiles:   q.Get("files") != "",
		restorePage: restorePage{What: merging, Way: q.Get("way")},
	}
	if p.Branch == "" {
		return view{}, &fault.Error{Code: fault.Usage, Message: "the address names no branch"}
	}
	if p.By != merge.BySummary && (p.By != merge.ByModel || !p.Models) {
		p.By = merge.ByDigest
	}
	if err := p.choose(c); err != nil {
		return view{}, err
	}
	r, err := p.dryRun(c)
	if err != nil {
		return view{}, err
	}
	if err := p.describe(c, r); err != nil {
		return view{}, err
	}
	p.Back = c.r.URL.RequestURI()
	return view{Template: "merge", Title: "Merge " + p.From.Title, Data: p}, nil
}

// choose sets the places into which the branch can be merged, and the one that is meant.
func (p *mergePage) choose(c *request) error {
	title, list, err := choices(c.r.Context(), c.workspace, p.Branch)
	if err != nil {
		return err
	}
	p.From.Title = title
	head, err := c.workspace.Head(c.r.Context())
	if err != nil {
		return err
	}
	if head != nil {
		p.Targets = append(p.Targets, choice{Ref: "HEAD", Title: "The head"})
	}
	known := p.Into == ""
	for _, one := range list {
		known = known || one.Ref == p.Into
		p.Targets = append(p.Targets, one)
	}
	if !known && p.Into != "HEAD" {
		one, err := c.choiceOf(p.Into)
		if err != nil {
			return err
		}
		p.Targets = append(p.Targets, one)
	}
	switch {
	case p.Into != "":
	case len(p.Targets) == 0:
		return &fault.Error{Code: fault.Refused, Message: "there is nothing into which the branch could be merged"}
	default:
		p.Into = p.Targets[0].Ref
	}
	return nil
}

// choiceOf describes a REF.
func (c *request) choiceOf(ref string) (choice, error) {
	shown, err := c.workspace.Show(c.r.Context(), ref, partial())
	if err != nil {
		return choice{}, err
	}
	one := choice{Ref: ref, Title: clip(shown.Entry.Title), About: count(len(shown.Messages), "message")}
	if n := len(shown.Messages); n > 0 {
		one.Words = spoken.Words(shown.Messages[n-1])
	}
	return one, nil
}

// dryRun returns what the merge would do.
func (p *mergePage) dryRun(c *request) (*merge.Result, error) {
	ctx := c.r.Context()
	o := merge.Options{Into: p.Into, DryRun: true}
	if p.ByModel() && p.Model != "" {
		m, err := c.opts.Models(ctx, p.Model)
		if err != nil {
			p.Failed = workspace.Explain(err).Message
		} else {
			o.Model = m
		}
	}
	p.Dir = c.folderAt(p.Branch)
	p.HasFiles = p.Dir != ""
	if !p.WithFiles || !p.HasFiles {
		p.WithFiles = false
		return c.workspace.Confined().Merge(ctx, p.Branch, o)
	}
	without := o
	o.Files, o.Dir, o.Restore = true, p.Dir, p.options()
	p.Posted = append(p.Posted, field{"files", "true"}, field{"dir", p.Dir})
	r, err := c.workspace.Confined().Merge(ctx, p.Branch, o)
	if err != nil { // such as that no state is at the base
		p.NoFiles, p.WithFiles, p.Posted = workspace.Explain(err).Message, false, nil
		return c.workspace.Confined().Merge(ctx, p.Branch, without)
	}
	return r, nil
}

// describe sets what the page says about a plan.
func (p *mergePage) describe(c *request, r *merge.Result) error {
	from, err := c.place(p.Branch)
	if err != nil {
		return err
	}
	to, err := c.place(p.Into)
	if err != nil {
		return err
	}
	c.session = from.session
	p.From, p.To = from.link, to.link
	p.Forks = r.ForkedFrom != ""
	switch r.Nothing {
	case merge.Ancestor:
		p.Nothing = "There is nothing to merge: the target has all messages of the branch."
		return nil
	case merge.Already:
		p.Nothing = "There is nothing to merge: the branch has no message since its last merge."
		return nil
	}
	p.From.Title = clip(r.Title)
	p.About = count(r.Merged.Messages, "message")
	p.Draft, p.Prompt = r.Text, r.Prompt
	p.Body = newRenderer(from.session, c.opts.Now()).markdown(r.Text)
	if r.Files == nil {
		return nil
	}
	st, err := c.workspace.Confined().Folder("").Show(c.r.Context(), r.Files.To, ".")
	if err != nil {
		return err
	}
	p.Target, p.Compare = c.folderState(&st.State), differenceAddress(st.State.ID, files.Now)
	p.of(r.Files)
	return nil
}

// A shownPlace is the end of a path, with its link.
type shownPlace struct {
	session string
	link    snapshotLink
}

// place returns where a REF leads.
func (c *request) place(ref string) (shownPlace, error) {
	shown, err := c.workspace.Show(c.r.Context(), ref, partial())
	if err != nil {
		return shownPlace{}, err
	}
	p := shownPlace{shown.Entry.ID, linkTo(shown.Entry)}
	if n := len(shown.Messages); n > 0 {
		p.link.Href = location{Checkpoint: shown.Entry.Kind == session.Checkpoint, Session: shown.Entry.ID, Leaf: shown.Messages[n-1].ID}.String()
	}
	return p, nil
}

// toMerged returns the path of the message that merged a branch, or of what was kept of its files.
func toMerged(result any, in url.Values) string {
	r, ok := result.(*merge.Result)
	switch {
	case !ok || r.Message == "":
		return ""
	case r.Files != nil && len(r.Files.Kept) > 0:
		return toRestored(result, in)
	}
	return sessionPath(string(r.Session), string(r.Message))
}
