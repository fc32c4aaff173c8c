package page

import (
	"cmp"
	"net/url"
	"slices"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace/origin"
)

// A bisectPage is a bisection by hand: the person says of one step after the other whether its
// files are good. The address has what is known so far.
type bisectPage struct {
	Title   string // of the conversation
	Href    string // of the path
	Dir     string
	About   string // how many steps are left
	Next    *bisectStep
	Good    string // the address if the files of the next step are good
	Bad     string
	Skip    string       // the address if they cannot be tested
	Found   []bisectStep // what made it go wrong: one step or, if some cannot be tested, several; nil as long as steps are left
	Changes string       // the address of what they changed
	Steps   []bisectStep
	Again   string // the address of the beginning, "" there
}

// A bisectStep is a message with its files.
type bisectStep struct {
	writer
	Words   string // the first words of the message
	Message string // its address
	State   string // the address of the files
	Changes string // the address of what changed since the step before, "" of the first
	Mark    string // what is known: good, bad or skipped; "" for nothing
}

// bisectAddress returns the address of a bisection of the path to a REF.
func bisectAddress(ref, dir string, o origin.BisectOptions) string {
	q := url.Values{"ref": {ref}}
	if dir != "" {
		q.Set("dir", dir)
	}
	if o.Good != "" {
		q.Set("good", o.Good)
	}
	if o.Bad != "" {
		q.Set("bad", o.Bad)
	}
	if len(o.Skip) > 0 {
		q["skip"] = o.Skip
	}
	return "/files/bisect?" + q.Encode()
}

// showBisection shows which step of a path to test next, or which one made it go wrong.
func showBisection(c *request) (view, error) {
	q := c.r.URL.Query()
	ref, dir := q.Get("ref"), q.Get("dir")
	if ref == "" {
		ref = "HEAD"
	}
	o := origin.BisectOptions{Good: q.Get("good"), Bad: q.Get("bad"), Skip: q["skip"]}
	b, err := c.workspace.Confined().Folder(dir).Bisection(c.r.Context(), ref, o)
	if err != nil {
		return view{}, err
	}
	place, err := c.place(ref)
	if err != nil {
		return view{}, err
	}
	c.session = place.session
	p := &bisectPage{Title: place.link.Title, Href: place.link.Href, Dir: b.Dir, About: count(len(b.Steps), "step") + " on a path of " + count(b.Messages, "message")}
	if o.Good != "" || o.Bad != "" || len(o.Skip) > 0 {
		p.Again = bisectAddress(ref, dir, origin.BisectOptions{})
	}
	shown, err := c.workspace.Show(c.r.Context(), ref, partial())
	if err != nil {
		return view{}, err
	}
	words := map[string]string{}
	for _, m := range shown.Messages {
		words[m.ID] = cmp.Or(spoken.Words(m), "(no text)")
	}
	last := len(b.Steps) - 1
	for i, s := range b.Steps {
		step := bisectStep{writer: c.writer(s.By, s.Turn, s.Sure, s.Time), State: stateAddress(s.State, ""), Words: words[string(s.Message)], Message: messageAddress(string(s.Session), string(s.Message))}
		switch at := refOf(string(s.Session), string(s.Message)); {
		case i == 0:
			step.Mark = string(origin.Good)
		case i == last:
			step.Mark = string(origin.Bad)
		case slices.Contains(o.Skip, at):
			step.Mark = string(origin.Skipped)
		}
		if i > 0 {
			step.Changes = differenceAddress(b.Steps[i-1].State, s.State)
		}
		p.Steps = append(p.Steps, step)
	}
	if b.Next == nil {
		p.Found, p.Changes = p.Steps[1:], differenceAddress(b.Steps[0].State, b.Steps[last].State)
		return view{Template: "bisect", Title: "Which turn made it go wrong", Data: p}, nil
	}
	p.About += ", about " + count(b.Tests, "test") + " left"
	p.Next = &p.Steps[*b.Next]
	s := b.Steps[*b.Next]
	at := refOf(string(s.Session), string(s.Message))
	with := func(change func(*origin.BisectOptions)) string {
		now := o
		change(&now)
		return bisectAddress(ref, dir, now)
	}
	p.Good = with(func(o *origin.BisectOptions) { o.Good = at })
	p.Bad = with(func(o *origin.BisectOptions) { o.Bad = at })
	p.Skip = with(func(o *origin.BisectOptions) { o.Skip = append(slices.Clip(o.Skip), at) })
	return view{Template: "bisect", Title: "Which turn made it go wrong", Data: p}, nil
}
