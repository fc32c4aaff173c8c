package testtranscript

import (
	"fmt"
	"math/rand/v2"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
)

// Tree returns a conversation with branches: prompts and answers, some of them with tool
// calls and results.
func Tree(random *rand.Rand) *transcript.Transcript {
	tr := &transcript.Transcript{}
	tr.Dir = "/home/ada"
	add := func(parent *transcript.Message, role string, parts ...content.Part) *transcript.Message {
		m := &transcript.Message{ID: fmt.Sprint("m", len(tr.Messages))}
		if parent != nil {
			m.Parent = parent.ID
		}
		m.Role, m.Parts = role, parts
		tr.Messages = append(tr.Messages, m)
		return m
	}
	var spots []*transcript.Message
	for n := range 2 + random.IntN(8) {
		var at *transcript.Message
		if len(spots) > 0 && random.IntN(6) > 0 {
			at = spots[random.IntN(len(spots))]
		}
		if at == nil || at.Role == "assistant" || random.IntN(2) == 0 {
			at = add(at, "user", content.Text(fmt.Sprint("question ", n)))
			spots = append(spots, at)
		}
		if random.IntN(3) == 0 {
			call := content.Call{ID: fmt.Sprint("call", n), Name: "look", Arguments: `{"n":1}`}
			at = add(at, "assistant", content.ToolCall(call))
			call.Arguments = ""
			at = add(at, "user", content.ToolResult(content.Call{ID: call.ID, Name: call.Name}, "found"))
		}
		at = add(at, "assistant", content.Text(fmt.Sprint("answer ", n)))
		spots = append(spots, at)
	}
	tr.Leaf = spots[random.IntN(len(spots))].ID
	return tr
}
