package workspace

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// learningsPath is the file with the results of branches.
const learningsPath = stateDir + "/learnings.jsonl"

// Learnings returns the file with the results of explored branches, nil if it does not
// exist; package explore describes the content.
func (w *Workspace) Learnings(ctx context.Context) ([]byte, error) {
	return w.store.readOwn(ctx, learningsPath)
}

// AppendLearnings adds whole lines to the file of [Workspace.Learnings]. It is
// not an operation.
func (w *Workspace) AppendLearnings(ctx context.Context, lines []byte) error {
	return w.patient().store.alone(ctx, "explore", func(root *os.Root) error {
		_, err := durable.Append(root, learningsPath, lines)
		return err
	})
}

// ExplorationSettings returns the settings for explorations, one object: the members
// explore.* of the settings, over those of the file at [ExplorationSettingsPath], over
// those of the user. It is nil if there are none.
func (w *Workspace) ExplorationSettings(ctx context.Context) ([]byte, error) {
	l, err := w.store.settings()
	if err != nil {
		return nil, err
	}
	own, err := w.store.readOwn(ctx, ExplorationSettingsPath)
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

// ExplorationSettingsPath is a file that has settings for explorations only, as earlier
// versions of bough kept them.
const ExplorationSettingsPath = explorationsDir + "/config.json"
