package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/treepicture"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// pixel is an image of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func text(s string) content.Part { return content.Part{Type: "text", Text: s} }

func meta(t testing.TB, kind, s string, v any) content.Part {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return content.Part{Type: kind, Text: s, Meta: raw}
}

// story is a conversation with every kind of content.
func story(t testing.TB) Page {
	at := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	type object = map[string]any
	p := Page{Title: "The parser & its <tests>", Leaf: "8"}
	add := func(id, parent, role string, parts ...content.Part) {
		at = at.Add(time.Minute)
		m := Message{ID: id, Parent: parent, Role: role, Time: at, Parts: parts}
		if role == "assistant" {
			m.Model = "some-model-1"
		}
		p.Messages = append(p.Messages, m)
	}
	add("1", "", "system", text("You are a careful assistant. You answer briefly, and only when you are sure."))
	add("2", "1", "user", text("Why does the test fail?\nIt is in `parse_test.go`.\n\n> it says EOF"), meta(t, "image", "", object{"media_type": "image/png", "data": pixel, "filename": "screen.png"}))
	add("3", "2", "assistant",
		meta(t, "thinking", "The test may be **flaky**.", object{"signature": "abc"}),
		text("I look.\n\n| file | line |\n|---|---|\n| parse.go | 12 |\n\n```go\nfunc f() {\n\treturn\n}\n```\n"),
		meta(t, "tool-call", "", object{"id": "c1", "name": "Bash", "arguments": `{"command":"go test ./...","timeout":10}`}))
	add("4", "3", "user", meta(t, "tool-result", "--- FAIL: TestParse\n\x1b[31mEOF\x1b[0m", object{"tool_call_id": "c1", "name": "Bash", "is_error": true}))
	add("5", "4", "assistant", text("1. The buffer is cut.\n2. See [the documents](https://example.com/a?b=1&c=2)."))
	add("6", "5", "user", text("Fix it."))
	add("6b", "5", "user", text("Only explain it."))
	add("7b", "6b", "assistant", text("The reader stops one byte early."))
	add("7c", "6b", "assistant", text("An off-by-one."))
	add("7", "6", "assistant", text("Done."))
	add("8", "7", "user", text("Thank you."))
	add("2b", "1", "user", text("Something else: what is a monad?"))
	add("x", "gone", "assistant", text("Nobody knows what came before me."))
	return p
}

func write(t testing.TB, p Page) string {
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestStory holds the text that a reader of the page sees.
func TestStory(t *testing.T) {
	p := story(t)
	page := check(t, p)
	for _, want := range []string{
		"<title>The parser &amp; its &lt;tests&gt;</title>",
		"13 messages, 8 of them on the active path, 4 other branches. 4 May 2026",
		"<p>Why does the test fail?<br>\nIt is in <code>parse_test.go</code>.</p>",
		"<strong>flaky</strong>",
		"<pre tabindex=\"0\"><code class=\"language-go\">func f() {\n\treturn\n}\n</code></pre>",
		"<td>parse.go</td>",
		"<code>Bash</code> <bdi>go test ./...</bdi>",
		"<dt>command</dt><dd>\n<pre tabindex=\"0\">\ngo test ./...</pre>",
		`<details class="result error"><summary>Error of <code>Bash</code>`,
		"<pre tabindex=\"0\">\n--- FAIL: TestParse\nEOF</pre>",
		`<a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer nofollow">the documents</a>`,
		`<img src="data:image/png;base64,` + pixel + `" alt="screen.png"`,
		`<a href="#b1">Branch 1</a>: <bdi>Something else: what is a monad?</bdi> (1 message)`,
		`<a href="#b2">Branch 2</a>: <bdi>Only explain it.</bdi> (2 messages)`,
		`<a href="#b3">Branch 3</a>: <bdi>The reader stops one byte early.</bdi> (1 message)`,
		`<a href="#m-5">after this message</a>`,
		`<time datetime="2026-05-04T09:31:00Z">4 May 2026, 09:31 UTC</time>`,
		"It begins anew.",
		`<svg xmlns="http://www.w3.org/2000/svg" class="tp" `,
		`<a href="#m-6b"><tspan class="tp-words" fill="currentColor" unicode-bidi="isolate">Only explain it.</tspan></a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	_, main, _ := strings.Cut(page, "<main>")
	main, _, _ = strings.Cut(main, "</main>")
	if strings.Contains(main, "off-by-one") || !strings.Contains(main, "Thank you.") {
		t.Error("the active path does not end with the leaf")
	}
}

// TestTrees holds that every message occurs once, in any order of successors.
func TestTrees(t *testing.T) {
	for _, c := range []struct {
		name, tree, leaf string // a tree is ID<parent, in order
		want             string // the lines
	}{
		{"nothing", "", "", ""},
		{"one", "a", "", "a"},
		{"a path", "a b<a c<b", "", "abc"},
		{"in any order", "c<b b<a a", "c", "abc"},
		{"a leaf in the middle", "a b<a c<b d<c", "b", "ab cd"},
		{"an unknown leaf", "a b<a c<a", "z", "ac b"},
		{"a fork", "a b<a c<a d<b", "d", "abd c"},
		{"a fork of a fork", "a b<a c<a d<c e<c f<e", "b", "ab cef d"},
		{"two beginnings", "a b<a c d<c", "", "cd ab"},
		{"an unknown parent", "a b<z", "a", "a b"},
		{"a message after itself", "a<a", "", "a"},
		{"a circle", "a<c b<a c<b d<c", "d", "abcd"},
		{"the same ID", "a b<a b<a c<b", "c", "abc b"},
		{"a fan", "a b<a c<a d<a", "c", "ac b d"},
	} {
		var messages []Message
		for _, s := range strings.Fields(c.tree) {
			id, parent, _ := strings.Cut(s, "<")
			messages = append(messages, Message{ID: id, Parent: parent})
		}
		var lines []string
		for _, l := range plant(messages, c.leaf).lines {
			s := ""
			for _, i := range l.nodes {
				s += messages[i].ID
			}
			lines = append(lines, s)
		}
		if got := strings.Join(lines, " "); got != c.want {
			t.Errorf("%s: %s with leaf %q has lines %q, not %q", c.name, c.tree, c.leaf, got, c.want)
		}
		check(t, Page{Messages: messages, Leaf: c.leaf})
	}
}

// TestHostile holds that content of a conversation is only text in the page.
func TestHostile(t *testing.T) {
	for _, s := range []string{
		"</script><script>alert(1)</script>",
		"</style><img src=x onerror=alert(1)>",
		"<!--", "-->", "<![CDATA[", "]]>", "</details></article></main>", "<plaintext>", "</textarea>",
		"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](java\tscript:alert(1))", "[a](\x01javascript:alert(1))",
		"[a](data:text/html;base64,PHNjcmlwdD4=)", "[a](vbscript:x)", "[a](//evil.example)", "[a](https:evil)", "[a](/etc/passwd)",
		`[a](https://example.com/"onmouseover="alert(1))`, "[a](https://example.com/'x'<b>)", "<javascript:alert(1)>", "<https://example.com/\"x>",
		"![a](https://example.com/track.png)", "![a](data:image/svg+xml;base64,PHN2Zz4=)", "![a](data:image/png;base64,AA\"onload=x)", "![a](javascript:1)",
		`[x]: javascript:alert(1) "t"` + "\n\n[x]", "[a](mailto:a@b.c?subject=x)", "[a](HTTPS://example.com/)", "[a](mailto:)",
		"a\x00b", "a\u2028b\u2029c", "\u202eevil\u202c", "`\u2066\u202eif\u2069`", "\xff\xfe", "\ufeff", "\ufffe", "\x1b]8;;http://x\x07y", "\x1b[31mred\x1b[0m\x1b[2J",
		"# h\n## h\n###### h", "<div onclick=x>\n\ntext\n\n</div>", "* a\n  * b\n    * c", strings.Repeat("> ", 300) + "deep", strings.Repeat("* ", 300) + "deep",
		strings.Repeat("[", 2000) + "a", strings.Repeat("*_", 2000), strings.Repeat("`", 999) + "a",
		"```\n</code></pre><script>\n```", "~~~html\n<b>\n~~~", "```x\"onload=1\nx\n```", "```" + strings.Repeat("x", 99) + "\nx\n```", "a|b\n-|-\n<script>|`</td>`", "term\n: definition <b>", "[^1]\n\n[^1]: note",
		"&lt;script&gt;&#x3c;script>", "<a href='x' style='y'>z</a>", "&#0;&#x110000;",
	} {
		page := check(t, Page{Title: s, Leaf: s, Messages: []Message{
			{ID: s, Role: "user", Parts: []content.Part{text(s), meta(t, "thinking", s, map[string]any{"signature": s})}},
			{ID: "2" + s, Parent: s, Role: s, Kind: s, Model: s, Parts: []content.Part{
				meta(t, "tool-call", s, map[string]any{"name": s, "arguments": s}),
				meta(t, "tool-call", "", map[string]any{"name": s, "arguments": map[string]any{s: s, "command": s, "deep": []string{s}}}),
				meta(t, "tool-result", s, map[string]any{"name": s, "content": []any{map[string]any{"type": s, "source": map[string]any{"media_type": s, "data": s}}}}),
				meta(t, "image", s, map[string]any{"url": s, "filename": s}),
				meta(t, "image", s, map[string]any{"media_type": s, "data": s}),
				meta(t, "file", s, map[string]any{"media_type": "text/html", "data": s, "title": s}),
				{Type: "file", Filename: s, Asset: &content.Asset{MIME: s, S3Key: s}},
				meta(t, "data", s, map[string]any{"data_type": s}),
				{Type: s, Text: s, Meta: json.RawMessage(`{"a":`)},
				{Type: "redacted_thinking"},
			}},
		}})
		for _, bad := range []string{"<script", "\x00", "\x1b"} {
			if strings.Contains(page, bad) {
				t.Errorf("the page of %q has %q", s, bad)
			}
		}
	}
}

// TestDirection holds that code is displayed in its order, and that characters that change the
// direction of text affect nothing else.
func TestDirection(t *testing.T) {
	s := "\u202eevil"
	page := check(t, Page{Messages: []Message{{ID: "1", Role: "user", Parts: []content.Part{text("`" + s + "` " + s), text("```\n" + s + "\n```")}}}})
	spelled := `<span class="turn">U+202E</span>evil`
	for _, want := range []string{"<code>" + spelled + "</code> " + s, "<code>" + spelled + "\n</code>", `<div class="text" dir="auto">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// TestPolicy holds that the page has a content security policy, which allows exactly its
// style.
func TestPolicy(t *testing.T) {
	page := write(t, Page{})
	for _, want := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:", `<html lang="en">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, bad := range []string{"unsafe", "script-src", "@import", "url(", " style=", "http:", "https:"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

// TestLong holds that browsers can display a long conversation: the depth of elements does
// not grow with the messages or the branches.
func TestLong(t *testing.T) {
	var p Page
	for i := range testsize.Of(2000, 10000, 10000) {
		p.Messages = append(p.Messages, Message{ID: fmt.Sprint(i), Parent: fmt.Sprint(i - 1 - i%3), Role: "user", Parts: []content.Part{text(fmt.Sprint("Question ", i))}})
	}
	page := check(t, p)
	const most = 1200 // bytes per message
	if len(page) > most*len(p.Messages) {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// TestSections holds that a browser lays out at most 50 messages together, on the active
// path and on a branch.
func TestSections(t *testing.T) {
	p := Page{Leaf: "a119"}
	add := func(line string, n int, parent string) {
		for i := range n {
			id := fmt.Sprint(line, i)
			p.Messages = append(p.Messages, Message{ID: id, Parent: parent, Role: "user", Parts: []content.Part{text(id)}})
			parent = id
		}
	}
	add("a", 120, "")
	add("b", 51, "a3")
	page := check(t, p)
	var sizes []int
	for _, s := range strings.Split(page, `<section class="part">`)[1:] {
		sizes = append(sizes, strings.Count(s, "<article"))
	}
	if want := []int{50, 50, 20, 50, 1}; !slices.Equal(sizes, want) {
		t.Errorf("sections have %v messages, want %v", sizes, want)
	}
	if !strings.Contains(style, ".part{content-visibility:auto") || strings.Count(style, "content-visibility:auto") != 1 {
		t.Error("the style does not lay out by sections")
	}
}

// TestAnchors holds that the anchor of a message has its ID, if that can be part of a link.
func TestAnchors(t *testing.T) {
	list := []Message{{ID: "74bfccf4-3cb5"}, {ID: "a b"}, {ID: ""}, {ID: "74bfccf4-3cb5"}, {ID: `"><b>`}, {ID: "2"}, {ID: "msg_1:x.y"}, {ID: strings.Repeat("a", 300)}}
	want := []string{"m-74bfccf4-3cb5", "m2", "m3", "m4", "m5", "m-2", "m-msg_1:x.y", "m8"}
	if got := anchors(list); !slices.Equal(got, want) {
		t.Errorf("anchors are %q, want %q", got, want)
	}
	check(t, Page{Messages: list})
}

// TestZone holds that a time has its offset.
func TestZone(t *testing.T) {
	east := time.FixedZone("IST", 5*3600+1800)
	page := check(t, Page{Messages: []Message{{ID: "1", Time: time.Date(2026, 5, 4, 9, 30, 0, 0, east)}}})
	if want := `<time datetime="2026-05-04T09:30:00+05:30">4 May 2026, 09:30 UTC+05:30</time>`; !strings.Contains(page, want) {
		t.Errorf("the page does not have %s", want)
	}
}

// check writes a page and verifies that a browser finds its content, each message once, and
// nothing else.
func check(t testing.TB, p Page) string {
	t.Helper()
	page := write(t, p)
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	const deepest = 700
	articles, ids := 0, map[string]bool{}
	var links []string
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("there is a comment: %q", n.Data)
		case html.ElementNode:
			if n.DataAtom == atom.Article {
				articles++
			}
			if !known(n.Data) && !(n.Namespace == "svg" && slices.Contains([]string{"svg", "g", "path", "circle", "rect", "text", "tspan"}, n.Data)) {
				t.Errorf("unexpected element %s", n.Data)
			}
			for _, a := range n.Attr {
				if why := odd(n, a); why != "" {
					t.Errorf("%s has %s=%q: %s", n.Data, a.Key, a.Val, why)
				}
				switch {
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("the id %q occurs twice", a.Val)
				case a.Key == "id":
					ids[a.Val] = true
				case a.Key == "href" && a.Val[0] == '#':
					links = append(links, a.Val[1:])
				}
			}
			if n.DataAtom == atom.Style && n.FirstChild.Data != style && n.FirstChild.Data != style+treepicture.Style {
				t.Error("unexpected style")
			}
		}
		if depth > deepest {
			t.Errorf("the page is deeper than %d", deepest)
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	if articles != len(p.Messages) {
		t.Errorf("the page has %d messages, want %d", articles, len(p.Messages))
	}
	for _, id := range links {
		if !ids[id] {
			t.Errorf("a link refers to the missing %q", id)
		}
	}
	return page
}

func known(element string) bool {
	switch element {
	case "html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer", "nav", "article", "details", "summary",
		"h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "bdi", "a", "time", "pre", "code", "ol", "ul", "li", "dl", "dt", "dd",
		"blockquote", "hr", "br", "em", "strong", "del", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "img":
		return true
	}
	return false
}

// odd returns the defect of an attribute, "" if nothing is.
func odd(n *html.Node, a html.Attribute) string {
	switch a.Key {
	case "role", "aria-hidden", "width", "height", "viewBox", "font-family", "font-size", "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-dasharray",
		"pointer-events", "x", "y", "rx", "cx", "cy", "r", "d", "dx", "space", "unicode-bidi", "xmlns":
		if n.Namespace == "svg" {
			return ""
		}
	case "lang", "charset", "http-equiv", "content", "name", "class", "id", "dir", "aria-label", "aria-labelledby", "title", "datetime", "tabindex", "alt", "loading", "decoding", "rel", "open":
		return ""
	case "href":
		for _, begin := range []string{"#", "http://", "https://", "mailto:"} {
			if strings.HasPrefix(strings.ToLower(a.Val), begin) {
				return ""
			}
		}
		return "it leads elsewhere"
	case "src":
		for _, kind := range []string{"png", "jpeg", "gif", "webp"} {
			if strings.HasPrefix(a.Val, "data:image/"+kind+";base64,") {
				return ""
			}
		}
		return "it is no image of the page"
	}
	return "nobody writes it"
}

// FuzzPage holds that any content becomes text of the page.
func FuzzPage(f *testing.F) {
	for _, p := range story(f).Messages {
		for _, part := range p.Parts {
			f.Add(part.Text, string(part.Meta), p.Parent)
		}
	}
	f.Add("[a](javascript:x) <b>\n\n* c\n\n```\n<script>\n```", `{"url":"https://x"}`, "0")
	f.Fuzz(func(t *testing.T, s, meta, parent string) {
		p := Page{Title: s, Leaf: parent}
		for i, kind := range []string{"text", "thinking", "tool-call", "tool-result", "image", "file", "data", s} {
			id := fmt.Sprint(i)
			p.Messages = append(p.Messages,
				Message{ID: id, Parent: parent, Role: "user", Parts: []content.Part{{Type: kind, Text: s, Filename: s, Meta: json.RawMessage(meta)}}},
				Message{ID: s, Parent: id, Role: meta, Kind: s, Model: parent, Parts: []content.Part{{Type: kind, Text: meta}}})
		}
		check(t, p)
	})
}

// TestAttached: attachments are named, without JSON, and text attachments can be read.
func TestAttached(t *testing.T) {
	type object = map[string]any
	file := meta(t, "file", "", object{"type": "text", "media_type": "text/plain", "data": "rarely <windy>"})
	file.Filename = "lake.txt"
	page := check(t, Page{Leaf: "1", Messages: []Message{{ID: "1", Role: "user", Parts: []content.Part{
		text("Look."), file, meta(t, "data", "[file notes.pdf]", object{"data_type": "file"}), meta(t, "data", "odd", object{"data_type": "odd", "x": 1}),
	}}}})
	for _, want := range []string{"lake.txt", "rarely &lt;windy&gt;", `<bdi>[file notes.pdf]</bdi>`, `&#34;x&#34;:1`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is not in the page\n%s", want, page[strings.Index(page, "<body"):])
		}
	}
	if strings.Contains(page, `{&#34;data_type&#34;:&#34;file&#34;}`) {
		t.Error("the page has JSON of a name")
	}
}
