package markdown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

// TestText: Markdown in text is decoded, and Markdown in code is not.
func TestText(t *testing.T) {
	for source, want := range map[string]string{
		`a \*b\* &amp; c`:                "a *b* & c",
		`&#92;* \&amp; &lt;b&gt;`:        `\* &amp; <b>`,
		"`&amp; \\*`":                    `&amp; \*`,
		"    &amp; \\*\n":                "&amp; \\*\n",
		"```go\n<b> &amp;\n```":          "<b> &amp;\n",
		"<https://example.com/?a=1&b>":   "https://example.com/?a=1&b",
		"<div>\n<b>&amp;\n</div>":        "<div>\n<b>&amp;\n</div>",
		"<!-- a\nb -->":                  "<!-- a\nb -->",
		"a <b>c</b>":                     "a <b>c</b>",
		"[a **b**](https://x.org) ~~c~~": "a b c",
		"|a|b|\n|-|-|\n|1|2|":            "ab12",
	} {
		root := New().Parse([]byte(source))
		if root == nil {
			t.Errorf("%q is not parsed", source)
			continue
		}
		if got := Text(root, []byte(source)); got != want {
			t.Errorf("the text of %q is %q, want %q", source, got, want)
		}
	}
}

func TestDestination(t *testing.T) {
	for source, want := range map[string]string{
		`[a](https://x.org/?a=1&amp;b=\))`: "https://x.org/?a=1&b=)",
		`![a](<b c.png> "t")`:              "b c.png",
		"see https://x.org/a.":             "https://x.org/a",
		"<a@b.cd>":                         "mailto:a@b.cd",
		"www.example.com":                  "http://www.example.com",
	} {
		got := ""
		ast.Walk(New().Parse([]byte(source)), func(n ast.Node, _ bool) (ast.WalkStatus, error) {
			if d := Destination(n, []byte(source)); d != "" {
				got = d
			}
			return ast.WalkContinue, nil
		})
		if got != want {
			t.Errorf("%q leads to %q, want %q", source, got, want)
		}
	}
}

// TestCostly: text that is made to be slow is not parsed, and ordinary text is.
func TestCostly(t *testing.T) {
	for _, piece := range []string{"[a](", "![a](b", "[[[]]](", "> ", "- ", "1. ", ">", "1) - > ", "[a]: x\n", "<"} {
		if New().Parse([]byte(strings.Repeat(piece, maxBytes/len(piece)))) != nil {
			t.Errorf("a large part of %q is parsed", piece)
		}
	}
	deep := ""
	for i := range maxDepth + 10 {
		deep += strings.Repeat("  ", i) + "* a\n"
	}
	if New().Parse([]byte(deep)) != nil {
		t.Error("a deep list is parsed")
	}
	for _, s := range []string{strings.Repeat("-", 300), strings.Repeat("- - ", 50), strings.Repeat("a line of text, with [a link](https://x.org)\n", 1000), strings.Repeat("a|b\n", 1000)} {
		if New().Parse([]byte(s)) == nil {
			t.Errorf("%.40q is not parsed", s)
		}
	}
}

// FuzzPlain checks that the parts of a line are in order, not empty and within the line.
func FuzzPlain(f *testing.F) {
	for _, line := range []string{"", "plain", "# a *b* `c` [d](e) <f> \\* ## g ", "> - **x**", "```go", "https://a.b/c_d_e?f=*g*", "![a](b) ![c][d]", "~~e~~ &amp; \\\\", "é\xff*ü*"} {
		f.Add([]byte(line))
	}
	p := New()
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\r\n") {
			return
		}
		at := 0
		for _, part := range p.Plain(line) {
			if part[0] < at || part[1] < part[0] || part[1] > len(line) || part[0] == part[1] && len(line) > 0 {
				t.Fatalf("%q has the parts %v", line, p.Plain(line))
			}
			at = part[1]
		}
	})
}
