package page_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testmodel"
	"github.com/bough-dev/bough/workspace"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/tidwall/gjson"
)

// trip is a conversation of a few messages.
func trip(s *site) (session string, messages []string) {
	s.t.Helper()
	session = s.new("Trip")
	for i, text := range []string{"Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros."} {
		messages = append(messages, s.say([]string{"user", "assistant"}[i%2], text, workspace.Append{}))
	}
	return session, messages
}

// shows waits until the page shows messages.
func (b *tab) shows(texts ...string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`[...document.querySelectorAll("#feed .text")].map((e) => e.innerText.trim()).join("|") === %q`, strings.Join(texts, "|")))
}

// focus moves the focus to a message.
func (b *tab) focus(message string) {
	b.t.Helper()
	b.run(chromedp.Focus(chromedp.CSS("#m-" + message)))
}

// at waits until the page is one below a path, and live.
func (b *tab) at(path string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`location.pathname.startsWith(%q) && %s`, path, live))
}

// story does with the keyboard what the page is for: read, branch, checkpoint,
// restore, write and fork, switch, compare, bookmark, undo, and delete.
func (c *chromium) story(t *testing.T) {
	s := c.newSite(t)
	session, m := trip(s)
	s.serve()
	b := c.tab(t)
	b.enter(s)
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros.")

	t.Log("branch, and undo it")
	b.focus(m[1])
	b.key("k")
	b.wait(fmt.Sprintf(`document.activeElement.id === "m-%s"`, m[0]))
	b.key("j")
	b.key("b")
	b.wait(fmt.Sprintf(`location.pathname.startsWith("/c/") && location.pathname !== "/c/%s"`, session))
	b.said("Created branch")
	b.shows("Where shall we go in May?", "To Lisbon.")
	sessions := func() int64 { return s.bough("ls").Get("sessions.#").Int() }
	if n := sessions(); n != 2 {
		t.Fatalf("%d sessions after a branch", n)
	}
	b.key("u")
	b.said("Undid")
	if n := sessions(); n != 1 {
		t.Fatalf("%d sessions after undo", n)
	}

	t.Log("checkpoint with a name, and restore it")
	b.visit("/c/" + session)
	b.focus(m[3])
	b.key("c")
	b.wait(`document.activeElement.name === "name"`)
	b.key("Prices")
	b.key(kb.Enter)
	b.said("Saved checkpoint “Prices”")
	checkpoint := s.bough("ls").Get(`sessions.#(title=="Prices").id`).Str
	b.wait(`document.querySelector("#status a")`)
	b.click("#status a")
	b.at("/k/" + checkpoint)
	b.click(`form[data-act="restore"] button`)
	b.said("Restored")
	b.at("/k/" + checkpoint)

	t.Log("a message to the checkpoint makes a branch")
	b.key("i")
	b.wait(`document.activeElement.id === "composer-text"`)
	b.key("Is breakfast included?")
	b.key(kb.Enter)
	b.at("/c/")
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros.", "Is breakfast included?")
	if at := b.eval("location.pathname").Str; at == "/c/"+session {
		t.Errorf("the message went to %s, which is the conversation itself", at)
	}
	b.run(chromedp.Focus(chromedp.CSS("#composer-text")))
	for _, text := range []string{"And lunch?", "And dinner?"} { // without waiting for the answer
		b.key(text)
		b.key(kb.Enter)
	}
	b.wait(`[...document.querySelectorAll("#feed article.head")].map((e) => e.querySelector(".text").innerText.trim()).join() === "And dinner?"`)
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros.", "Is breakfast included?", "And lunch?", "And dinner?")

	t.Log("continue from a message, and write another reply: a fork")
	b.visit("/c/" + session)
	b.focus(m[2])
	b.key("r")
	b.wait(`location.search.includes("leaf=` + m[2] + `") && ` + live)
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?")
	b.key("i")
	b.key("By train, please.")
	b.key(kb.Enter)
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "By train, please.")
	b.wait(`document.querySelector("#feed [data-fork]")?.textContent.includes("2/2")`)

	t.Log("switch to the other reply, and back by the history")
	top := func() float64 {
		return b.eval(`document.querySelector("[data-fork]").getBoundingClientRect().top`).Float()
	}
	before := top()
	b.key(kb.Escape)
	b.eval(`document.activeElement.blur()`)
	b.key("[")
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros.")
	if after := top(); after-before > 1 || before-after > 1 {
		t.Errorf("the fork moved from %v to %v", before, after)
	}
	b.wait(`location.search.includes("leaf=` + m[3] + `")`)
	b.eval(`history.back()`)
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "By train, please.")
	b.eval(`history.forward()`)
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "About 900 euros.")

	t.Log("compare the two replies")
	b.focus(m[3])
	b.key("=")
	b.said("Marked")
	b.key("]")
	b.shows("Where shall we go in May?", "To Lisbon.", "What does it cost?", "By train, please.")
	b.key("=")
	b.at("/compare")
	b.wait(`document.querySelector("#main").innerText.includes("By train") && document.querySelector("#main").innerText.includes("900 euros")`)
	b.key("q")
	b.at("/c/" + session)

	t.Log("bookmark")
	b.focus(m[0])
	b.key("m")
	b.wait(`document.activeElement.name === "label"`)
	b.key("start")
	b.key(kb.Enter)
	b.said("Added bookmark “start”")
	b.wait(`document.querySelector("#m-` + m[0] + `").innerText.includes("start")`)
	if label := s.bough("bookmarks").Get("bookmarks.0.label").Str; label != "start" {
		t.Errorf("the bookmark is %q", label)
	}

	t.Log("a menu opens where there is room, and closes by Escape and by a click elsewhere")
	last := `[...document.querySelectorAll("#feed article .more")].pop()`
	for _, closes := range []func(){func() { b.key(kb.Escape) }, func() { b.click("h1") }} {
		b.eval(`scrollTo(0, document.documentElement.scrollHeight); ` + last + `.querySelector("summary").click()`)
		b.wait(last + `.open && ` + last + `.lastElementChild.getBoundingClientRect().bottom <= innerHeight`)
		closes()
		b.wait(`!` + last + `.open`)
	}

	t.Log("delete is refused, because there is a checkpoint of the conversation")
	b.eval(`document.activeElement.blur()`)
	b.key("D")
	b.said("Prices")
	if n := s.bough("trash").Get("files.#").Int(); n != 0 {
		t.Errorf("%d files in the trash", n)
	}

	t.Log("u undoes another program's change only when the page has said which one")
	s.bough("bookmark", session+"@"+m[1], "elsewhere")
	b.wait(`document.querySelector("#m-` + m[1] + `").innerText.includes("elsewhere")`)
	marks := func() int64 { return s.bough("bookmarks").Get("bookmarks.#").Int() }
	b.key("u")
	b.said("Undo this? Added bookmark “elsewhere”")
	if n := marks(); n != 2 {
		t.Errorf("%d bookmarks after the question", n)
	}
	b.key("u")
	b.said("Undid: added bookmark “elsewhere”")
	if n := marks(); n != 1 {
		t.Errorf("%d bookmarks after undo", n)
	}
	b.clean()
}

// keys: the keys are listed, do nothing while someone types, and those of a
// single character can be switched off.
func (c *chromium) keys(t *testing.T) {
	s := c.newSite(t)
	session, m := trip(s)
	s.serve()
	b := c.tab(t)
	b.enter(s, session)
	b.key("?")
	b.wait(`document.getElementById("help").open`)
	if n, want := b.eval(`document.querySelectorAll("#help kbd").length`).Int(), b.eval(`fetch("/static/keys.json").then((r) => r.json()).then((t) => t.filter((k) => !k.terminal).length)`).Int(); n != want || n < 20 {
		t.Errorf("the help has %d keys of %d", n, want)
	}
	b.key("q")
	b.wait(`!document.getElementById("help").open`)

	b.key("i")
	b.wait(`document.activeElement.id === "composer-text"`)
	b.key("bcmr?")
	if text := b.eval(`document.activeElement.value`).Str; text != "bcmr?" {
		t.Errorf("the input has %q", text)
	}
	b.eval(`window.before = true; location.reload()`)
	b.wait(`!window.before && ` + live + ` && document.getElementById("composer-text").value === "bcmr?"`)

	b.focus(m[1])
	b.key("j")
	b.wait(`document.activeElement.id === "m-` + m[2] + `"`)
	b.eval(`document.getElementById("keys").click(); document.getElementById("single-keys").click(); document.getElementById("help").close()`)
	b.focus(m[1])
	b.key("j")
	b.key("b")
	b.key("k", chromedp.ModifierCtrl) // Ctrl+K has no single character
	b.wait(`document.getElementById("go")?.open`)
	if n := s.bough("ls").Get("sessions.#").Int(); n != 1 {
		t.Errorf("b made a branch: %d sessions", n)
	}
	b.key("zebra crossing")
	b.key(kb.Enter)
	b.at("/search")
	if q := b.eval(`new URL(location.href).searchParams.get("q")`).Str; q != "zebra crossing" {
		t.Errorf("the search is for %q", q)
	}
	b.clean()
}

// agent steers an agent while it answers, and queues a follow-up; the reply
// streams.
func (c *chromium) agent(t *testing.T) {
	asked, may := make(chan string), make(chan struct{})
	m := testmodel.OpenAI(t)
	m.Answer = func(r *testmodel.Request) testmodel.Reply {
		last := gjson.GetBytes(r.Body, "messages.@reverse.0.content").String()
		reply := testmodel.Reply{Text: []string{"Answer ", "to ", last}}
		if strings.HasPrefix(last, "wait") {
			reply.Before = func(piece int) {
				if piece != 1 {
					return
				}
				select {
				case asked <- last:
				case <-t.Context().Done():
				}
				select {
				case <-may:
				case <-t.Context().Done():
				}
			}
		}
		return reply
	}
	s := c.newSite(t, "OPENAI_BASE_URL="+m.URL()+"/v1", "OPENAI_API_KEY=key")
	s.bough("agent", "create", "ada", "--model", "openai:m")
	s.serve()
	b := c.tab(t)
	b.enter(s)
	b.visit("/agents/ada")
	b.key("i")
	b.key("wait for me")
	b.key(kb.Enter)
	b.key("And back?") // before the page knows that the agent runs
	b.key(kb.Enter, chromedp.ModifierAlt)
	<-asked
	b.wait(`document.querySelector('#queue [data-mode="follow-up"]')`)
	b.wait(`document.getElementById("agent-state").dataset.state !== "idle"`)
	b.wait(`document.getElementById("composer-text").value === ""`)
	b.key("Not by plane!")
	b.key(kb.Enter)
	b.wait(`document.querySelector('#queue [data-mode="steer"]')`)

	const soFar = `document.querySelector(".streaming .text")?.textContent === "Answer "`
	b.wait(soFar)
	other := b.another() // it has no connection of its own
	other.visit("/agents/ada")
	other.wait(soFar)
	b.visit("/agents/ada")
	b.wait(soFar)
	for _, watched := range []*tab{b, other} {
		watched.eval(`window.said = []; new MutationObserver(() => {
			const text = document.querySelector(".streaming .text")?.textContent;
			if (text) said.push(text);
		}).observe(document.getElementById("feed"), {childList: true, characterData: true, subtree: true}); 0`)
	}
	may <- struct{}{}
	b.wait(`document.querySelector("#feed").innerText.includes("Answer to And back?")`)
	want := "wait for me|Answer to wait for me|Not by plane!|Answer to Not by plane!|And back?|Answer to And back?"
	b.wait(fmt.Sprintf(`[...document.querySelectorAll("#feed .text")].map((e) => e.innerText.trim()).join("|") === %q`, want))
	b.wait(`document.getElementById("queue").hidden && !document.querySelector(".streaming")`)
	for _, watched := range []*tab{b, other} {
		watched.wait(fmt.Sprintf(`[...document.querySelectorAll("#feed .text")].map((e) => e.innerText.trim()).join("|") === %q`, want))
		if wrong := watched.eval(fmt.Sprintf(`said.find((text) => !%q.split("|").some((whole) => whole.startsWith(text)))`, want)).Str; wrong != "" {
			t.Errorf("meanwhile the reply was %q", wrong)
		}
		watched.clean()
	}
}

// access: a code works once, other origins and hosts are refused, and signing out ends the
// sessions of all browsers.
func (c *chromium) access(t *testing.T) {
	s := c.newSite(t)
	trip(s)
	s.serve()
	own, _ := s.open()
	b := c.tab(t)
	b.base = "http://" + s.addr
	b.run(chromedp.Navigate(own))
	b.wait(live)
	again := c.tab(t)
	again.run(chromedp.Navigate(own))
	again.wait(`document.querySelector("[role=alert]")`)
	if again.eval(`Boolean(document.querySelector("#feed"))`).Bool() {
		t.Error("a code works twice")
	}
	_, loopback := s.open()
	far := c.tab(t)
	far.run(chromedp.Navigate(loopback))
	far.wait(live)

	at, err := url.Parse(own)
	if err != nil {
		t.Fatal(err)
	}
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<form id="f" method="post" action="http://%s/do/new"><input name="title" value="foreign"></form>
<script>fetch("http://%[1]s/do/new", {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({title: "foreign"})})
  .catch(() => {}).finally(() => document.getElementById("f").submit())</script>`, at.Host)
	}))
	defer hostile.Close()
	b.run(chromedp.Navigate(strings.Replace(hostile.URL, "127.0.0.1", "localhost", 1)))
	b.wait(`location.host === "` + at.Host + `"`)
	if got := s.bough("ls").Get("sessions.#.title").Raw; strings.Contains(got, "foreign") {
		t.Errorf("another origin made a conversation: %s", got)
	}
	for _, host := range []string{"evil.example", "evil.example:" + at.Port(), "bough.localhost:" + at.Port()} {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+s.addr+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if a.StatusCode < 400 || strings.Contains(string(body), "Lisbon") {
			t.Errorf("host %s: status %d: %.200s", host, a.StatusCode, body)
		}
	}

	b.base = "http://" + at.Host
	b.visit("/logout")
	b.click("#main form button")
	b.wait(`document.querySelector("#login") && location.pathname === "/login"`)
	far.said("Signed out") // another browser
}
