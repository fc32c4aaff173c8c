package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/chromedp/chromedp"
)

// long is a conversation of n messages, the oldest first.
func long(s *site, n int) (session string) {
	s.t.Helper()
	session = s.new("Long")
	for i := range n {
		s.say([]string{"user", "assistant"}[i%2], fmt.Sprintf("Message %d of a long conversation, with enough words that it takes some lines on a narrow screen, "+
			"because the view has to be scrolled.", i), workspace.Append{})
	}
	return session
}

// live: what another process appends is shown. The view moves only if it is at
// the end.
func (c *chromium) live(t *testing.T) {
	s := c.newSite(t)
	session := long(s, 40)
	s.serve()
	b := c.tab(t)
	b.enter(s, session)
	isAtEnd := `(() => { const e = [...document.querySelectorAll("#feed article")].pop().getBoundingClientRect(); return e.bottom > 0 && e.top < innerHeight; })()`
	b.wait(isAtEnd)
	s.bough("append", "At the end")
	b.wait(`document.querySelector("#feed").innerText.includes("At the end")`)
	b.wait(isAtEnd)

	b.eval(`document.querySelectorAll("#feed article")[5].scrollIntoView()`)
	top := `document.querySelectorAll("#feed article")[5].getBoundingClientRect().top`
	before := b.eval(top).Float()
	for i := range 3 {
		s.bough("append", fmt.Sprintf("More %d", i))
	}
	b.wait(`document.getElementById("new-messages")?.textContent === "3 new"`)
	if after := b.eval(top).Float(); after != before {
		t.Errorf("new messages move the view from %v to %v", before, after)
	}
	b.click("#new-messages")
	b.wait(isAtEnd)
	b.wait(`!document.getElementById("new-messages")`)
	if parent := b.eval(`document.querySelector('#composer [name="parent_id"]').value`).Str; parent != b.eval(`document.querySelector("#feed").dataset.leaf`).Str {
		t.Errorf("the next message would answer %s, which is not the last one", parent)
	}
	if top := b.eval(`document.querySelector(".actions").getBoundingClientRect().top`).Float(); top < 0 || top > 100 {
		t.Errorf("at the end of a long conversation its actions are at %v pixels", top)
	}
	s.bough("checkpoint", "HEAD", "--name", "Saved elsewhere")
	b.wait(`document.querySelector("#feed .copies")?.innerText.includes("Saved elsewhere")`)
	s.bough("undo")
	b.wait(`!document.querySelector("#feed .copies")`)
	b.clean()

	s.bough("rm", session, "--line") // which the browser reports as an error
	b.said("This conversation was removed")
	b.wait(`!document.querySelector("#tree [data-session='` + session + `']")`)
	s.bough("undo")
	b.wait(`document.querySelector("#tree [data-session='` + session + `']")`)
}

// restart: a server that is killed is missed, what was typed is kept, and nothing
// is missed when it comes back.
func (c *chromium) restart(t *testing.T) {
	s := c.newSite(t)
	session, m := trip(s)
	s.serve()
	b := c.tab(t)
	b.enter(s, session)
	s.kill()
	b.wait(`document.body.dataset.connection === "reconnecting"`)
	b.said("Reconnecting")
	b.key("i")
	b.key("Typed while the server is down")
	b.key("\r")
	b.said("does not answer")
	if text := b.eval(`document.getElementById("composer-text").value`).Str; text != "Typed while the server is down" {
		t.Errorf("the input has %q", text)
	}
	s.bough("append", "Said meanwhile")
	s.serve()
	b.wait(`document.querySelector("#feed").innerText.includes("Said meanwhile")`)
	b.wait(`document.body.dataset.connection === "online"`)
	b.focus(m[0])
	b.key("i")
	b.key("\r")
	b.wait(`document.querySelector("#feed").innerText.includes("Typed while the server is down")`)
	if n := b.eval(`document.querySelectorAll("#feed article").length`).Int(); n != 6 {
		t.Errorf("%d messages", n)
	}
}

// tabs: seven tabs have one connection for events. If the tab that has it is
// closed, another one continues.
func (c *chromium) tabs(t *testing.T) {
	s := c.newSite(t)
	session, _ := trip(s)
	s.serve()
	first := c.tab(t)
	first.enter(s, session)
	tabs := []*tab{first}
	for len(tabs) < 7 {
		b := first.another()
		b.visit("/c/" + session)
		tabs = append(tabs, b)
	}
	if n := streamsOf(tabs); n != 1 {
		t.Errorf("%d tabs have %d connections for events", len(tabs), n)
	}
	s.bough("append", "To all tabs")
	for _, b := range tabs {
		b.wait(`document.querySelector("#feed").innerText.includes("To all tabs")`)
	}
	leader := 0
	for i, b := range tabs {
		if b.streams() > 0 {
			leader = i
		}
	}
	tabs[leader].run(chromedp.Navigate("about:blank"))
	tabs = append(tabs[:leader], tabs[leader+1:]...)
	s.bough("append", "To the others")
	for _, b := range tabs {
		b.wait(`document.querySelector("#feed").innerText.includes("To the others")`)
	}
	if n := streamsOf(tabs); n != 1 {
		t.Errorf("%d tabs have %d connections for events", len(tabs), n)
	}
	for _, b := range tabs {
		b.clean()
	}
}

// documents returns how many documents the tab has requested.
func (b *tab) documents() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loads
}

// reset: if another log takes the place of the log, each tab is loaded again once, and shows
// what there is.
func (c *chromium) reset(t *testing.T) {
	s := c.newSite(t)
	session, _ := trip(s)
	s.serve()
	first := c.tab(t)
	first.enter(s, session)
	tabs := []*tab{first}
	for len(tabs) < 4 {
		b := first.another()
		b.visit("/c/" + session)
		tabs = append(tabs, b)
	}
	again := func(what, text string, replace func()) {
		t.Helper()
		before := make([]int, len(tabs))
		for i, b := range tabs {
			before[i] = b.documents()
			b.eval(`window.old = true`)
		}
		replace()
		s.bough("append", text)
		for _, b := range tabs {
			b.wait(`!window.old && ` + live)
			b.wait(fmt.Sprintf(`document.querySelector("#feed").innerText.includes(%q)`, text))
		}
		s.bough("append", text+", and what follows")
		for i, b := range tabs {
			b.wait(fmt.Sprintf(`document.querySelector("#feed").innerText.includes(%q)`, text+", and what follows"))
			if n := b.documents() - before[i]; n != 1 {
				t.Errorf("%s: tab %d is loaded again %d times", what, i, n)
			}
		}
		if n := streamsOf(tabs); n != 1 {
			t.Errorf("%s: %d tabs have %d connections for events", what, len(tabs), n)
		}
	}
	log := filepath.Join(s.dir, ".bough", "operations.jsonl")
	again("a new log", "After a new log", func() {
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	})
	again("a new log while the server is down", "After a restart", func() {
		s.kill()
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		s.bough("rename", session, "Journey")
		s.serve()
	})
	for _, b := range tabs {
		if title := b.eval(`document.querySelector("h1").textContent`).Str; title != "Journey" {
			t.Errorf("the title is %q", title)
		}
		b.clean()
	}
}

// background: the next server in the background has the port and accepts the cookies of the
// last one, so tabs continue.
func (c *chromium) background(t *testing.T) {
	s := c.newSite(t)
	session, _ := trip(s)
	t.Cleanup(func() { s.bough("open", "--stop") })
	b := c.tab(t)
	b.enter(s, session)
	if at := b.eval(`location.pathname`).Str; at != "/c/"+session {
		t.Fatalf("the page opens %s", at)
	}
	b.eval(`window.old = true`)
	if !s.bough("open", "--stop").Get("stopped").Bool() {
		t.Fatal("no server ran")
	}
	b.wait(`document.body.dataset.connection === "reconnecting"`)
	s.bough("append", "Said meanwhile")
	r := s.bough("open", "--print")
	if !r.Get("started").Bool() || !strings.HasPrefix(r.Get("url").Str, b.base+"/") {
		t.Errorf("the next server is %s, want one at %s", r.Raw, b.base)
	}
	b.wait(`document.body.dataset.connection === "online"`)
	b.wait(`document.querySelector("#feed").innerText.includes("Said meanwhile")`)
	if !b.eval(`window.old === true`).Bool() {
		t.Error("the tab was loaded again")
	}
	b.visit("/log") // by the cookie
	if b.eval(`document.querySelectorAll(".log li").length`).Int() == 0 {
		t.Error("the log is empty")
	}
	b.clean()
}
