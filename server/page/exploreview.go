package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// An explorationRow is an exploration in the list.
type explorationRow struct {
	Question, Href, About string
	Time                  moment
	Running, Adopted      bool
}

// An explorationsPage is the list of the explorations, with the form for another one.
type explorationsPage struct {
	Form exploreForm
	Rows []explorationRow
}

// showExplorations lists the explorations.
func showExplorations(c *request) (view, error) {
	all, err := c.explorer().List(c.r.Context())
	if err != nil {
		return view{}, err
	}
	var rows []explorationRow
	for _, e := range all {
		rows = append(rows, explorationRow{
			Question: questionOf(e), Href: explorationAddress(e.ID), About: completedText(e),
			Time: ageOf(timeOf(e.CreatedAt), c.opts.Now()), Running: len(e.Active) > 0, Adopted: e.Adopted != nil,
		})
	}
	ref := cmp.Or(c.r.FormValue("ref"), "HEAD")
	return view{Template: "explorations", Title: "Explorations", Data: explorationsPage{c.exploreForm(ref), rows}}, nil
}

func questionOf(e *explore.Exploration) string {
	if e.Question == "" {
		return "Exploration " + e.ID
	}
	return clip(e.Question)
}

func completedText(e *explore.Exploration) string {
	n := 0
	for _, b := range e.Branches {
		if b.Status == explore.Completed {
			n++
		}
	}
	return fmt.Sprintf("%d of %s completed", n, count(len(e.Branches), "strategy"))
}

// methodText returns how the results become the outcome.
func methodText(e *explore.Exploration) string {
	method, done := e.Method, e.Evaluation != nil
	if done {
		method = cmp.Or(e.Evaluation.Fallback, e.Evaluation.Strategy, e.Method)
	}
	text := map[explore.Method][2]string{
		explore.Best:      {"the best result is going to be selected", "the best result was selected"},
		explore.Consensus: {"what most results agree on is going to be selected", "what most results agree on was selected"},
		explore.Synthesis: {"the results are going to be combined", "the results were combined"},
	}[method]
	if done {
		return text[1]
	}
	return text[0]
}

// timeOf parses a time of a file, and returns the zero time if it is unknown.
func timeOf(s string) time.Time {
	t, _ := session.ParseTime(s)
	return t
}

// An explorationPage is an exploration.
type explorationPage struct {
	ID       string
	Here     string
	Origin   string // the address of the explored message
	Question string
	State    string
	Running  bool
	Facts    []string
	Outcome  *outcome
	Branches []strategy
	Notes    []explore.Note
}

// An outcome is the result of an exploration.
type outcome struct {
	Reasons []string
	Body    template.HTML
	Href    string
	Adopted bool
	Files   string // the address of the plan to adopt it with the files of its branch, "" without any
}

// A strategy is a branch of an exploration.
type strategy struct {
	ID, Strategy, Description string
	Status                    explore.Status
	StatusText                string
	Running                   bool
	Selected                  bool
	Took                      string // "" until it has ended
	HasConfidence             bool
	Confidence                int // in percent
	Reason                    string
	Metrics                   []metric
	Insights                  []string
	Body                      template.HTML
	Href                      string
	Adoptable, Adopted        bool
	Files                     string // as for an outcome
}

// A metric is a measured value of a strategy.
type metric struct{ Name, Value string }

// showExploration shows an exploration.
func showExploration(c *request) (view, error) {
	e, err := c.explorer().Open(c.r.Context(), c.r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	c.session = e.Session
	p := explorationPageOf(e, c.opts.Now())
	return view{Template: "explore", Title: p.Question, Data: p}, nil
}

// explorationPageOf returns the page of an exploration.
func explorationPageOf(e *explore.Exploration, now time.Time) *explorationPage {
	p := &explorationPage{
		ID: e.ID, Here: explorationAddress(e.ID), Origin: messageAddress(e.Session, e.Node), Question: questionOf(e),
		Running: len(e.Active) > 0, Notes: e.Notes,
		Facts: []string{completedText(e), methodText(e)},
	}
	switch {
	case p.Running:
		p.State = fmt.Sprintf("trying %d", len(e.Active))
	case !e.Done():
		p.State = "not finished"
	case e.Adopted != nil:
		p.State = "adopted"
	default:
		p.State = "finished"
	}
	r := newRenderer(e.Session, now)
	adopted := ""
	if e.Adopted != nil {
		adopted = *e.Adopted
	}
	selected := ""
	if v := e.Evaluation; v != nil {
		selected = v.Selected
		if e.Outcome != nil && v.Result != "" {
			p.Outcome = &outcome{Reasons: v.Reasons, Body: r.markdown(v.Result), Href: messageAddress(e.Session, *e.Outcome), Adopted: adopted == *e.Outcome}
			if hasFiles(e, e.Branch(selected)) {
				p.Outcome.Files = adoptionAddress(e.ID, "")
			}
		}
	}
	for _, b := range e.Branches {
		s := strategyOf(b, r)
		s.Selected = b.ID == selected
		s.Adopted = adopted != "" && adopted == b.ID
		s.Adoptable = b.Status == explore.Completed && b.Result != "" && !p.Running
		if hasFiles(e, &b) {
			s.Files = adoptionAddress(e.ID, b.ID)
		}
		p.Branches = append(p.Branches, s)
	}
	return p
}

// markdown renders a text.
func (r *renderer) markdown(text string) template.HTML {
	return template.HTML(r.Markdown(text)) // the renderer writes only its own elements
}

func strategyOf(b explore.Branch, r *renderer) strategy {
	s := strategy{
		ID: b.ID, Strategy: clip(b.Strategy), Description: b.Description, Status: b.Status, StatusText: string(b.Status),
		Running: b.Status == explore.Executing, Reason: b.Reason, Insights: b.Insights, Metrics: metricsOf(b.Metrics),
	}
	if b.Pruned {
		s.StatusText += ", pruned"
	}
	if b.Confidence != nil {
		s.HasConfidence, s.Confidence = true, int(math.Round(100*min(max(*b.Confidence, 0), 1)))
	}
	if b.Result != "" {
		s.Body = r.markdown(b.Result)
	}
	if b.Session != "" {
		s.Href = location{Session: b.Session}.String()
	}
	if started, ended := timeOf(b.StartedAt), timeOf(b.EndedAt); !started.IsZero() && !ended.IsZero() {
		s.Took = durationText(ended.Sub(started))
	}
	return s
}

// metricsOf returns the members of an object, none if it is no object.
func metricsOf(raw json.RawMessage) (list []metric) {
	const most = 20
	if !json.Valid(raw) {
		return nil
	}
	gjson.ParseBytes(raw).ForEach(func(name, value gjson.Result) bool {
		list = append(list, metric{name.String(), value.String()})
		return len(list) < most
	})
	return list
}
