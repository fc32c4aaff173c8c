package page_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
)

// hostileTexts are texts of conversations that try to run a script, to request something, or to
// break the page. Each script that runs sets the title of the page to "owned".
func hostileTexts() []string {
	const script = `document.title='owned'`
	return []string{
		"<script>" + script + "</script>",
		"</textarea></template></article><script src=//evil.example/x.js></script><script src=/static/page.js></script>",
		`<img src=x onerror="` + script + `"><img src="https://evil.example/a.png"><img srcset="//evil.example/b.png 2x">`,
		`<svg xmlns="http://www.w3.org/2000/svg" onload="` + script + `"><script>` + script + `</script><use href="https://evil.example/c.svg#x"/><foreignObject><iframe src="https://evil.example/"></iframe></foreignObject></svg>`,
		"![a](https://evil.example/d.png) ![b](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+) ![c](//evil.example/e.png) ![d](/do/undo)",
		"[x](javascript:" + script + ") [y](JaVaScRiPt&colon;" + script + ") [z](data:text/html,<script>" + script + "</script>) [v](vbscript:x) <javascript:" + script + ">",
		"[ref]: javascript:" + script + "\n\n[ref] and [text][ref]\n\n<https://evil.example/\" onmouseover=\"" + script + "\">",
		`<iframe src="https://evil.example/"></iframe><object data="//evil.example/f"></object><embed src="//evil.example/g"><link rel=stylesheet href="//evil.example/h.css"><base href="//evil.example/"><meta http-equiv=refresh content="0;url=https://evil.example/">`,
		`<form action="https://evil.example/"><button formaction="javascript:` + script + `">x</button></form><form id="composer"><input name="action"></form><div id="feed" data-session="../../login"></div><a id="status" name="status">`,
		`<style>@import "//evil.example/i.css"; body{background:url(//evil.example/j.png)}</style><p style="background:url(//evil.example/k.png)">x</p>`,
		"```\"><script>" + script + "</script>\n</code></pre><script>" + script + "</script>\n```",
		"```go onload=" + script + "\n// </pre>\n\"unterminated\n```",
		"\u202eevil\u202c \u2066isolated \u200f\u061c\u2069 \u202a\u202b\u202d\u2067\u2068 unbalanced \u202e",
		"\x00\x01\x1b[31mred\x1b[0m\u0085\u2028\u2029 \ufeff \ufffe",
		"{{.}} {{template \"shell\"}} ${" + script + "} <%= x %> <!--#include file=x--> ]]> --> <![CDATA[",
		strings.Repeat(">", 10_000) + " quoted",
		strings.Repeat("> ", 10_000) + "quoted",
		strings.Repeat("- ", 10_000) + "listed",
		strings.Repeat("[", 10_000) + strings.Repeat("![", 10_000) + strings.Repeat("*_`", 10_000),
		strings.Repeat("<b><i>", 10_000),
		strings.Repeat("x", 1<<20),
		strings.Repeat("a b ", 1<<18),
		"```\n" + strings.Repeat("\"'/*`#", 20_000) + "\n```",
		"|a|b|\n|-|-|\n" + strings.Repeat("|", 10_000),
	}
}

// hostile shows hostile text in every place that has text of a conversation, and
// uses it. Nothing is requested, no script runs, and the policy has nothing to report.
func (c *chromium) hostile(t *testing.T) {
	s := c.newSite(t)
	texts := hostileTexts()
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var messages []message
	for i, text := range texts {
		messages = append(messages, message{[]string{"user", "assistant"}[i%2], text})
	}
	data, err := json.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hostile.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.bough("import", file)
	session := s.bough("ls").Get("sessions.0.id").Str
	const name = `"><script>document.title='owned'</script><img src=//evil.example/z.png>`
	s.bough("rename", session, name)
	first := s.bough("show", session).Get("messages.0.id").Str
	s.bough("bookmark", session+"@"+first, `"><b onclick=x>'`)
	s.bough("checkpoint", session, "--name", name)
	s.say("user", texts[0], workspace.Append{Session: session, Parent: first})
	s.say("user", texts[3], workspace.Append{Session: session, Parent: first})
	s.serve()
	b := c.tab(t)
	b.enter(s)
	checkpoint := s.bough("ls", "--kind", "checkpoint").Get("sessions.0.id").Str
	leaf := s.bough("branches", session).Get("leaves.0.message_id").Str
	for _, path := range []string{
		"/", "/c/" + session, "/c/" + session + "?leaf=" + leaf, "/k/" + checkpoint, "/tree/" + session, "/tree/" + session + ".svg",
		"/compare?a=" + session + "&b=" + checkpoint, "/merge?branch=" + leaf + "&into=" + checkpoint + "&by=summary", "/replay?ref=" + leaf, "/suggest", "/search?q=script", "/search?q=%3Cscript%3E", "/log", "/trash", "/agents", "/explore",
	} {
		if strings.HasSuffix(path, ".svg") {
			b.eval(`fetch("` + path + `").then((r) => r.text())`)
			continue
		}
		b.visit(path)
		b.eval(`document.querySelectorAll("details").forEach((e) => { e.open = true; })`)
		if title := b.eval(`document.title`).Str; title == "owned" {
			t.Errorf("%s: a script ran", path)
		}
		if n := b.eval(`document.querySelectorAll("iframe, object, embed, base, meta[http-equiv], #main script, #tree script, #main style, [onclick], [onerror], [onload], [style*=evil]").length`).Int(); n != 0 {
			t.Errorf("%s: %d elements of the text are elements of the page", path, n)
		}
		if hrefs := b.eval(`[...document.querySelectorAll("a")].map((a) => new URL(a.getAttribute("href") ?? a.getAttribute("xlink:href") ?? "/", location)).filter((u) => !/^(https?|mailto):$/.test(u.protocol)).join(" ")`).Str; hrefs != "" {
			t.Errorf("%s: links to %s", path, hrefs)
		}
	}
	b.visit("/c/" + session + "?leaf=" + leaf)
	if n := b.eval(`document.querySelectorAll("#feed article").length`).Int(); n < 20 {
		t.Errorf("%d messages", n)
	}
	b.clean()
}
