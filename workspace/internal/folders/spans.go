package folders

import (
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
)

// A timeline says what conversations changed in a folder after a state.
type timeline struct {
	own, other []restore.Span
	unended    []restore.Span // those of own that are turns without an end
	last       *states.State  // the last one of this conversation
	open       bool           // its last turn has no end
}

// ownConversation is the name of the conversation that goes back, among those of
// [timelineOf].
const ownConversation = "own"

// timelineOf returns what happened in a folder after the state target. list has the states of
// the folder in the order in which they were taken. conversation returns a name for that of a
// state, [ownConversation] for the one that goes back, and "" for none.
//
// What a conversation changed is between the prompt and the end of a turn. Where a
// conversation has no such states, it is between one of its states and the next. What changed
// from an end to the next prompt is the user's. A turn that was stopped has no end: up to the
// next prompt, its changes cannot be distinguished from those of the user. A restore ends a turn, and what it changed
// itself counts as changed by the conversation, unless the next restore gave back exactly what
// was before. For other conversations only turns count.
func timelineOf(list []*states.State, target *states.State, conversation func(*states.State) string) timeline {
	t := timeline{last: target}
	complete := map[string]bool{} // states before a restore that has a state after it
	for _, st := range list {
		complete[st.Since] = true
	}
	walks := map[string]*walk{}
	var restores []restored // the last spans, if they are of restores
	after := false
	for _, st := range list {
		name := conversation(st)
		if st.ID == target.ID {
			name = ownConversation
		}
		before := st.At == states.Restore && st.Since == ""
		if name == "" || before && !complete[st.ID] {
			continue
		}
		w := walks[name]
		if w == nil {
			w = &walk{}
			walks[name] = w
		}
		kind := w.step(st, before)
		switch {
		case st.ID == target.ID:
			after = true
		case !after:
		case name == ownConversation && before:
		case name == ownConversation && st.Since != "":
			made := restored{restore.Span{From: w.from.Tree, To: st.Tree, Brought: w.moved}, t.last}
			if n := len(restores) - 1; n >= 0 && restores[n].undoneBy(made.Span) {
				t.own, t.last, restores = t.own[:len(t.own)-1], restores[n].last, restores[:n]
			} else {
				t.own, t.last, restores = append(t.own, made.Span), st, append(restores, made)
			}
		case name == ownConversation:
			if s := (restore.Span{From: w.from.Tree, To: st.Tree}); kind != users {
				if t.own = append(t.own, s); kind == stopped {
					t.unended = append(t.unended, s)
				}
			}
			t.last, restores = st, nil
		case kind == turn || kind == stopped:
			t.other = append(t.other, restore.Span{From: w.from.Tree, To: st.Tree})
		}
	}
	if w := walks[ownConversation]; w != nil {
		t.open = after && w.mode == running
	}
	return t
}

// A restored is the span of a restore.
type restored struct {
	restore.Span
	last *states.State // of the conversation before it
}

// undoneBy reports whether the span of the next restore gave back exactly what was before.
func (r restored) undoneBy(s restore.Span) bool { return r.From == s.To && r.To == s.From }

// present completes t with what the folder has now.
func (t *timeline) present(tree pack.ID) {
	if t.open {
		s := restore.Span{From: t.last.Tree, To: tree}
		t.own, t.unended = append(t.own, s), append(t.unended, s)
	}
}

// A walk goes from state to state of a conversation.
type walk struct {
	mode     mode
	from, at *states.State // the last two
	moved    bool          // from is of another folder than the state before it
}

type mode int

const (
	unknown mode = iota // there was neither a prompt nor an end
	idle
	running
)

// A spanKind says who changed files between two states.
type spanKind int

const (
	users   spanKind = iota
	between          // the conversation, as far as is known
	turn             // a turn of it
	stopped          // a turn of it without an end, and perhaps the user after it
)

// step goes to the next state, and says who made the changes between. before says that it is
// the state before a restore.
func (w *walk) step(st *states.State, before bool) (kind spanKind) {
	w.moved = w.from != nil && w.at.Folder != w.from.Folder
	w.from, w.at = w.at, st
	mode := w.mode
	switch {
	case st.At == states.Prompt:
		w.mode = running
	case st.At == states.End, st.Since != "" && mode == running:
		w.mode = idle
	}
	switch {
	case w.from == nil || before:
		return users
	case st.Since != "":
		return between
	case st.At == states.Prompt && w.from.At == states.Prompt:
		return stopped
	case st.At == states.End || mode == running:
		return turn
	case st.At == states.Prompt && mode == idle:
		return users
	case mode == unknown || w.from.At == states.Manual || w.from.At == states.Checkpoint:
		return between
	}
	return users
}
