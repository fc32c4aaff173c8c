package store

import (
	"encoding/json"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/forget"
)

// ForgetPath is the file of a forget in progress. While it exists, the next writer
// completes the forget.
const ForgetPath = StateDir + "/forget.json"

// A ForgetPlan is the content of [ForgetPath].
type ForgetPlan struct {
	Sessions []string        `json:"sessions"`
	Messages []string        `json:"messages"`
	Titles   []string        `json:"titles"`
	Sources  []forget.Source `json:"sources"`
	Files    []string        `json:"files"` // attachments to delete unless something else refers to them
}

// BeingForgotten returns the plan of the forget in progress, nil if there is
// none.
func (v *View) BeingForgotten() (*ForgetPlan, error) {
	data, err := ReadRegular(v.Root, ForgetPath)
	if err != nil || data == nil {
		return nil, err
	}
	plan := &ForgetPlan{}
	if err := json.Unmarshal(data, plan); err != nil {
		return nil, &session.DamageError{Path: ForgetPath, Problem: err.Error()}
	}
	return plan, nil
}
