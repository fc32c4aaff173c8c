package session

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// calls returns the ids of the tool calls that the message makes, in the forms
// of Penguin, OpenAI, Anthropic and Acontext.
func (f fields) calls() []string {
	var found ids
	addEach := func(calls gjson.Result) {
		for _, call := range calls.Array() {
			found.add(call.Get("id"))
		}
	}
	if mayHold(f.metadata, "tool_calls") {
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
	if mayHold(f.metadata, "tool_call_id") {
		found.add(gjson.GetBytes(f.metadata, "tool_call_id"))
	}
	if f.toolCallID != nil {
		found.add(gjson.ParseBytes(f.toolCallID))
	}
	found.addParts(f.content, "tool_result", "tool_use_id")
	found.addParts(f.content, "tool-result", "meta.tool_call_id")
	return found
}

// ids is a set of ids in the order in which they were found.
type ids []string

func (list *ids) add(v gjson.Result) {
	if id := idText(v); id != "" && !slices.Contains(*list, id) {
		*list = append(*list, strings.Clone(id)) // and let go of the message
	}
}

// addParts adds what stands at path in each part of a type, if content is an
// array of parts.
func (list *ids) addParts(content []byte, kind, path string) {
	if len(content) == 0 || content[0] != '[' || !mayHold(content, kind) {
		return
	}
	for _, part := range gjson.ParseBytes(content).Array() {
		if text(part.Get("type")) == kind {
			list.add(part.Get(path))
		}
	}
}
