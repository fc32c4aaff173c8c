package workspace

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// content returns the content of the message as JSON.
func (a *Append) content() []byte {
	if a.Content != nil {
		return rawjson.Layout(a.Content, 3)
	}
	return rawjson.Compact(a.Text)
}

// tools returns the metadata for calls and results, in the form of an agent's
// turn.
func (a *Append) tools() (list []rawjson.Pair) {
	n := turn.Node{Calls: a.Calls, CallID: a.CallID, Tool: a.Tool}
	metadata := n.Message().Metadata
	for _, key := range []string{"tool_calls", "tool_call_id", "action_type"} {
		if value := gjson.GetBytes(metadata, key); value.Exists() {
			list = append(list, rawjson.Pair{Key: key, Value: rawjson.Layout([]byte(value.Raw), 4)})
		}
	}
	return list
}

func (a *Append) checkTools() error {
	wrong := func(message string) error { return &fault.Error{Code: fault.Usage, Message: message} }
	switch {
	case len(a.Calls) > 0 && a.Role != "assistant":
		return wrong("only an assistant's message can have calls")
	case (a.CallID != "" || a.Tool != "") && a.Role != "tool":
		return wrong("only a tool's message can be the result of a call")
	case a.Tool != "" && a.CallID == "":
		return wrong("the result of a call needs the id of the call")
	}
	seen := map[string]bool{}
	for _, c := range a.Calls {
		switch {
		case c.ID == "" || c.Name == "":
			return wrong("a call needs an id and a name")
		case seen[c.ID]:
			return wrong(fmt.Sprintf("duplicate call id %q", c.ID))
		}
		seen[c.ID] = true
		if err := store.CheckUTF8("call", c.ID+c.Name+c.Arguments); err != nil {
			return err
		}
	}
	return store.CheckUTF8("call", a.CallID+a.Tool)
}

func (a *Append) checkContent() error {
	switch {
	case a.Content == nil && len(a.Calls) == 0 && a.CallID == "" && strings.TrimSpace(a.Text) == "":
		return &fault.Error{Code: fault.Usage, Message: "no text to append", Next: fault.Do(fault.GiveText)}
	case a.Content == nil:
		return store.CheckUTF8("text", a.Text)
	case a.Text != "":
		return &fault.Error{Code: fault.Usage, Message: "a message has text or content, not both"}
	}
	if err := rawjson.Check(a.Content); err != nil {
		return &fault.Error{Code: fault.Usage, Message: "the content is not JSON: " + err.Error(), Err: err}
	}
	if v := gjson.ParseBytes(a.Content); v.Type != gjson.String && !v.IsArray() {
		return &fault.Error{Code: fault.Usage, Message: "the content is neither a string nor an array of parts"}
	}
	return nil
}
