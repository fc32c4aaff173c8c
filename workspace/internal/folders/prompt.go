package folders

import (
	"slices"

	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// promptPath is the path of the id of a prompt in a message that was imported from Claude Code,
// which gives it to all records of a turn.
const promptPath = "metadata.bough.source.records.0.promptId"

// begins reports whether a message, in its stored form, is the first one on its path of the
// turn that a prompt began.
func (r *reading) begins(l *store.Line, node int, raw []byte, prompt string) bool {
	if gjson.GetBytes(raw, promptPath).Str != prompt {
		return false
	}
	path := l.Path(node)
	for _, before := range slices.Backward(path[:len(path)-1]) {
		if m, err := r.view.Message(l, before); err == nil && gjson.GetBytes(m.Raw, promptPath).Str == prompt {
			return false
		}
	}
	return true
}

// addPrompts sets session and message of links by a prompt that messages of the sessions have.
func (r *reading) addPrompts(sessions []string) error {
	byPrompt := map[string]*states.Link{}
	for _, link := range r.links {
		if link.PromptID != "" && link.SessionID == "" {
			byPrompt[link.PromptID] = link
		}
	}
	if len(byPrompt) == 0 || len(sessions) == 0 {
		return nil
	}
	l, err := r.view.Line(sessions[0], true)
	if err != nil {
		return err
	}
	for node := range l.Len() {
		m, err := r.view.Message(l, node)
		if err != nil {
			return err
		}
		prompt := gjson.GetBytes(m.Raw, promptPath).Str
		if link := byPrompt[prompt]; link != nil && r.begins(l, node, m.Raw, prompt) {
			link.SessionID, link.MessageID = l.Parts[l.Part(node)].ID, l.ID(node)
			for _, st := range r.list {
				if st.ID == link.State && st.SessionID == "" {
					st.SessionID, st.MessageID = link.SessionID, link.MessageID
				}
			}
		}
	}
	return nil
}
