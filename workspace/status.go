package workspace

import (
	"context"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
)

// A Status describes the head of a workspace, what is new since the last
// checkpoint, and agents and processes at work.
type Status struct {
	Workspace  string                `json:"workspace"`    // absolute path
	Head       *Head                 `json:"head"`         // null if it is not set
	ReadOnly   bool                  `json:"read_only"`    // in a checkpoint: the next message creates a branch first
	Session    *Entry                `json:"session"`      // the session of the head, null without a head
	Message    *StatusMessage        `json:"message"`      // the message at the head, null in an empty session
	Checkpoint *Entry                `json:"checkpoint"`   // the last checkpoint of the path to the head, null if there is none
	New        int                   `json:"new_messages"` // how many messages of the path Checkpoint lacks
	Agents     []agents.RunningAgent `json:"agents"`
}

// A StatusMessage is the message at the head.
type StatusMessage struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	Time string `json:"time"` // "" if unknown
	Text string `json:"text"` // its first words
}

// Status returns the state of the workspace.
func (w *Workspace) Status(ctx context.Context) (*Status, error) {
	return read(ctx, w.store, func(v *View) (*Status, error) {
		s := &Status{Workspace: w.store.dir, Agents: []agents.RunningAgent{}}
		if _, ok := v.head(); ok {
			p, err := v.placeAtHead(headName, true)
			switch {
			case isNotFound(err):
				v.store.opts.Note(err.Error())
			case err != nil:
				return nil, err
			default:
				if err := v.describeHead(s, p); err != nil {
					return nil, err
				}
			}
		}
		err := v.eachAgent(func(name string, a *agents.Agent, err error) error {
			if err != nil {
				v.store.opts.Note(err.Error())
				return nil
			}
			v.recoverTurn(a)
			if a.Turn.State != "" && a.Turn.State != turn.Idle {
				s.Agents = append(s.Agents, agents.RunningAgent{Name: name, State: a.Turn.State, Session: a.Head.Tree, Message: session.ID(a.Head.Node)})
			}
			return nil
		})
		return s, err
	})
}

// describeHead sets the fields of s about the message at the head.
func (v *View) describeHead(s *Status, p *place) error {
	s.Head = &Head{Session: p.source().ID, Message: session.ID(p.messageID())}
	if p.node < 0 {
		s.Head.Session = p.id()
	}
	entry := v.entryOf(p.Parts[0].ID)
	if v.kind(p.id()) == session.Checkpoint {
		entry = v.entryOf(p.id())
	}
	s.Session, s.ReadOnly = &entry, v.frozen(p) != ""
	if p.node >= 0 {
		m, err := v.message(p.line, p.node)
		if err != nil {
			return err
		}
		s.Message = &StatusMessage{ID: m.ID, Role: m.Role(), Text: opening(m.Text())}
		if at, ok := m.Time(); ok {
			s.Message.Time = session.Bough.Time(at)
		}
	}
	return v.sinceCheckpoint(s, p)
}

// sinceCheckpoint sets the last checkpoint of the path to p. If several end at
// the same message, the newest counts.
func (v *View) sinceCheckpoint(s *Status, p *place) error {
	if err := v.whole(); err != nil {
		return err
	}
	path := p.Path(p.node)
	depths := make(map[string]int, len(path))
	for i, n := range path {
		depths[p.ID(n)] = i + 1
	}
	ids := v.penguinIDs()
	for _, e := range v.index.Entries() {
		if e.Kind() == session.Checkpoint {
			ids = append(ids, e.ID)
		}
	}
	depth := 0
	for _, id := range ids {
		if v.isPenguin(id) && v.penguin[id].Err != nil {
			continue
		}
		e := v.entryOf(id)
		if at := depths[string(e.BranchPoint)]; at > depth || at > 0 && at == depth && e.CreatedAt.After(s.Checkpoint.CreatedAt) {
			depth, s.Checkpoint = at, &e
		}
	}
	s.New = len(path) - depth
	return nil
}
