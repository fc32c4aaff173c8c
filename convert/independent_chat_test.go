package convert

import (
	"bytes"
	"encoding/json"
	"strings"
)

// rawCopilotChat: of a journal, the lines are applied to nested maps. A request follows the one
// before it in the list in which it was first seen; all that were ever in a list count, one that
// was replaced by another one with its id does not. It has a message for the prompt, and one for
// each run of parts of the answer, or of the rounds if these have calls that no part has; calls
// are of the model, and results, which complete calls have, of the user. The calls of one round
// are one run.
func rawCopilotChat(data []byte) *rawCount {
	c := newRawCount()
	var chat any
	type place struct {
		parent string
		v      any
	}
	all := map[string]place{}
	var order []string
	note := func() {
		before := ""
		seen := map[string]bool{}
		for _, r := range rawList(chat, "requests") {
			if _, ok := r.(map[string]any); !ok {
				continue
			}
			id := rawString(r, "requestId")
			if seen[id] {
				id += rawString(r, "message", "text")
			}
			seen[id] = true
			if _, ok := all[id]; !ok {
				order = append(order, id)
				all[id] = place{before, r}
			}
			all[id] = place{all[id].parent, r}
			before = id
		}
	}
	if json.Unmarshal(data, &chat) == nil && rawGet(chat, "kind") == nil {
		note()
	} else if !bytes.HasPrefix(data, []byte(`{"kind"`)) {
		c.torn = true
		return c
	} else {
		for _, line := range rawLines(data) {
			path, _ := rawGet(line, "k").([]any)
			kind, _ := rawGet(line, "kind").(float64)
			if kind == 0 {
				chat = rawGet(line, "v")
			} else if len(path) > 0 {
				chat = rawEdit(chat, path, func(old any) any {
					switch kind {
					case 1:
						return rawGet(line, "v")
					case 2:
						list, ok := old.([]any)
						if !ok && old != nil {
							return old
						}
						if i, cut := rawGet(line, "i").(float64); cut && int(i) <= len(list) {
							list = append([]any{}, list[:int(i)]...)
						}
						return append(append([]any{}, list...), rawList(line, "v")...)
					case 3:
						return nil
					}
					return old
				})
			}
			note()
		}
	}
	var nodes []rawNode
	for _, id := range order {
		n := rawNode{id: id, parent: all[id].parent}
		n.messages = rawTurns(c, all[id].v)
		nodes = append(nodes, n)
	}
	c.tree(nodes)
	return c
}

// rawEdit returns v with the value at a path replaced. A path that leads nowhere changes nothing.
func rawEdit(v any, path []any, f func(any) any) any {
	if len(path) == 0 {
		return f(v)
	}
	switch at := v.(type) {
	case map[string]any:
		name, _ := path[0].(string)
		if old, ok := at[name]; ok || len(path) == 1 {
			at[name] = rawEdit(old, path[1:], f)
		}
	case []any:
		if i, ok := path[0].(float64); ok && int(i) < len(at) {
			at[int(i)] = rawEdit(at[int(i)], path[1:], f)
		}
	}
	return v
}

// rawTurns counts the texts of a request, and returns the number of its messages.
func rawTurns(c *rawCount, r any) int {
	var turns []string
	turn := func(role string) {
		if len(turns) == 0 || turns[len(turns)-1] != role {
			turns = append(turns, role)
		}
	}
	text := rawString(r, "message", "text") + rawString(r, "message")
	c.says(text)
	if text != "" || len(rawList(r, "variableData", "variables")) > 0 {
		turn("user")
	}
	shown, calls := map[string]bool{}, 0
	for _, p := range rawList(r, "response") {
		shown[rawString(p, "toolCallId")] = true
	}
	rounds, hidden := map[string]int{}, false
	for i, round := range rawList(r, "result", "metadata", "toolCallRounds") {
		for _, call := range rawList(round, "toolCalls") {
			rounds[rawString(call, "id")] = i + 1
			hidden = hidden || !shown[rawString(call, "id")]
			calls++
		}
	}
	if state, _ := rawGet(r, "modelState", "value").(float64); hidden && state == 1 {
		for _, round := range rawList(r, "result", "metadata", "toolCallRounds") {
			c.says(rawString(round, "response"))
			turn("assistant")
			if len(rawList(round, "toolCalls")) > 0 {
				turn("user")
			}
		}
		return len(turns)
	}
	run, waiting, round := "", false, -1
	settle := func() {
		if waiting {
			turn("user")
		}
		waiting = false
	}
	end := func() { c.says(run); run = "" }
	for _, p := range rawList(r, "response") {
		switch rawString(p, "kind") {
		case "":
			if value := rawString(p, "value"); value != "" {
				settle()
				turn("assistant")
				run += value
				continue
			}
			fallthrough
		default:
			settle()
			turn("assistant")
			end()
		case "inlineReference":
			settle()
			turn("assistant")
			if name := rawString(p, "inlineReference", "name"); name != "" {
				run += "`" + name + "`"
			} else {
				at := rawString(p, "inlineReference", "path")
				run += at[strings.LastIndex(at, "/")+1:]
			}
		case "toolInvocationSerialized":
			of := rounds[rawString(p, "toolCallId")]
			end()
			if of == 0 || of != round {
				settle()
			}
			round = of
			turn("assistant")
			waiting = waiting || rawGet(p, "isComplete") != false
		case "progressMessage", "undoStop", "prepareToolInvocation":
		case "thinking", "warning", "confirmation", "textEditGroup":
			settle()
			turn("assistant")
			end()
		}
	}
	end()
	settle()
	if rawString(r, "result", "errorDetails", "message") != "" {
		turn("assistant")
	}
	return len(turns)
}
