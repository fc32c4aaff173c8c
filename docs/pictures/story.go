//go:build pictures

package main

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/imports"
)

// The conversation of the fixtures, and messages of it.
const (
	lisbon    = "session_20260522_181004_3d9c07ab"
	cascais   = "849dde0b"
	sardines  = "23e29eb0"
	agentName = "guide"
)

// A story has the ids of what the views show.
type story struct {
	checkpoint, branch, fork, exploration string
}

// tell fills a workspace with everything that the page shows.
func tell(s *site) (*story, error) {
	var t story
	for _, part := range []func(*site, *story) error{importAll, branchLisbon, createAgent, exploreTest, forkLisbon} {
		s.clock.move(7 * time.Minute)
		if err := part(s, &t); err != nil {
			return nil, err
		}
	}
	s.clock.move(2 * time.Minute)
	return &t, nil
}

func importAll(s *site, _ *story) error {
	_, err := s.w.Import(s.ctx, []string{filepath.Join(s.home, ".claude", "projects")}, imports.Options{})
	return err
}

// branchLisbon makes a checkpoint and a branch of the conversation of the fixtures, and a
// session in the trash.
func branchLisbon(s *site, t *story) error {
	c, err := s.w.Checkpoint(s.ctx, lisbon, workspace.SnapshotOptions{Name: "Before the budget"})
	if err != nil {
		return err
	}
	t.checkpoint = c.ID
	b, err := s.w.Branch(s.ctx, lisbon+"@"+cascais, workspace.SnapshotOptions{Name: "By the sea instead"})
	if err != nil {
		return err
	}
	t.branch = b.ID
	for _, m := range [][2]string{
		{"user", "What if we stay by the sea instead?"},
		{"assistant", "Then take the train to **Cascais** on Friday evening and sleep there:\n\n- *Saturday*: the cliffs at Boca do Inferno, early, then the beach\n- *Sunday*: back by eleven, before the rain, for the tile museum\n\nIt costs a little more, and you wake up to the waves."},
		{"user", "How often do the trains run?"},
		{"assistant", "Every twenty minutes from Cais do Sodré until half past one at night."},
	} {
		if _, err := s.say(m[0], m[1], workspace.Append{Session: b.ID}); err != nil {
			return err
		}
	}
	if _, err := s.w.Bookmark(s.ctx, lisbon+"@"+sardines, "the sardines", workspace.BookmarkOptions{Summary: "Where to eat on Saturday"}); err != nil {
		return err
	}
	gone, err := s.w.NewSession(s.ctx, workspace.NewOptions{Title: "Packing list"})
	if err != nil {
		return err
	}
	_, err = s.w.Remove(s.ctx, gone.ID, workspace.RemoveOptions{})
	return err
}

// createAgent creates an agent with two topics.
func createAgent(s *site, _ *story) error {
	a := s.w.Agent(agentName)
	created, err := a.Create(s.ctx, agents.Options{Model: "anthropic:claude-opus-4-5", System: "You know Lisbon, and you answer briefly."})
	if err != nil {
		return err
	}
	food := created.Trees[0].ID
	first, err := s.say("user", "Where do people from Lisbon eat lunch?", workspace.Append{Session: food})
	if err != nil {
		return err
	}
	if _, err := s.say("assistant", "In a *tasca*: one room, paper on the tables, and the dish of the day for nine euros.", workspace.Append{Session: food}); err != nil {
		return err
	}
	if _, err := s.w.Bookmark(s.ctx, food+"@"+first, "lunch", workspace.BookmarkOptions{Summary: "Places to eat, and what they cost", Scope: bookmark.Subtree}); err != nil {
		return err
	}
	s.clock.move(time.Minute)
	trams, err := a.NewTree(s.ctx, "Trams")
	if err != nil {
		return err
	}
	first, err = s.say("user", "Do I need a ticket before I get on a tram?", workspace.Append{Session: trams.Tree})
	if err != nil {
		return err
	}
	last, err := s.say("assistant", "No, but it is cheaper: a *Navegante* card for a day costs 6.80, one ride from the driver 3.10.", workspace.Append{Session: trams.Tree})
	if err != nil {
		return err
	}
	if _, err := a.Rewind(s.ctx, last, checkpoint.CutOptions{}); err != nil {
		return err
	}
	_, err = s.w.Bookmark(s.ctx, trams.Tree+"@"+first, "tickets", workspace.BookmarkOptions{Summary: "Trams, lifts and what they cost", Scope: bookmark.Subtree})
	return err
}

// exploreTest writes an exploration that has ended.
func exploreTest(s *site, t *story) error {
	sessions, err := s.w.Tree(s.ctx, "The flaky login test")
	if err != nil {
		return err
	}
	root := sessions.Roots[0].ID
	place, err := s.w.ExplorationPlace(s.ctx, root)
	if err != nil {
		return err
	}
	at := func(after time.Duration) string {
		return s.clock.Now().Add(after).Format("2006-01-02T15:04:05.000000+00:00")
	}
	id := func(last string) string { return "3f1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a" + last }
	part := func(x float64) *float64 { return &x }
	outcome := id("99")
	x := &explore.Exploration{
		ID: id("10"), Session: place.Session, Node: place.Message, Question: "How do the three tests of the cart stop sleeping?",
		Method: explore.Best, Config: explore.Defaults(), Active: []string{}, CreatedAt: at(-6 * time.Minute), EndedAt: at(-2 * time.Minute),
		Branches: []explore.Branch{
			{ID: id("01"), Parent: place.Message, Strategy: "one clock for the package", Description: "Pass a clock to NewCart, as to Login.", Depth: 1,
				Status: explore.Completed, Confidence: part(0.92), Result: "`NewCart` takes the clock. All three tests move it, and **none sleeps**.\n\n```go\nfunc NewCart(now func() time.Time) *Cart {\n\treturn &Cart{now: now}\n}\n```",
				Metrics: json.RawMessage(`{"lines_changed":41,"test_seconds":0.4}`), Insights: []string{"TestReminder also needs a timer that can be moved"}, StartedAt: at(-6 * time.Minute), EndedAt: at(-3 * time.Minute)},
			{ID: id("02"), Parent: place.Message, Strategy: "shorter times", Description: "Divide every time by a hundred.", Depth: 1,
				Status: explore.Completed, Confidence: part(0.48), Result: "The tests take 35 ms, and one of 300 runs fails.",
				Metrics: json.RawMessage(`{"lines_changed":6,"test_seconds":1.1}`), Insights: []string{}, StartedAt: at(-6 * time.Minute), EndedAt: at(-4 * time.Minute)},
			{ID: id("03"), Parent: place.Message, Strategy: "a library with a fake clock", Description: "Replace package time by one that can be faked.", Depth: 1,
				Status: explore.Failed, Reason: "The module may not have new dependencies.", Insights: []string{}, StartedAt: at(-6 * time.Minute), EndedAt: at(-5 * time.Minute)},
		},
		Notes: []explore.Note{}, Outcome: &outcome,
		Evaluation: &explore.Evaluation{Strategy: explore.Best, Selected: id("01"), From: []string{id("01")}, Confidence: part(0.92),
			Result:  "Pass a clock to `NewCart`, as to `Login`: the tests of the cart take 0.4 s instead of 3.5, and none sleeps.",
			Metrics: []string{"test_seconds"}, Reasons: []string{"“one clock for the package” is rated best", "its tests are the fastest"}},
	}
	t.exploration = x.ID
	return s.w.Exploration(x.ID).Write(s.ctx, x.Encode())
}

// forkLisbon branches the conversation in place, and ends with the head there.
func forkLisbon(s *site, t *story) error {
	if _, err := s.w.Rewind(s.ctx, lisbon+"@"+cascais, checkpoint.CutOptions{}); err != nil {
		return err
	}
	for _, m := range [][2]string{
		{"user", "And if it rains all weekend?"},
		{"assistant", "Then **Gulbenkian** on Saturday, with its garden between the showers, and on Sunday the tile museum and a long lunch at *Time Out Market*."},
	} {
		id, err := s.say(m[0], m[1], workspace.Append{Session: lisbon})
		if err != nil {
			return err
		}
		t.fork = id
	}
	return nil
}
