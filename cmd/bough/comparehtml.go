package main

import (
	"strings"

	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/compare"
)

// columnsOf returns the page of a comparison.
func columnsOf(d *compare.Comparison) html.Columns {
	c := html.Columns{About: "No messages in common."}
	var titles []string
	message := func(m session.Message) html.Message { return html.MessageOf(transcript.FromSession(m, "")) }
	for i := range d.Sides {
		s := &d.Sides[i]
		titles = append(titles, s.Title)
		column := html.Column{Title: s.Title, Facts: sideFacts(s)}
		for _, m := range s.Messages {
			column.Messages = append(column.Messages, message(m.Message))
		}
		c.Columns = append(c.Columns, column)
	}
	c.Title = strings.Join(titles, " · ")
	if d.CommonMessage != nil {
		m := message(*d.CommonMessage)
		c.Common, c.About = &m, count(d.Shared, "message")+" in common, up to "+d.CommonRef+"."
	}
	if d.Summary != nil {
		c.Summary, c.Author = d.Summary.Text, d.Summary.Model
	}
	return c
}

// sideFacts returns the facts about a side for a page.
func sideFacts(s *compare.Side) (list []string) {
	for _, f := range facts(s) {
		list = append(list, strings.TrimSpace(f.name+": "+f.text))
	}
	if s.Files != nil {
		for _, f := range s.Files.Changes {
			list = append(list, f.Kind+" "+f.Path)
		}
	}
	return list
}
