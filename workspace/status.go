package workspace

import (
	"context"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// A Status describes the head of a workspace, the changes since the last
// checkpoint, and agents and processes at work.
type Status struct {
	Workspace  string                `json:"workspace"`    // absolute path
	Head       *lines.Head           `json:"head"`         // null if it is not set
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
	return store.Read(ctx, w.store, func(v *store.View) (*Status, error) {
		s := &Status{Workspace: w.store.Dir, Agents: []agents.RunningAgent{}}
		if _, ok := v.Head(); ok {
			p, err := v.PlaceAtHead(store.HeadName, true)
			switch {
			case store.IsNotFound(err):
				v.Store.Opts.Note(err.Error())
			case err != nil:
				return nil, err
			default:
				if err := describeHead(v, s, p); err != nil {
					return nil, err
				}
			}
		}
		err := v.EachAgent(func(name string, a *agents.Agent, err error) error {
			if err != nil {
				v.Store.Opts.Note(err.Error())
				return nil
			}
			recoverTurn(v, a)
			if a.Turn.State != "" && a.Turn.State != turn.Idle {
				s.Agents = append(s.Agents, agents.RunningAgent{Name: name, State: a.Turn.State, Session: a.Head.Tree, Message: session.ID(a.Head.Node)})
			}
			return nil
		})
		return s, err
	})
}

// describeHead sets the fields of s about the message at the head.
func describeHead(v *store.View, s *Status, p *store.Place) error {
	s.Head = &lines.Head{Session: p.Source().ID, Message: session.ID(p.MessageID())}
	if p.Node < 0 {
		s.Head.Session = p.SessionID()
	}
	entry := entryOf(v, p.Parts[0].ID)
	if v.Kind(p.SessionID()) == session.Checkpoint {
		entry = entryOf(v, p.SessionID())
	}
	s.Session, s.ReadOnly = &entry, p.Frozen() != ""
	if p.Node >= 0 {
		m, err := v.Message(p.Line, p.Node)
		if err != nil {
			return err
		}
		s.Message = &StatusMessage{ID: m.ID, Role: m.Role(), Text: store.Opening(m.Text())}
		if at, ok := m.Time(); ok {
			s.Message.Time = session.Bough.Time(at)
		}
	}
	return sinceCheckpoint(v, s, p)
}

// sinceCheckpoint sets the last checkpoint of the path to p. If several end at
// the same message, the newest counts.
func sinceCheckpoint(v *store.View, s *Status, p *store.Place) error {
	if err := v.Whole(); err != nil {
		return err
	}
	path := p.Path(p.Node)
	depths := make(map[string]int, len(path))
	for i, n := range path {
		depths[p.ID(n)] = i + 1
	}
	ids := v.PenguinIDs()
	for _, e := range v.Index.Entries() {
		if e.Kind() == session.Checkpoint {
			ids = append(ids, e.ID)
		}
	}
	depth := 0
	for _, id := range ids {
		if v.IsPenguin(id) && v.Penguin[id].Err != nil {
			continue
		}
		e := entryOf(v, id)
		if at := depths[string(e.BranchPoint)]; at > depth || at > 0 && at == depth && e.CreatedAt.After(s.Checkpoint.CreatedAt) {
			depth, s.Checkpoint = at, &e
		}
	}
	s.New = len(path) - depth
	return nil
}
