package workspace

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Set changes properties of an agent and returns its new state. Its trees, head
// and queue do not change. If nothing differs, Set writes nothing.
func (ag Agent) Set(ctx context.Context, c agents.Change) (*agents.Agent, error) {
	return updateIdleAgent(ctx, ag.w, operation.Operation{Verb: "agent set"}, ag.name, func(tx *store.Tx, a *agents.Agent) (*agents.Agent, error) {
		o := agents.Options{Model: a.Model, System: a.System, Policy: a.Policy, NoCheckpoint: a.NoCheckpoint, Memory: a.Memory}
		set(&o.Model, c.Model)
		set(&o.System, c.System)
		set(&o.Policy, c.Policy)
		set(&o.NoCheckpoint, c.NoCheckpoint)
		set(&o.Memory, c.Memory)
		if err := checkAgentOptions(o); err != nil {
			return nil, err
		}
		a.Model, a.System, a.Policy, a.NoCheckpoint, a.Memory = o.Model, o.System, o.Policy, o.NoCheckpoint, o.Memory
		if bytes.Equal(a.Encode(), a.File) {
			return a, nil
		}
		return tx.WriteAgent(a.Agent, a.File)
	})
}

func set[T any](v, to *T) {
	if to != nil {
		*v = *to
	}
}

func checkAgentOptions(o agents.Options) error {
	if _, ok := turn.ParseSteerPolicy(string(o.Policy)); !ok && o.Policy != "" {
		return &fault.Error{
			Code:    fault.Usage,
			Message: fmt.Sprintf("unknown steer policy %q", o.Policy),
			Hint:    fmt.Sprintf("policies are %s, %s", turn.AfterCall, turn.FinishBatch),
		}
	}
	if o.Memory != "" && !filepath.IsAbs(o.Memory) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("the memory file %q has no absolute path", o.Memory)}
	}
	if err := store.CheckUTF8("memory file", o.Memory); err != nil {
		return err
	}
	if err := store.CheckUTF8("model", o.Model); err != nil {
		return err
	}
	return store.CheckUTF8("system prompt", o.System)
}
