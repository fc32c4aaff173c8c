package parts

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Gemini returns the parts of a content of Gemini: a string, a part, or a list of both. role is
// that of the message, id its id, from which calls without an id get one.
func Gemini(v gjson.Result, role, id string) (list []content.Part) {
	items := []gjson.Result{v}
	if v.IsArray() {
		items = v.Array()
	}
	if role == "assistant" {
		role = "model"
	}
	for i, item := range items {
		switch {
		case item.Type == gjson.String:
			if item.Str != "" {
				list = append(list, content.Text(item.Str))
			}
		case item.IsObject():
			random := strings.NewReader(strings.ReplaceAll(transcript.ChainID(id, fmt.Append(nil, i)), "-", ""))
			said, err := content.Parse(content.Gemini, []byte(`{"role":"`+role+`","parts":[`+item.Raw+`]}`), random)
			if err != nil {
				list = append(list, Other(item))
				continue
			}
			OpenOutputs(said.Parts)
			list = append(list, said.Parts...)
		}
	}
	return list
}

// OpenOutputs makes the text of results that are nothing but an output the output.
func OpenOutputs(list []content.Part) {
	for i := range list {
		p := &list[i]
		if v := gjson.Parse(p.Text); p.Type == content.TypeToolResult && v.IsObject() {
			if out := v.Get("output"); out.Type == gjson.String {
				p.Text = out.Str
			}
		}
	}
}
