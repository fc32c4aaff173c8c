package workspace

import (
	"context"
	"os"

	"github.com/bough-dev/bough/internal/durable"
)

// learningsPath is the file of what came of branches.
const learningsPath = stateDir + "/learnings.jsonl"

// Learnings returns the file of what came of branches that were tried, nil if there is
// none: package explore says what it holds.
func (w *Workspace) Learnings(ctx context.Context) ([]byte, error) {
	return w.readOwn(ctx, learningsPath)
}

// AppendLearnings adds whole lines to that file. It is no operation.
func (w *Workspace) AppendLearnings(ctx context.Context, lines []byte) error {
	return w.patient().alone(ctx, "explore", func(root *os.Root) error {
		_, err := durable.Append(root, learningsPath, lines)
		return err
	})
}

// ExplorationSettings returns the file in which a person says how explorations go in this
// workspace, nil if there is none.
func (w *Workspace) ExplorationSettings(ctx context.Context) ([]byte, error) {
	return w.readOwn(ctx, ExplorationSettingsPath)
}

// ExplorationSettingsPath is the file of the settings, in the workspace.
const ExplorationSettingsPath = explorationsDir + "/config.json"
