package gemini

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// setParts sets the content of m from its record, and returns the results of the tools
// that it calls.
func setParts(m *transcript.Message, v gjson.Result) (results []content.Part) {
	m.Role = roleOf(v)
	m.Parts = []content.Part{}
	said := partsOf(v.Get("content"), m.Role, m.ID)
	if !slices.ContainsFunc(said, func(p content.Part) bool {
		return p.Type == content.TypeThinking || p.Type == content.TypeToolCall
	}) {
		v.Get("thoughts").ForEach(func(_, thought gjson.Result) bool {
			text := thought.Get("description").String()
			if subject := thought.Get("subject").String(); subject != "" {
				text = strings.TrimSpace("**" + subject + "** " + text)
			}
			if text != "" {
				m.Parts = append(m.Parts, content.Thinking(text, ""))
			}
			return true
		})
		calls := v.Get("toolCalls")
		m.Parts = append(m.Parts, said...)
		for i, call := range calls.Array() {
			c := content.Call{ID: call.Get("id").String(), Name: call.Get("name").String(), Arguments: member.Compact(call.Get("args").Raw)}
			if c.Name == "" {
				continue
			}
			if c.ID == "" {
				c.ID = callID(m, i)
			}
			if c.Arguments == "" {
				c.Arguments = "{}"
			}
			m.Parts = append(m.Parts, content.ToolCall(c))
		}
	} else {
		m.Parts = append(m.Parts, said...)
	}
	for i, call := range v.Get("toolCalls").Array() {
		result := call.Get("result")
		c := content.Call{ID: call.Get("id").String(), Name: call.Get("name").String()}
		if c.Name == "" || !result.Exists() || result.Type == gjson.Null {
			continue
		}
		if c.ID == "" {
			c.ID = callID(m, i)
		}
		c.Failed = call.Get("status").Str == "error" || call.Get("status").Str == "cancelled"
		list := []gjson.Result{result}
		if result.IsArray() {
			list = result.Array()
		}
		var texts []string
		var more []content.Part
		for _, item := range list {
			response := item.Get("functionResponse.response")
			switch {
			case item.Type == gjson.String:
				texts = append(texts, item.Str)
			case response.Get("output").Type == gjson.String:
				texts = append(texts, response.Get("output").Str)
			case response.Get("error").Type == gjson.String:
				texts = append(texts, response.Get("error").Str)
				c.Failed = true
			case response.Exists():
				texts = append(texts, member.Compact(response.Raw))
			default:
				for _, p := range partsOf(item, "user", m.ID) {
					if p.Type == content.TypeText {
						texts = append(texts, p.Text)
					} else {
						more = append(more, p)
					}
				}
			}
		}
		results = append(results, content.ToolResult(c, strings.Join(texts, "\n")))
		results = append(results, more...)
	}
	return results
}

// callID returns an id for the call at a place in m that has none.
func callID(m *transcript.Message, i int) string {
	return "call_" + transcript.ChainID(m.ID, fmt.Append(nil, i))[:8]
}

// partsOf returns the parts of a content: a string, a part, or a list of both.
func partsOf(v gjson.Result, role, id string) (list []content.Part) {
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
				list = append(list, parts.Other(item))
				continue
			}
			openOutputs(said.Parts)
			list = append(list, said.Parts...)
		}
	}
	return list
}

// openOutputs makes the text of results that are nothing but an output the output.
func openOutputs(parts []content.Part) {
	for i := range parts {
		p := &parts[i]
		if v := gjson.Parse(p.Text); p.Type == content.TypeToolResult && v.IsObject() {
			if out := v.Get("output"); out.Type == gjson.String {
				p.Text = out.Str
			}
		}
	}
}
