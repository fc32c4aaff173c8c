package page_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/chromedp/chromedp/kb"
)

// forks switches between replies in the middle of a conversation of several chunks: the fork
// stays at its pixel, also by the history, and a reload shows the same branch.
func (c *chromium) forks(t *testing.T) {
	s := c.newSite(t)
	session := long(s, 160)
	messages := s.bough("show", session).Get("messages.#.id").Array()
	var other string
	for i, text := range []string{"Another reply", "and so on", "to the end"} {
		o := workspace.Append{Session: session}
		if i == 0 {
			o.Parent = messages[59].Str
		}
		other = s.say([]string{"assistant", "user"}[i%2], text, o)
	}
	s.serve()
	b := c.tab(t)
	b.enter(s)
	b.visit("/c/" + session + "?leaf=" + other)
	fork := `document.querySelector("[data-fork]")`
	b.wait(fork)
	b.eval(fork + `.scrollIntoView({block: "center"})`)
	top := func() float64 {
		t.Helper()
		b.wait(fork)
		return b.eval(fork + `.getBoundingClientRect().top`).Float()
	}
	before := top()
	stays := func(what string) {
		t.Helper()
		if after := top(); math.Abs(after-before) > 1 {
			t.Errorf("%s: the fork moves from %v to %v", what, before, after)
		}
	}
	b.click(`[data-fork] a[rel="prev"]`)
	b.wait(`document.querySelector("#feed").dataset.total === "160"`)
	stays("switch")
	if n := b.eval(`document.querySelectorAll("#feed .chunk.unloaded").length`).Int(); n > 3 {
		t.Errorf("%d chunks are not loaded", n)
	}
	b.eval(`history.back()`)
	b.wait(`document.querySelector("#feed").dataset.total === "63"`)
	stays("back")
	b.eval(`history.forward()`)
	b.wait(`document.querySelector("#feed").dataset.total === "160"`)
	stays("forward")
	b.eval(`window.before = true; location.reload()`)
	b.wait(`!window.before && ` + live)
	if total := b.eval(`document.querySelector("#feed").dataset.total`).Str; total != "160" {
		t.Errorf("a reload shows another branch, of %s messages", total)
	}
	b.clean()
}

// modules tests functions of the modules that need no page: colors of code, the decoder of
// events, and the alarm for missing heartbeats.
func (c *chromium) modules(t *testing.T) {
	s := c.newSite(t)
	session := s.new("Code")
	s.say("user", "```go\n// one\nfunc f() string { return \"two\" + 3 }\n```\n\n```diff\n@@ -1 +1 @@\n-a\n+b\n```", workspace.Append{})
	s.serve()
	b := c.tab(t)
	b.enter(s, session)
	b.wait(`["comment", "keyword", "string", "number", "added", "removed", "place"].every((k) => CSS.highlights.get("code-" + k)?.size > 0)`)
	if n := b.eval(`document.querySelectorAll("pre code *").length`).Int(); n != 0 {
		t.Errorf("the colors have %d elements", n)
	}
	for _, test := range []struct{ language, code, want string }{
		{"go", "x := `a // b` // c", "string:`a // b` comment:// c"},
		{"ts", "const x = 'a\\'b' /* c */", `keyword:const string:'a\'b' comment:/* c */`},
		{"python", "def f(): # x\n  return 0x1F", "keyword:def comment:# x keyword:return number:0x1F"},
		{"rust", "fn f<'a>() -> 'x'", "keyword:fn string:'x'"},
		{"cpp", "int x = 1.5e3; // \"", "keyword:int number:1.5e3 comment:// \""},
		{"java", "class A {}", "keyword:class"},
		{"rb", "def x # y", "keyword:def comment:# y"},
		{"php", "echo 'x'; # y", "keyword:echo string:'x' comment:# y"},
		{"bash", "echo a#b \"$x\" # c", "keyword:echo string:\"$x\" comment:# c"},
		{"sql", "select 1 -- x", "keyword:select number:1 comment:-- x"},
		{"css", "a { /* x */ }", "comment:/* x */"},
		{"html", "<a b=\"c\"><!-- d -->", "string:\"c\" comment:<!-- d -->"},
		{"json", `{"a": true}`, `string:"a" keyword:true`},
		{"yaml", "a: b#c # d", "comment:# d"},
		{"diff", "--- a\n-x\n+y", "place:--- a removed:-x added:+y"},
		{"constructor", "x = 1", ""},
		{"", "@@ -1 +1 @@\n-x", "place:@@ -1 +1 @@ removed:-x"},
	} {
		got := b.eval(fmt.Sprintf(`import("/static/highlight.js").then((h) => ((code) => h.spans(h.languageOf(%q, code), code)
			.map((s) => s.kind + ":" + code.slice(s.from, s.to)).join(" "))(%q))`, test.language, test.code)).Str
		if got != test.want {
			t.Errorf("%s %q: %q, want %q", test.language, test.code, got, test.want)
		}
	}
	const stream = ": heartbeat\n\nid: a-1\ndata: {\"x\":1}\n\nevent: reset\nid: b-0\ndata: x\ndata: y\n\n"
	for n := 1; n < 40; n += 3 { // pieces of any size
		got := b.eval(fmt.Sprintf(`import("/static/sse.js").then(({decoder}) => {
			const decode = decoder(), all = %q, list = [];
			for (let i = 0; i < all.length; i += %d) list.push(...decode(all.slice(i, i + %[2]d)));
			return JSON.stringify(list);
		})`, stream, n)).Str
		if want := `[{"name":"","data":"{\"x\":1}","id":"a-1"},{"name":"reset","data":"x\ny","id":"b-0"}]`; got != want {
			t.Fatalf("pieces of %d: %s, want %s", n, got, want)
		}
	}
	states := b.eval(`import("/static/live.js").then(({Live}) => new Promise((done) => {
		Object.defineProperty(navigator, "locks", {value: undefined});
		const states = [];
		const nothing = () => {};
		const live = new Live(document.body.dataset.seq, 200, {events: nothing, missed: nothing, reset: nothing, state: (s) => {
			states.push(s);
			if (states.length < 3) return;
			live.stop();
			done(states.join(" "));
		}});
		live.start();
	}))`).Str
	if states != "online reconnecting online" {
		t.Errorf("without heartbeats the states are %q", states)
	}
	b.clean()
}

// tree uses the keys of a tree view.
func (c *chromium) tree(t *testing.T) {
	s := c.newSite(t)
	session, m := trip(s)
	s.say("assistant", "To Oslo.", workspace.Append{Session: session, Parent: m[0]})
	s.bough("checkpoint", session, "--name", "Prices")
	for _, title := range []string{"Apples", "Bread", "Brot"} {
		s.new(title)
	}
	s.serve()
	b := c.tab(t)
	b.enter(s)
	focused := func(want string) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.activeElement?.matches('[role="treeitem"]') && document.activeElement.querySelector(".name").textContent.trim() === %q`, want))
	}
	b.key("t")
	b.wait(`document.activeElement?.matches('[role="treeitem"]')`)
	b.key(kb.End)
	focused("Trip")
	b.key(kb.ArrowRight)
	b.wait(`document.activeElement.getAttribute("aria-expanded") === "true" && document.querySelectorAll('[role="treeitem"] [role="treeitem"]').length > 0`)
	focused("Trip")
	b.key(kb.ArrowRight)
	b.wait(`document.activeElement.getAttribute("aria-level") === "2"`)
	b.key(kb.ArrowLeft)
	if b.eval(`document.activeElement.getAttribute("aria-level")`).Str == "2" {
		b.key(kb.ArrowLeft)
	}
	focused("Trip")
	b.key(kb.Home)
	focused("Brot")
	b.key("A") // not a key of the page
	focused("Apples")
	if n := b.eval(`document.querySelectorAll('[role="treeitem"][tabindex="0"]').length`).Int(); n != 1 {
		t.Errorf("Tab reaches %d rows", n)
	}
	b.key(kb.Enter)
	b.wait(`document.querySelector("h1")?.textContent === "Apples" && ` + live)
	b.wait(`[...document.querySelectorAll('[role="treeitem"]')].some((e) => e.getAttribute("aria-expanded") === "true" && e.querySelector(".name").textContent.trim() === "Trip")`)

	b.key("f")
	b.wait(`document.activeElement.name === "text"`)
	b.key("bro")
	b.wait(`[...document.querySelectorAll('[role="treeitem"] .name')].map((e) => e.textContent.trim()).join() === "Brot"`)
	if text := b.eval(`document.activeElement.value`).Str; text != "bro" {
		t.Errorf("the filter has %q", text)
	}
	b.clean()
}
