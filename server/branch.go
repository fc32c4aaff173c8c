package server

import (
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// A leafItem is a leaf in Acontext's format.
type leafItem struct {
	Message   string `json:"message_id"`
	Depth     int    `json:"depth"`
	CreatedAt string `json:"created_at"`
}

func listBranches(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	b, err := c.workspace.Branches(c.r.Context(), name, workspace.BranchesOptions{})
	if err != nil {
		return nil, err
	}
	leaves := make([]leafItem, len(b.Leaves))
	for i, l := range b.Leaves {
		leaves[i] = leafItem{l.UUID, l.Depth, session.Bough.Time(l.CreatedAt)}
	}
	return ok(map[string][]leafItem{"leaves": leaves}), nil
}
