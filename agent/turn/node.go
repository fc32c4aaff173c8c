package turn

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Kind is the kind of a message in a conversation with an agent, stored as
// the member kind of its metadata. A turn writes the first three.
type Kind string

const (
	KindUser         Kind = "user"
	KindAssistant    Kind = "assistant"
	KindToolBoundary Kind = "tool_boundary" // the result of a call
	KindSystem       Kind = "system"

	// A batch of clarifications is a group of questions of one side and the answers
	// of the other: the messages from opened to closed. They are sent to the model
	// like any others.
	KindClarificationOpened Kind = "clarification_opened"
	KindClarificationClosed Kind = "clarification_closed"

	// A merge is a message of the user with the result of a branch.
	KindMerge Kind = "merge"
)

// KindOf returns the default kind of a message with this role.
func KindOf(role string) Kind {
	if role == "tool" {
		return KindToolBoundary
	}
	return Kind(role)
}

// A Node is a message that a turn writes.
type Node struct {
	ID        string       `json:"id"`
	Parent    string       `json:"parent,omitempty"` // "" for the head
	Kind      Kind         `json:"kind"`
	Mode      DeliveryMode `json:"delivery_mode"` // Normal if the user did not write it
	Text      string       `json:"text"`
	Calls     []model.Call `json:"calls,omitempty"`
	CallID    string       `json:"call_id,omitempty"`    // of a result: the id of its call
	Tool      string       `json:"tool,omitempty"`       // of a result: the tool's name
	Failed    bool         `json:"failed,omitempty"`     // of a result: the call failed; Text has the reason
	SkippedBy string       `json:"skipped_by,omitempty"` // of a result: the steer that prevented the call
	Partial   bool         `json:"partial,omitempty"`    // incomplete, and not shown to the model
	Model     string       `json:"model_id,omitempty"`   // of an assistant's message: the model that answered
	Files     *FileState   `json:"files,omitempty"`      // what a folder held when the message was the newest

	// Content is the content of a message of the user, in any stored form, with Text as its text.
	// If nil, the content is Text.
	Content  json.RawMessage `json:"content,omitempty"`
	Replayed *Replayed       `json:"replayed,omitempty"` // the message that a message of the user repeats
	Edited   *Origin         `json:"edited,omitempty"`   // the message that a message of the user is a changed copy of
}

// An Origin is the message that another one repeats, or is a copy of.
type Origin struct {
	Session string `json:"session_id"` // the session whose file has it
	Message string `json:"message_id"`
}

// A Replayed is the message of the user that another one repeats.
type Replayed struct {
	Origin
	Plan json.RawMessage `json:"plan,omitempty"` // the plan of the replay, in the first one
}

// A FileState names the state of a folder.
type FileState struct {
	Folder string `json:"folder"` // its ID
	State  string `json:"state"`  // its ID
}

// metadata is the metadata of a message with the properties of a Node.
type metadata struct {
	Kind   Kind          `json:"kind"`
	Mode   DeliveryMode  `json:"delivery_mode"`
	Calls  []calledFunc  `json:"tool_calls,omitempty"`
	CallID string        `json:"tool_call_id,omitempty"`
	Tool   string        `json:"action_type,omitempty"`
	Own    *nodeMetadata `json:"bough,omitempty"`
}

type nodeMetadata struct {
	Failed    bool   `json:"failed,omitempty"`
	SkippedBy string `json:"skipped_by,omitempty"`
	Partial   bool   `json:"partial,omitempty"`
	Model     string `json:"model_id,omitempty"`

	Files    *FileState `json:"files,omitempty"`
	Replayed *Replayed  `json:"replayed,omitempty"`
	Edited   *Origin    `json:"edited,omitempty"`
}

// A calledFunc is a call in the format that package content decodes.
type calledFunc struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Message returns n in the form of a session file. The role is user, assistant
// or tool. The metadata has kind, delivery_mode, the calls as tool_calls, and
// for a result tool_call_id, action_type and the tool's name; its object bough
// has failed, skipped_by, partial and model_id if they are not zero.
func (n *Node) Message() model.Message {
	m := metadata{Kind: n.Kind, Mode: n.Mode, CallID: n.CallID, Tool: n.Tool}
	for _, c := range n.Calls {
		f := calledFunc{ID: c.ID, Type: "function"}
		f.Function.Name, f.Function.Arguments = c.Name, c.Arguments
		m.Calls = append(m.Calls, f)
	}
	if own := (nodeMetadata{n.Failed, n.SkippedBy, n.Partial, n.Model, n.Files, n.Replayed, n.Edited}); own != (nodeMetadata{}) {
		m.Own = &own
	}
	role := string(n.Kind)
	if n.Kind == KindToolBoundary {
		role = "tool"
	}
	content := []byte(n.Content)
	if content == nil {
		content = rawjson.Compact(n.Text)
	}
	return model.Message{ID: n.ID, Role: role, Content: content, Metadata: rawjson.Compact(m)}
}

// Context returns the messages of a path, root first, that are sent to the
// model. It drops partial messages, results without a call, and second results.
// It adds a result for a call without one, as in a copy that was made while the
// call was running; this message has no id and follows the results of the same
// message. Calls and results must be in the format of [Node.Message].
func Context(path []model.Message) []model.Message {
	list := make([]model.Message, 0, len(path))
	var open []model.Call
	finish := func() {
		for _, c := range open {
			n := Node{Kind: KindToolBoundary, Mode: Normal, Text: "There is no result of this call.", CallID: c.ID, Tool: c.Name, Failed: true}
			list = append(list, n.Message())
		}
		open = nil
	}
	for _, m := range path {
		said := gjson.ParseBytes(m.Metadata)
		if said.Get("bough.partial").Bool() {
			continue
		}
		if id := said.Get("tool_call_id").String(); m.Role == "tool" && id != "" {
			i := slices.IndexFunc(open, func(c model.Call) bool { return c.ID == id })
			if i < 0 {
				continue
			}
			open = slices.Delete(open, i, i+1)
		} else {
			finish()
			for _, c := range said.Get("tool_calls").Array() {
				open = append(open, model.Call{ID: c.Get("id").String(), Name: c.Get("function.name").String()})
			}
		}
		list = append(list, m)
	}
	finish()
	return list
}
