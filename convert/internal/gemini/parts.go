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
	said := parts.Gemini(v.Get("content"), m.Role, m.ID)
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
				for _, p := range parts.Gemini(item, "user", m.ID) {
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
