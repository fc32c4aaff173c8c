package html

import (
	"bufio"
	"encoding/base64"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/markdown"
	"github.com/tidwall/gjson"
)

// A Renderer renders single messages for pages of other packages, with the same
// elements and the same guarantees as [Write]. It is not safe for concurrent use.
type Renderer struct {
	// Image returns the address of an image that a message contains, given its data
	// URL; see [DecodeImage]. If nil, it is the data URL.
	Image func(dataURL string) string
	// File returns the address of an attachment, "" if it has none. If nil,
	// attachments have no addresses.
	File func(*content.Asset) string

	parser *markdown.Parser
}

// Body returns the content of a message as HTML, without its author and time.
func (r *Renderer) Body(m *Message) string {
	var b strings.Builder
	w := &writer{w: bufio.NewWriter(&b), parser: r.parser, images: r.Image, files: r.File}
	w.body(m)
	w.w.Flush()
	r.parser = w.parser
	return b.String()
}

// Markdown returns a text as HTML.
func (r *Renderer) Markdown(text string) string {
	return r.Body(&Message{Parts: []content.Part{content.Text(text)}})
}

// MessageOf returns a message of a transcript.
func MessageOf(m *transcript.Message) Message {
	role := m.Role
	switch {
	case m.Own.Role != "":
		role = m.Own.Role
	case m.IsToolAnswer():
		role = "tool"
	}
	return Message{
		ID: m.ID, Parent: m.Parent, Role: role, Kind: string(m.Kind), Model: m.Model, Time: m.Time, Parts: m.Parts,
		Merged: mergedOf(m.Raw),
	}
}

// mergedOf returns what a stored message merged, nil if it is no merge.
func mergedOf(raw []byte) *Merged {
	m := gjson.GetBytes(raw, "metadata.bough.merged")
	if !m.IsObject() {
		return nil
	}
	return &Merged{Session: m.Get("session_id").Str, Message: m.Get("message_id").Str, Messages: int(m.Get("messages").Int())}
}

// Speaker returns the author of a message for the reader, and the CSS class of
// its article: user, assistant, system, tool or other.
func (m *Message) Speaker() (class, name string) {
	results := len(m.Parts) > 0
	for i := range m.Parts {
		results = results && m.Parts[i].Type == content.TypeToolResult
	}
	switch {
	case results || m.Role == "tool":
		return "tool", "Tool"
	case m.Role == "user":
		return "user", "User"
	case m.Role == "assistant":
		return "assistant", "Assistant"
	case m.Role == "system":
		return "system", "System"
	case m.Role == "":
		return "other", "Other"
	}
	return "other", short(m.Role)
}

// FirstWords returns the first words of the text of a message on one line, "" if
// it has no text.
func (m *Message) FirstWords() string {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeText {
			if s := short(p.Text); s != "" {
				return s
			}
		}
	}
	return ""
}

// DecodeImage returns the content and the media type of an image, given its data
// URL. ok is false if a page may not show it: only PNG, JPEG, GIF and WebP are
// images.
func DecodeImage(dataURL string) (data []byte, mime string, ok bool) {
	if !isImage(dataURL) {
		return nil, "", false
	}
	head, encoded, _ := strings.Cut(dataURL, ";base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, "", false
	}
	return data, strings.TrimPrefix(head, "data:"), true
}
