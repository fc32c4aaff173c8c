// Package parts converts parts of messages: to texts, for formats that cannot
// represent them, and to and from the forms that several formats share.
package parts

import (
	"encoding/json"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Text returns a text in place of a part that a format cannot represent; see
// [report.Report.Part].
func Text(p *content.Part) string {
	c := p.Call()
	switch p.Type {
	case content.TypeToolCall:
		return "[called " + c.Name + "] " + c.Arguments
	case content.TypeToolResult:
		if c.Failed {
			return "[the tool failed] " + p.Text
		}
		return "[the tool said] " + p.Text
	case content.TypeImage, content.TypeAudio, content.TypeVideo, content.TypeFile:
		name := p.Filename
		if _, _, url := p.File(); name == "" && !strings.HasPrefix(url, "data:") {
			name = url
		}
		if name != "" {
			name = " " + name
		}
		return "[" + p.Type + name + "]"
	case content.TypeRedacted:
		return ""
	}
	return p.Text
}

// Signature returns the provider's signature of a thinking part, "" for none.
func Signature(p *content.Part) string { return gjson.GetBytes(p.Meta, "signature").Str }

// A source is the content of a file in a part.
type source struct {
	Type string `json:"type"` // base64 or text
	MIME string `json:"media_type"`
	Data string `json:"data"`
}

// NewFile returns a part with a file, in base64.
func NewFile(name, mime, data string) content.Part {
	return content.Part{Type: content.TypeFile, Filename: name, Meta: rawjson.Compact(source{"base64", mime, data})}
}

// NewTextFile returns a part with a file of text.
func NewTextFile(name, text string) content.Part {
	return content.Part{Type: content.TypeFile, Filename: name, Meta: rawjson.Compact(source{"text", "text/plain", text})}
}

// TextFile returns the text of a file, and reports whether it is text.
func TextFile(p *content.Part) (text string, ok bool) {
	v := gjson.GetManyBytes(p.Meta, "type", "data")
	return v[1].Str, v[0].Str == "text"
}

// DataURL returns a URL of a file: a data URL with its content, or the URL that
// it has.
func DataURL(p *content.Part) string {
	mime, data, url := p.File()
	if data == "" {
		return url
	}
	if mime == "" {
		mime = "application/octet-stream"
	}
	return "data:" + mime + ";base64," + data
}

// Other returns a part of unknown type, unchanged.
func Other(v gjson.Result) content.Part {
	kind := v.Get("type").Str
	if kind == "" {
		kind = "unknown"
	}
	return Unknown(kind, v)
}

// Unknown is [Other] for a value whose type is not in its member type.
func Unknown(kind string, v gjson.Result) content.Part {
	meta, err := json.Marshal(map[string]any{"data_type": kind, "raw": json.RawMessage(v.Raw)})
	if err != nil { // it has NaN or Infinity
		meta = rawjson.Compact(map[string]any{"data_type": kind, "raw": v.Raw})
	}
	return content.Part{Type: content.TypeData, Meta: meta}
}

// Arguments returns the arguments of a call as an object.
func Arguments(s string) json.RawMessage {
	if gjson.Parse(s).IsObject() && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	if s == "" {
		return json.RawMessage(`{}`)
	}
	return rawjson.Compact(struct {
		Input string `json:"input"`
	}{s})
}

// JoinLines joins those texts that are not empty.
func JoinLines(texts ...string) string {
	var b strings.Builder
	for _, s := range texts {
		if s != "" && b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	return b.String()
}

// Fence returns code in a Markdown fence that is longer than any inside.
func Fence(language, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence
}
