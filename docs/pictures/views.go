//go:build pictures

package main

import (
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/bough-dev/bough/fixtures"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A picture is a view in a state.
type picture struct {
	name  string
	path  string
	steps func(*browser) error // before the picture is taken, nil for none
}

// views makes a picture of each view, light and dark.
func views(b *browser, out string) error {
	empty, err := newSite(b.ctx, nil)
	if err != nil {
		return err
	}
	defer empty.stop()
	s, err := newSite(b.ctx, fixtures.Demo())
	if err != nil {
		return err
	}
	defer s.stop()
	t, err := tell(s)
	if err != nil {
		return err
	}
	if err := album(b, empty, out, []picture{{name: "empty", path: "/"}}); err != nil {
		return err
	}
	if err := album(b, s, out, pictures(s, t)); err != nil {
		return err
	}
	if err := talk(b, s); err != nil {
		return err
	}
	for _, scheme := range schemes { // the page stays: another one would not have the begun answer
		if err := b.look(1280, 800, scheme); err != nil {
			return err
		}
		if err := b.shoot(filepath.Join(out, "agent-"+scheme+".png")); err != nil {
			return err
		}
	}
	return nil
}

var schemes = []string{"light", "dark"}

// pictures are those of a workspace in which no agent runs.
func pictures(s *site, t *story) []picture {
	return []picture{
		{name: "conversation", path: "/c/" + lisbon + "?leaf=" + t.fork},
		{name: "checkpoint", path: "/k/" + t.checkpoint, steps: func(b *browser) error { return b.scroll("0") }},
		{name: "compare", path: "/compare?" + url.Values{"a": {lisbon + "@" + sardines}, "b": {t.branch}}.Encode()},
		{name: "tree", path: "/tree/" + lisbon},
		{name: "agents", path: "/agents"},
		{name: "explore", path: "/explore/" + t.exploration},
		{name: "explorations", path: "/explore"},
		{name: "search", path: "/search?q=train"},
		{name: "log", path: "/log"},
		{name: "trash", path: "/trash"},
		{name: "keys", path: "/", steps: func(b *browser) error {
			if err := b.press('?'); err != nil {
				return err
			}
			return b.wait(`document.getElementById("help").open`)
		}},
	}
}

// album takes pictures of a site.
func album(b *browser, s *site, out string, list []picture) error {
	if err := b.visit(s.login("/")); err != nil {
		return err
	}
	for _, scheme := range schemes {
		for _, p := range list {
			if err := b.look(1280, 800, scheme); err != nil {
				return err
			}
			if err := b.visit(s.base + p.path); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if p.steps != nil {
				if err := p.steps(b); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
			}
			if err := b.shoot(filepath.Join(out, p.name+"-"+scheme+".png")); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// talk sends a message to the agent, whose model does not complete its answer, and queues a
// second one.
func talk(b *browser, s *site) error {
	if err := b.visit(s.base + "/agents/" + agentName); err != nil {
		return err
	}
	send := func(text string, modifiers ...chromedp.Modifier) error {
		if err := b.do(chromedp.Focus(chromedp.CSS("#composer-text")), chromedp.SendKeys(chromedp.CSS("#composer-text"), text)); err != nil {
			return err
		}
		return b.press([]rune(kb.Enter)[0], modifiers...)
	}
	if err := send("Which tram should I take for the view?"); err != nil {
		return err
	}
	if err := b.wait(`document.querySelector("#feed")?.innerText.includes("Tram 24") && document.getElementById("composer-text").value === "" &&
		document.querySelector('#composer [data-mode="follow-up"]')`); err != nil {
		return err
	}
	if err := send("And which one goes to Belém?", chromedp.ModifierAlt); err != nil {
		return err
	}
	if err := b.wait(`document.querySelector("#queue li")`); err != nil {
		return err
	}
	return b.scroll("document.body.scrollHeight")
}
