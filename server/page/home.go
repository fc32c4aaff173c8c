package page

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// home shows the conversation at the head, or else the one that was active last. An empty
// workspace offers what can be imported.
func home(c *request) (view, error) {
	ctx := c.r.Context()
	status, err := c.workspace.Status(ctx)
	if err != nil {
		return view{}, err
	}
	q := pathQuery{From: -1}
	if status.Head != nil {
		q.Session, q.Leaf = status.Head.Session, string(status.Head.Message)
	} else {
		list, err := c.workspace.Sessions(ctx, workspace.ListOptions{Limit: 1})
		if err != nil {
			return view{}, err
		}
		if len(list.Sessions) == 0 {
			return view{Template: "empty", Title: "No conversations yet", Data: welcome{c.imports()}}, nil
		}
		q.Session = list.Sessions[0].ID
	}
	shown, err := c.conversation(q)
	if err != nil {
		return view{}, err
	}
	if shown.Running, err = c.running(status.Agents); err != nil {
		return view{}, err
	}
	return view{Template: "conversation", Title: shown.Title, Data: shown}, nil
}

// A running is an agent or an exploration at work.
type running struct{ Name, Href, State string }

func (c *request) running(working []agents.RunningAgent) (list []running, err error) {
	for _, a := range working {
		list = append(list, running{"Agent " + a.Name, agentAddress(a.Name), stateText(a.State)})
	}
	all, err := c.explorer().List(c.r.Context())
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if len(e.Active) > 0 {
			list = append(list, running{questionOf(e), explorationAddress(e.ID), fmt.Sprintf("trying %d of %d strategies", len(e.Active), len(e.Branches))})
		}
	}
	return list, nil
}

// explorer returns an explorer that runs nothing.
func (c *request) explorer() *explore.Explorer { return &explore.Explorer{Workspace: c.workspace} }

// showConversation shows a path of a conversation.
func showConversation(c *request) (view, error) {
	q, err := c.pathQuery()
	if err != nil {
		return view{}, err
	}
	shown, err := c.conversation(q)
	if err != nil {
		return view{}, err
	}
	return view{Template: "conversation", Title: shown.Title, Data: shown}, nil
}

// showCheckpoint shows a checkpoint. Another session has another address.
func showCheckpoint(c *request) (view, error) {
	v, err := showConversation(c)
	if err != nil {
		return view{}, err
	}
	if shown := v.Data.(*conversation); !shown.ReadOnly {
		return view{Location: shown.Here}, nil
	}
	return v, nil
}

// showMessages shows a part of a path, as chunks.
func showMessages(c *request) (view, error) {
	q, err := c.pathQuery()
	if err != nil {
		return view{}, err
	}
	q.Session = c.r.FormValue("session")
	f, err := find(c.r.Context(), c.workspace, q, c.opts.Now())
	if err != nil {
		return view{}, err
	}
	related, err := c.related(f.session)
	if err != nil {
		return view{}, err
	}
	s := f.loaded(q)
	part := chunk{span: s, Messages: f.messages(s, related)}
	return view{Template: "messages", Title: "Messages", Data: []chunk{part}}, nil
}

// maxPiece is the maximum number of messages of a piece.
const maxPiece = 1000

// pathQuery returns what the address selects.
func (c *request) pathQuery() (q pathQuery, err error) {
	q = pathQuery{Session: c.r.PathValue("session"), Leaf: c.r.FormValue("leaf"), At: c.r.FormValue("at")}
	if q.From, err = c.number("from", -1); err != nil {
		return q, err
	}
	if q.To, err = c.number("to", 0); err != nil {
		return q, err
	}
	q.To = min(q.To, max(q.From, 0)+maxPiece)
	return q, nil
}

// number returns the value of a parameter, or a default if it is absent.
func (c *request) number(name string, byDefault int) (int, error) {
	text := c.r.FormValue(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &failure{status: http.StatusBadRequest, message: fmt.Sprintf("%s must be 0 or more, not %q", name, text)}
	}
	return n, nil
}

// trees returns the trees of all sessions. They are read once for a request.
func (c *request) trees() (*workspace.Forest, error) {
	if c.forest == nil {
		forest, err := c.workspace.Tree(c.r.Context(), "")
		if err != nil {
			return nil, err
		}
		c.forest = forest
	}
	return c.forest, nil
}

// conversation returns a path for the page.
func (c *request) conversation(q pathQuery) (*conversation, error) {
	f, err := find(c.r.Context(), c.workspace, q, c.opts.Now())
	if err != nil {
		return nil, err
	}
	related, err := c.related(f.session)
	if err != nil {
		return nil, err
	}
	c.session, c.shownLeaf, c.tree = f.session, f.leaf, f.tree
	shown := f.conversation(q, related)
	shown.Replies = repliesIn(c.workspace, f)
	return shown, nil
}

// related returns the sessions around a line.
func (c *request) related(line string) (relations, error) {
	trees, err := c.trees()
	if err != nil {
		return relations{}, err
	}
	owners, err := c.workspace.Agents(c.r.Context())
	if err != nil {
		return relations{}, err
	}
	return relate(trees, owners.Agents, line), nil
}

// partial are the options for reading the rest of a damaged conversation.
func partial() session.ReadOptions { return session.ReadOptions{Partial: true} }
