package spoken

import (
	"bytes"
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// textParts returns the indexes of the text parts of a content that is an array, and their texts.
func textParts(content gjson.Result) (at []int, texts []string) {
	for i, part := range content.Array() {
		switch text := part.Get("text"); {
		case part.Type == gjson.String:
			at, texts = append(at, i), append(texts, part.Str)
		case part.Get("type").Str == "text" && text.Type == gjson.String:
			at, texts = append(at, i), append(texts, text.Str)
		}
	}
	return at, texts
}

// Text returns the text of a message that a person can edit: that of its text parts, separated by empty
// lines.
func Text(raw []byte) string {
	content := gjson.GetBytes(raw, "content")
	if !content.IsArray() {
		return content.String()
	}
	_, texts := textParts(content)
	return strings.Join(texts, "\n\n")
}

// WithText returns a message with another text: the text parts become one, where the first of
// them was.
func WithText(raw []byte, text string) (_ []byte, err error) {
	raw = bytes.Clone(raw)
	content := gjson.GetBytes(raw, "content")
	value := rawjson.Compact(text)
	if !content.IsArray() {
		return sjson.SetRawBytes(raw, "content", value)
	}
	parts := content.Array()
	at, _ := textParts(content)
	list := make([][]byte, 0, len(parts)+1)
	if len(at) == 0 {
		list = append(list, append(append([]byte(`{"type":"text","text":`), value...), '}'))
	}
	for i, part := range parts {
		switch {
		case len(at) > 0 && i == at[0] && part.Type == gjson.String:
			list = append(list, value)
		case len(at) > 0 && i == at[0]:
			changed, err := sjson.SetRawBytes([]byte(part.Raw), "text", value)
			if err != nil {
				return nil, err
			}
			list = append(list, changed)
		case part.Type == gjson.String || part.Get("type").Str == "text" && part.Get("text").Type == gjson.String:
		default:
			list = append(list, []byte(part.Raw))
		}
	}
	return sjson.SetRawBytes(raw, "content", append(append([]byte{'['}, bytes.Join(list, []byte(", "))...), ']'))
}
