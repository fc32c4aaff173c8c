package workspace

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Learnings returns the file with the results of explored branches, nil if it
// does not exist. Package explore describes the content.
func (w *Workspace) Learnings(ctx context.Context) ([]byte, error) {
	return w.store.ReadOwn(ctx, store.LearningsPath)
}

// AppendLearnings appends whole lines to the file of [Workspace.Learnings]. It
// is not logged and cannot be undone.
func (w *Workspace) AppendLearnings(ctx context.Context, lines []byte) error {
	return w.patient().store.WithLock(ctx, "explore", func(root *os.Root) error {
		_, err := durable.Append(root, store.LearningsPath, lines)
		return err
	})
}

// ExplorationSettings returns the settings for explorations as one JSON object,
// nil if there are none. It merges three sources, of which the first takes
// precedence: the members explore.* of the workspace's settings, the file
// [ExplorationSettingsPath], and the settings of the user.
func (w *Workspace) ExplorationSettings(ctx context.Context) ([]byte, error) {
	l, err := importer.Settings(w.store)
	if err != nil {
		return nil, err
	}
	own, err := w.store.ReadOwn(ctx, ExplorationSettingsPath)
	if err != nil {
		return nil, err
	}
	layers := [][]byte{l.User.Value("explore"), own, l.Workspace.Value("explore")}
	return mergeObjects(slices.DeleteFunc(layers, func(b []byte) bool { return b == nil }))
}

// mergeObjects returns one object with the members of all objects, the last of each key.
// If one is not an object, it is returned unchanged, so that its reader reports it.
func mergeObjects(objects [][]byte) ([]byte, error) {
	if len(objects) <= 1 {
		return slices.Concat(objects...), nil
	}
	merged := map[string]json.RawMessage{}
	for _, o := range objects {
		if json.Unmarshal(o, &merged) != nil {
			return o, nil
		}
	}
	return json.Marshal(merged)
}

// ExplorationSettingsPath is a file with settings for explorations, where
// earlier versions of bough kept them.
const ExplorationSettingsPath = store.ExplorationSettings
