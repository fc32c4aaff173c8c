package page

import (
	"net/url"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace/search"
)

// A searchPage is the result of a search.
type searchPage struct {
	Query, Role string
	Summary     string
	Sessions    []searchSession
}

// Roles are the roles that a search can select.
func (searchPage) Roles() []string { return []string{"user", "assistant", "tool", "system"} }

// A searchSession is a conversation with hits.
type searchSession struct {
	Title, Href, About string
	Hits               []hit
	More               string // how many other hits it has, "" for none
	All                string // the address of all hits of it
}

// A hit is a message that was found.
type hit struct {
	ID, Href, Role string
	Snippet        []segment
	Time           moment
	Also           string
}

// showSearch shows the messages that match. Each opens on its own branch.
func showSearch(c *request) (view, error) {
	p := searchPage{Query: strings.TrimSpace(c.r.FormValue("q")), Role: c.r.FormValue("role")}
	in := c.r.FormValue("in")
	if p.Query == "" {
		return view{Template: "search", Title: "Search", Data: p}, nil
	}
	o := search.Options{Text: p.Query, Role: p.Role, In: in, Limit: 100}
	if in == "" {
		o.PerSession = 5
	}
	found, err := c.workspace.Search(c.r.Context(), o)
	if err != nil {
		return view{}, err
	}
	p.fill(found, c.opts.Now())
	return view{Template: "search", Title: "Search: " + p.Query, Data: p}, nil
}

// fill sets the result.
func (p *searchPage) fill(r *search.Result, now time.Time) {
	switch {
	case len(r.Matches) == 0:
		p.Summary = "No messages match"
	case r.More:
		p.Summary = count(len(r.Matches), "message") + " shown of at least " + count(r.Total, "match")
	default:
		p.Summary = count(len(r.Matches), "message") + " in " + count(len(r.Sessions), "conversation")
	}
	if r.NotSearched > 0 {
		p.Summary += "; " + count(r.NotSearched, "older conversation") + " not searched"
	}
	at := 0
	for _, s := range r.Sessions {
		one := searchSession{Title: clip(s.Title), Href: location{Session: s.Session}.String(), About: ago(s.LastActive, now)}
		for ; at < len(r.Matches) && r.Matches[at].Session == s.Session; at++ {
			m := r.Matches[at]
			h := hit{ID: m.ID, Href: messageAddress(m.Session, m.ID), Role: m.Role, Snippet: snippetOf(m), Time: momentOf(m.CreatedAt, now)}
			if n := len(m.Also); n > 0 {
				h.Also = "also in " + count(n, "copy")
			}
			one.Hits = append(one.Hits, h)
		}
		if more := s.Total - len(one.Hits); more > 0 {
			one.More = count(more, "more message")
			if s.AtLeast {
				one.More = "at least " + one.More
			}
			one.All = "/search?" + url.Values{"q": {p.Query}, "role": {p.Role}, "in": {s.Session}}.Encode()
		}
		p.Sessions = append(p.Sessions, one)
	}
}

// snippetOf returns the text around a match as plain words, or as it is if the match is in what
// a reader does not see.
func snippetOf(m search.Match) []segment {
	plain, spans := spoken.Plain(m.Snippet, m.Spans)
	if len(spans) < len(m.Spans) {
		plain, spans = m.Snippet, m.Spans
	}
	return segmentsOf(plain, spans)
}

// segmentsOf divides a text. spans are the parts of it that match, in characters.
func segmentsOf(text string, spans [][2]int) (list []segment) {
	runes := []rune(text)
	at := 0
	add := func(until int, matches bool) {
		until = min(max(until, at), len(runes))
		if until > at {
			list = append(list, segment{string(runes[at:until]), matches})
		}
		at = until
	}
	for _, s := range spans {
		add(s[0], false)
		add(s[1], true)
	}
	add(len(runes), false)
	return list
}
