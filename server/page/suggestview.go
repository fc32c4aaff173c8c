package page

import (
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace/suggest"
)

// maxSuggestions is how many suggestions the page lists.
const maxSuggestions = 50

// A suggestionsPage lists what nobody brought back.
type suggestionsPage struct {
	Rows []suggestion
	More string // how many are not listed, "" if all are
}

// A suggestion is a branch or an exploration.
type suggestion struct {
	Title, Text, Href string
	Reasons           string
	Time              moment
	Compare, Merge    string // addresses, "" of an exploration
	Adopt             string // the address of an exploration, "" of a branch
}

// showSuggestions lists branches that are worth comparing or merging.
func showSuggestions(c *request) (view, error) {
	l, err := c.workspace.Suggest(c.r.Context(), suggest.Options{Limit: maxSuggestions})
	if err != nil {
		return view{}, err
	}
	p := suggestionsPage{}
	for _, s := range l.Suggestions {
		row := suggestion{
			Title: clip(s.Title), Text: clip(s.Text), Href: messageAddress(s.Session, string(s.Message)),
			Reasons: api.ReasonsText(s.Reasons), Time: ageOf(s.Time, c.opts.Now()),
		}
		if s.Main == nil {
			row.Adopt = explorationAddress(string(s.Exploration))
		} else {
			branch, main := refOf(s.Session, string(s.Message)), refOf(s.Main.Session, string(s.Main.Message))
			row.Compare, row.Merge = compareAddress(main, branch), mergeAddress(branch, main)
		}
		p.Rows = append(p.Rows, row)
	}
	if n := l.Total - len(l.Suggestions); n > 0 {
		p.More = count(n, "more suggestion")
	}
	return view{Template: "suggestions", Title: "Suggestions", Data: p}, nil
}
