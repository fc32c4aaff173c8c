package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/manual"
	"github.com/urfave/cli/v2"
)

// manualPages returns the help as pages: that of bough, then those of all verbs, each before
// the verbs below it.
func (p *program) manualPages() []manual.Page {
	verbs := p.verbs()
	pages := []manual.Page{{
		Name:  "bough",
		Short: "checkpoint, branch and restore AI conversations kept as plain JSON files",
		Usage: helpUsage,
		Sections: []manual.Section{
			{Title: "Verbs", Rows: verbRows("bough", verbs)},
			{Title: "Options", Text: "These flags may be anywhere on the line.\n\n" + helpFlags},
			{Title: "Sessions and REFs", Text: helpNames},
			{Title: "Getting started", Text: helpFirst},
			{Title: "Exit status", Text: helpExit},
		},
		See: pageNames("bough", verbs, nil),
	}}
	return appendPages(pages, "bough", verbs)
}

// appendPages appends the pages of verbs, which have the same parent.
func appendPages(pages []manual.Page, parent string, verbs []verb) []manual.Page {
	for _, v := range verbs {
		page := v.page(parent)
		page.See = append([]string{parent}, pageNames(page.Name, v.subs, nil)...)
		if parent != "bough" {
			page.See = append(page.See, pageNames(parent, verbs, &v)...)
		}
		pages = appendPages(append(pages, page), page.Name, v.subs)
	}
	return pages
}

// pageNames returns the names of the pages of verbs with a parent, except for one verb.
func pageNames(parent string, verbs []verb, except *verb) (list []string) {
	for _, v := range verbs {
		if except == nil || v.name != except.name {
			list = append(list, parent+" "+v.name)
		}
	}
	return list
}

// page returns the page of a verb, without what it refers to.
func (v verb) page(parent string) manual.Page {
	p := manual.Page{Name: parent + " " + v.name, Short: v.short, Usage: v.args}
	about := v.long
	if len(v.aliases) > 0 {
		about = strings.TrimSpace(about + "\n\nOther names: " + strings.Join(v.aliases, ", ") + ".")
	}
	for _, s := range []manual.Section{
		{Title: "Description", Text: about},
		{Title: "Verbs", Rows: verbRows(p.Name, v.subs)},
		{Title: "Options", Rows: flagRows(v.flags)},
		{Title: "Examples", Code: v.example},
	} {
		if s.Text != "" || s.Rows != nil || s.Code != "" {
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

func verbRows(parent string, verbs []verb) (rows []manual.Row) {
	for _, v := range verbs {
		rows = append(rows, manual.Row{Term: strings.Join(v.names(), ", "), Text: v.short, Page: parent + " " + v.name})
	}
	return rows
}

func flagRows(flags []cli.Flag) (rows []manual.Row) {
	for _, f := range flags {
		if !isHidden(f) {
			term, text, _ := strings.Cut(f.String(), "\t")
			rows = append(rows, manual.Row{Term: term, Text: text})
		}
	}
	return rows
}

// stamp returns what man pages say about this program. Its date is that of $SOURCE_DATE_EPOCH, as
// for all programs whose output is part of a build, else that of the commit.
func stamp() manual.Stamp {
	b := thisBuild()
	s := manual.Stamp{Version: b.Version}
	if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		s.Date = time.Unix(seconds, 0)
	} else if b.Time != nil {
		s.Date = *b.Time
	}
	return s
}
