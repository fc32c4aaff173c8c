package manual

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// TestBlocks: the text of a help is parsed into paragraphs, rows and lines to print as they are.
func TestBlocks(t *testing.T) {
	const text = `First line
second line:

  term one    text
              more text
  two         text  with a gap

    plain lines
      with an indent
`
	want := []block{
		{Text: "First line second line:"},
		{Rows: []Row{{Term: "term one", Text: "text\nmore text"}, {Term: "two", Text: "text  with a gap"}}},
		{Code: "plain lines\n  with an indent\n"},
	}
	if got := blocks(text); !reflect.DeepEqual(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := blocks(""); got != nil {
		t.Errorf("no text has the blocks %q", got)
	}
}

// TestRoff: what roff would interpret is escaped.
func TestRoff(t *testing.T) {
	p := Page{Name: "a b", Short: "short", Sections: []Section{{Title: "T", Text: ".SH not a request\n\n'nor this", Code: "a\\b -- “c”\n.x"}}}
	var b strings.Builder
	if err := p.WriteRoff(&b, Stamp{Version: "1"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n\\&.SH not", "\n\\&\\(aqnor this\n", "\na\\eb \\-\\- \\[u201C]c\\[u201D]\n", "\n\\&.x\n", "\na\\-b \\- short\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// TestDocument: links go to pages of the site if it has them, else to the repository, and headings
// have the anchors that GitHub makes.
func TestDocument(t *testing.T) {
	s := NewSite(fstest.MapFS{"README.md": {}, "docs/a.md": {}, "docs/b.md": {}}, nil, nil)
	d := s.parse("docs/a.md", []byte("# The `Files`, and more!\n\n[b](b.md#x) [up](../README.md) [gone](../cmd/x.go) [web](https://x.org) [here](#y)\n\n## Same\n\n## Same\n"))
	got := string(d.html())
	for _, want := range []string{
		`<h1 id="the-files-and-more">`, `id="same"`, `id="same-1"`, `href="/docs/b.md#x"`, `href="/README.md"`, `href="` + Source + `cmd/x.go"`, `href="https://x.org"`, `href="#y"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if d.title() != "The Files, and more!" {
		t.Errorf("the title is %q", d.title())
	}
}

// TestExcerpt: an excerpt is around the first place of a word, and cuts no character.
func TestExcerpt(t *testing.T) {
	long := strings.Repeat("ä ", 200) + "needle" + strings.Repeat(" ö", 200)
	got := excerpt(long, "needle")
	if !strings.Contains(got, "needle") || !strings.HasPrefix(got, "…") || !strings.HasSuffix(got, "…") || strings.ToValidUTF8(got, "?") != got {
		t.Errorf("the excerpt is %q", got)
	}
	if got := excerpt("short\ntext", "absent"); got != "short text" {
		t.Errorf("the excerpt is %q", got)
	}
}
