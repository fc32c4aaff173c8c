package folders

import (
	"slices"

	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// ownPath is the path of the state that a message names, an object with folder and state.
const ownPath = "metadata.bough.files"

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

// addMessages sets session and message of the states that messages of the line of a session
// name, and of those that were taken for their prompts.
func (r *reading) addMessages(session string) error {
	type owner struct{ session, message string }
	prompts, owners := map[string]string{}, map[string]owner{} // by prompt the state, by state its message
	for _, link := range r.links {
		if link.PromptID != "" {
			prompts[link.PromptID] = link.State
		}
	}
	l, err := r.view.Line(session, true)
	if err != nil {
		return err
	}
	for node := range l.Len() {
		m, err := r.view.Message(l, node)
		if err != nil {
			return err
		}
		at := owner{l.Parts[l.Part(node)].ID, l.ID(node)}
		v := gjson.GetManyBytes(m.Raw, ownPath, promptPath)
		if own := v[0].Get("state").Str; own != "" {
			owners[own] = at
		} else if state := prompts[v[1].Str]; state != "" && r.begins(l, node, m.Raw, v[1].Str) {
			owners[state] = at
		}
	}
	for _, st := range r.list {
		if at, ok := owners[st.ID]; ok {
			st.SessionID, st.MessageID = at.session, at.message
		}
	}
	return nil
}
