package html

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
)

// TestRenderer: a single message has the elements that it has in a page.
func TestRenderer(t *testing.T) {
	p := story(t)
	page := write(t, p)
	var r Renderer
	for i := range p.Messages {
		if body := r.Body(&p.Messages[i]); body == "" || !strings.Contains(page, body) {
			t.Errorf("the page does not have the body of message %s: %s", p.Messages[i].ID, body)
		}
	}
	if got := r.Markdown("<b>*x*</b>"); got != "<div class=\"text\" dir=\"auto\"><p>&lt;b&gt;<em>x</em>&lt;/b&gt;</p></div>\n" {
		t.Errorf("Markdown returns %s", got)
	}
}

// TestAddresses: the caller decides where images and attachments are.
func TestAddresses(t *testing.T) {
	var seen []string
	r := Renderer{
		Image: func(dataURL string) string {
			seen = append(seen, dataURL)
			return `/image?"`
		},
		File: func(a *content.Asset) string {
			if a.SHA256 == "" {
				return ""
			}
			return "/file/" + a.SHA256
		},
	}
	type object = map[string]any
	stored := content.Part{Type: "image", Asset: &content.Asset{SHA256: "ab<", MIME: "image/png"}}
	document := content.Part{Type: "file", Filename: "a.pdf", Asset: &content.Asset{SHA256: "cd", MIME: "application/pdf"}}
	unknown := content.Part{Type: "file", Filename: "b.pdf", Asset: &content.Asset{}}
	body := r.Body(&Message{Role: "user", Parts: []content.Part{
		meta(t, "image", "", object{"media_type": "image/png", "data": pixel}),
		meta(t, "image", "", object{"media_type": "image/svg+xml", "data": pixel}),
		text("![x](data:image/gif;base64,R0lGODlhAQABAAAAACw=)"), stored, document, unknown,
	}})
	for _, want := range []string{`<img src="/image?&#34;" alt="Image"`, `<img src="/file/ab&lt;" alt="Image"`, `<a href="/file/cd" download>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the body does not have %s: %s", want, body)
		}
	}
	if strings.Contains(body, "data:") || strings.Count(body, "download") != 1 || len(seen) != 2 {
		t.Errorf("%d images are asked for: %s", len(seen), body)
	}
}

func TestDecodeImage(t *testing.T) {
	want, _ := base64.StdEncoding.DecodeString(pixel)
	if data, mime, ok := DecodeImage("data:image/png;base64," + pixel); !ok || mime != "image/png" || string(data) != string(want) {
		t.Errorf("DecodeImage returns %q, %s, %v", data, mime, ok)
	}
	for _, bad := range []string{"", "data:image/svg+xml;base64," + pixel, "data:image/png," + pixel, "data:image/png;base64,=A", "https://example.com/a.png", "data:text/html;base64," + pixel} {
		if _, _, ok := DecodeImage(bad); ok {
			t.Errorf("%s is an image", bad)
		}
	}
}

// TestMessageOf: the role is that of the transcript, or that of a tool for results alone.
func TestMessageOf(t *testing.T) {
	for _, c := range []struct {
		m             transcript.Message
		role, speaker string
	}{
		{transcript.Message{Message: content.Message{Role: "user", Parts: []content.Part{text("a")}}}, "user", "User"},
		{transcript.Message{Message: content.Message{Role: "user", Own: content.Own{Role: "system"}}}, "system", "System"},
		{transcript.Message{Message: content.Message{Role: "user", Parts: []content.Part{content.ToolResult(content.Call{ID: "c"}, "x")}}}, "tool", "Tool"},
		{transcript.Message{Message: content.Message{Role: "critic"}}, "critic", "critic"},
		{transcript.Message{}, "", "Other"},
	} {
		m := MessageOf(&c.m)
		if _, speaker := m.Speaker(); m.Role != c.role || speaker != c.speaker {
			t.Errorf("the role is %q by %q, not %q by %q", m.Role, speaker, c.role, c.speaker)
		}
	}
}

// TestHeadings: the headings of a text are below the speaker's, and skip no level.
func TestHeadings(t *testing.T) {
	var r Renderer
	for in, want := range map[string]string{
		"# A\n## B\n# C":                              "h3 h4 h3",
		"## A\n#### B\n### C\n## D\n# E":              "h3 h4 h4 h3 h3",
		"###### A\n###### B":                          "h3 h3",
		"# A\n## B\n### C\n#### D\n##### E\n###### F": "h3 h4 h5 h6 h6 h6",
		"> ## A\n\n### B":                             "h3 h4",
	} {
		var got []string
		for piece := range strings.SplitSeq(r.Markdown(in), "<h") {
			if piece[0] >= '1' && piece[0] <= '6' {
				got = append(got, "h"+piece[:1])
				if !strings.Contains(piece, "</h"+piece[:1]+">") {
					t.Errorf("%q: %s", in, piece)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q has the headings %v, not %s", in, got, want)
		}
	}
}
