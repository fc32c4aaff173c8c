package cast

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestPictures: the recordings of the documents are those of the story, and their pictures are
// drawn of them.
func TestPictures(t *testing.T) {
	for name, scenes := range map[string][]string{
		"terminal-tree": {"◆ Before the budget"},
		"terminal-ui": {
			"message 6 of 6", "Search: sardines", "★ the sardines", "Name of the branch", "Created branch “No fish”",
			"Added a message to “No fish” · u undoes it", "Comparing with", "Go to: By the sea", "Compare, after", "Undo back to:", "Undid: added a message to “No fish”",
		},
	} {
		data, err := os.ReadFile("../../" + name + ".cast")
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(data)
		if err != nil {
			t.Fatalf("%s.cast: %v", name, err)
		}
		picture, err := os.ReadFile("../../" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(c.SVG(), picture) {
			t.Errorf("%s.svg is not the picture of %s.cast; 'docs/pictures/make --terminal' makes both", name, name)
		}
		if !bytes.Equal(c.Encode(), data) {
			t.Errorf("%s.cast is another file when it is encoded again", name)
		}
		frames := c.Frames
		for _, scene := range scenes {
			for len(frames) > 0 && !strings.Contains(frames[0].Text(), scene) {
				frames = frames[1:]
			}
			if len(frames) == 0 {
				t.Fatalf("%s.cast has no %q after the scenes before it", name, scene)
			}
		}
	}
}

// TestSVG: the picture is XML, shows texts at their columns with their styles, has equal lines
// once, and shows each frame in its time.
func TestSVG(t *testing.T) {
	c := &Cast{Width: 20, Height: 3, Title: "A <b>", Frames: []Frame{
		{0, "\x1b[1;32m日本\x1b[0m & two  three\n\x1b[7mselected  \x1b[0m\nend\n"},
		{time.Second, "\x1b[2mfaint\x1b[22m\n\x1b[7mselected  \x1b[0m\nend\n"},
	}}
	svg := string(c.SVG())
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
	for _, part := range []string{
		"<title>A &lt;b&gt;</title>",
		`<text x="0.0" y="13" textLength="33.6" lengthAdjust="spacingAndGlyphs" class="b" fill="#a6e3a1">日本</text>`,
		`<text x="42.0" y="13" textLength="42.0" lengthAdjust="spacingAndGlyphs">&amp; two</text>`,
		`<text x="100.8" y="13" textLength="42.0" lengthAdjust="spacingAndGlyphs">three</text>`,
		`<rect x="0.0" width="84.0" height="18" fill="#cdd6f4"/>`,
		`class="d">faint</text>`,
		"@keyframes f0{0%{visibility:hidden}0%{visibility:visible}20%{visibility:hidden}}",
		"@keyframes f1{0%{visibility:hidden}20%{visibility:visible}100%{visibility:hidden}}",
	} {
		if !strings.Contains(svg, part) {
			t.Errorf("no %s in\n%s", part, svg)
		}
	}
	for _, once := range []string{">selected<", ">end<"} {
		if n := strings.Count(svg, once); n != 1 {
			t.Errorf("%s is there %d times", once, n)
		}
	}
}

// TestParse: a recording that was encoded is the same, and what is none is refused.
func TestParse(t *testing.T) {
	c := &Cast{Width: 20, Height: 2, Title: "T", Frames: []Frame{{0, "a\x1b[1mb\x1b[0m\nc\n"}, {1500 * time.Millisecond, "d\n"}}}
	got, err := Parse(c.Encode())
	if err != nil || len(got.Frames) != 2 || got.Frames[0] != c.Frames[0] || got.Frames[1] != c.Frames[1] {
		t.Errorf("%+v, %v", got, err)
	}
	if text := c.Frames[0].Text(); text != "ab\nc\n" {
		t.Errorf("the text is %q", text)
	}
	for _, bad := range []string{"", "{}", `{"version":1}`, `{"version":2}` + "\n[0,\"o\",\"a\"]", `{"version":2}` + "\n[0]", `{"version":2}` + "\n{"} {
		if got, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q is parsed as %+v", bad, got)
		}
	}
}
