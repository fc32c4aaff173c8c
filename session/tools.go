package session

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// calls returns the ids of the tool calls that the message makes, in the formats of
// Penguin, OpenAI, Anthropic and Acontext.
func (f fields) calls() []string {
	var found ids
	addEach := func(calls gjson.Result) {
		for _, call := range calls.Array() {
			found.add(call.Get("id"))
		}
	}
	if mayContain(f.metadata, "tool_calls") {
		addEach(gjson.GetBytes(f.metadata, "tool_calls"))
	}
	if f.toolCalls != nil {
		addEach(gjson.ParseBytes(f.toolCalls))
	}
	found.addParts(f.content, "tool_use", "id")
	found.addParts(f.content, "tool-call", "meta.id")
	return found
}

// results returns the ids of the tool calls that the message answers.
func (f fields) results() []string {
	var found ids
	if mayContain(f.metadata, "tool_call_id") {
		found.add(gjson.GetBytes(f.metadata, "tool_call_id"))
	}
	if f.toolCallID != nil {
		found.add(gjson.ParseBytes(f.toolCallID))
	}
	found.addParts(f.content, "tool_result", "tool_use_id")
	found.addParts(f.content, "tool-result", "meta.tool_call_id")
	return found
}

// ids is a set of ids in the order of addition.
type ids []string

func (list *ids) add(v gjson.Result) {
	if id := idText(v); id != "" && !slices.Contains(*list, id) {
		*list = append(*list, strings.Clone(id)) // does not keep the message in memory
	}
}

// addParts adds the id at path in each part of the type kind, if content is an
// array of parts.
func (list *ids) addParts(content []byte, kind, path string) {
	if len(content) == 0 || content[0] != '[' || !mayContain(content, kind) {
		return
	}
	for _, part := range gjson.ParseBytes(content).Array() {
		if text(part.Get("type")) == kind {
			list.add(part.Get(path))
		}
	}
}
