package store

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessionid"
)

// ExplorationsDir has a file for each exploration.
const ExplorationsDir = "explorations"

// ExplorationLocks has a folder for each running exploration.
const ExplorationLocks = StateDir + "/explorations"

// ExplorationSettings has the settings of explorations only.
const ExplorationSettings = ExplorationsDir + "/config.json"

// Explorations returns the ids of all explorations.
func (w *Store) Explorations(ctx context.Context) (ids []string, err error) {
	defer func() { err = Explained(err) }()
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := durable.ReadDir(root, ExplorationsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && sessionid.IsUUID(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// LearningsPath is the file with the results of branches.
const LearningsPath = StateDir + "/learnings.jsonl"
