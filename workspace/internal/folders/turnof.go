package folders

import (
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/fileedit"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/origin"
)

// A turnMessages is a turn with its messages.
type turnMessages struct {
	origin.Turn
	messages []session.Message // after the prompt
	setting  session.Setting
	edits    []calledEdit // see calls
}

// turnOfAuthor returns the turn that changed a folder. Of one whose conversation is not in the
// workspace, only the time is known.
func (t *trail) turnOfAuthor(a author) (*turnMessages, error) {
	unknown := &turnMessages{}
	for _, st := range []*states.State{a.run.last, a.end, a.run.prompt} {
		if st != nil {
			unknown.Time = timeOf(st.Time)
			break
		}
	}
	for _, st := range []*states.State{a.run.last, a.run.prompt} {
		if err := t.addMessagesOnce(st); err != nil {
			return nil, err
		}
	}
	if p, err := t.userAt(a.run.prompt, false); p != nil || err != nil {
		return t.turnAtPlace(p, err, unknown)
	}
	if st := a.run.last; st != nil {
		if p, err := t.placeOf(st); p != nil && p.Node >= 0 || err != nil {
			return t.turnAtPlace(p, err, unknown)
		}
	}
	p, err := t.userAt(a.run.prompt, true)
	return t.turnAtPlace(p, err, unknown)
}

// addMessagesOnce adds the messages of the line of a state to all states that these name.
func (t *trail) addMessagesOnce(st *states.State) error {
	if st == nil || st.SessionID == "" || t.messages[st.SessionID] || !t.view.Has(st.SessionID) {
		return nil
	}
	t.messages[st.SessionID] = true
	ids, err := t.view.LineIDs(st.SessionID)
	if err != nil {
		return nil // the other states can be used
	}
	for _, id := range ids {
		t.messages[id] = true
	}
	return t.addMessages(st.SessionID)
}

// userAt returns the message of the user that a state before a turn belongs to or, with below,
// the newest one that follows its message. It returns nil if there is none.
func (t *trail) userAt(st *states.State, below bool) (*store.Place, error) {
	if st == nil {
		return nil, nil
	}
	p, err := t.placeOf(st)
	if p == nil || p.Node < 0 || err != nil {
		return nil, err
	}
	nodes := []int{p.Node}
	if below {
		nodes = p.Children()[p.Node]
	}
	for _, node := range slices.Backward(nodes) {
		m, err := t.view.Message(p.Line, node)
		if err != nil {
			return nil, err
		}
		if m.Role() == "user" {
			return &store.Place{Line: p.Line, Node: node}, nil
		}
	}
	return nil, nil
}

// turnAtPlace returns the turn of a place, or unknown if there is none.
func (t *trail) turnAtPlace(p *store.Place, err error, unknown *turnMessages) (*turnMessages, error) {
	if p == nil || p.Node < 0 || err != nil {
		return unknown, err
	}
	return t.readTurn(p)
}

// readTurn reads the turn of a place.
func (r *reading) readTurn(p *store.Place) (*turnMessages, error) {
	path, first, err := r.turnOf(p)
	if err != nil {
		return nil, err
	}
	last := path[len(path)-1]
	about := r.view.Overview(p.Parts[0].ID)
	turn := &turnMessages{setting: about.Setting, Turn: origin.Turn{
		Session: session.ID(p.Parts[p.Part(last)].ID), Title: about.Title, Message: session.ID(p.ID(last)),
	}}
	if first >= 0 {
		prompt, err := r.view.Message(p.Line, path[first])
		if err != nil {
			return nil, err
		}
		turn.Prompt, turn.Text = session.ID(prompt.ID), spoken.Words(prompt)
	}
	if turn.messages, err = r.view.Messages(p.Line, path[first+1:]); err != nil {
		return nil, err
	}
	end, err := r.view.Message(p.Line, last)
	if at, ok := end.Time(); ok {
		turn.Time = instant(at)
	}
	return turn, err
}

// writerOf returns the turn with the last of its messages that has a call whose text has a line
// of the file, else the turn as it is; ok reports whether there is one.
func (turn *turnMessages) writerOf(dir, path, line string) (_ origin.Turn, ok bool) {
	if strings.TrimSpace(line) == "" {
		return turn.Turn, false
	}
	for _, c := range slices.Backward(turn.calls()) {
		if rel, ok := fileedit.In(dir, turn.setting.Directory, c.Path); ok && rel == path && c.Kind != fileedit.Move && hasLine(c.New, line) && !hasLine(c.Old, line) {
			return turn.with(c.message), true
		}
	}
	return turn.Turn, false
}

// A calledEdit is an edit of a call, with its message.
type calledEdit struct {
	fileedit.Edit
	message session.Message
}

// calls returns the edits of the calls of the turn.
func (turn *turnMessages) calls() []calledEdit {
	if turn.edits != nil {
		return turn.edits
	}
	turn.edits = []calledEdit{}
	for _, m := range turn.messages {
		said := content.Read(m.Raw)
		for i := range said.Parts {
			if said.Parts[i].Type != content.TypeToolCall {
				continue
			}
			for _, e := range fileedit.Of(said.Parts[i].Call()) {
				turn.edits = append(turn.edits, calledEdit{e, m})
			}
		}
	}
	return turn.edits
}

// with returns the turn with a message that did it.
func (turn *turnMessages) with(m session.Message) origin.Turn {
	done := turn.Turn
	done.Message = session.ID(m.ID)
	if at, ok := m.Time(); ok {
		done.Time = instant(at)
	}
	return done
}

// timeOf returns a stored time, nil if there is none.
func timeOf(s string) *time.Time { return instant(store.TimeOf(s)) }

// instant returns a time as results have it, nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = store.Instant(t)
	return &t
}

// hasLine reports whether a text has a line, or ends with a part of it.
func hasLine(text, line string) bool {
	for l := range strings.Lines(text) {
		if strings.TrimSuffix(l, "\n") == line {
			return true
		}
	}
	// A replacement within a line has only a part of it.
	return len(text) > 0 && !strings.Contains(text, "\n") && strings.Contains(line, text)
}
