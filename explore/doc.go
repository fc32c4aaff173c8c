// Package explore tries several strategies side by side from one message, each in a
// conversation and a folder of its own, and evaluates what they achieve.
//
// An [Explorer] has a method for everything that a user does with explorations, so that a
// front end only reads a [Request] and prints an [Exploration]. [Explorer.Plan] finds the
// settings in force and ranks the strategies by past outcomes; [Explorer.Run] tries and
// evaluates them; [Explorer.Resume], [Explorer.Evaluate], [Explorer.Adopt],
// [Explorer.Cancel] and [Explorer.Remove] work on the exploration after that.
//
// # What it stores
//
// Section 22 of docs/format.md specifies it:
//
//   - explorations/ID.json is an [Exploration] (22.1). It is written whole before a branch
//     begins and after one ends (22.3), so that it always says how far the exploration is.
//   - The conversation of a branch is a session of kind branch that begins at the explored
//     message, or at the result of the branch above. Its result is a message with the id of
//     the branch, written before the file has the branch as completed (22.6).
//   - The outcome is one message below the explored one (22.6).
//   - .bough/learnings.jsonl has a [Learning] for each branch that was tried (22.7).
//   - .bough/explorations/ID has the lock of the process that carries out or changes the
//     exploration, and the request to cancel it (22.5).
//   - The folders of the branches are outside of the workspace, and removed when no branch
//     begins with their content any more.
//
// Every id is fixed before the write that needs it, so that each write can be repeated:
// after a crash nothing is there twice, and what ended does not run again.
//
// # What it never does
//
// It changes no message. It moves no head unless [Explorer.Adopt] or
// [Explorer.AdoptOutcome] asks for it. It runs no command that the workspace stores without
// [Explorer.Approve]. It removes no conversation unless [Explorer.Remove] asks for it.
//
// # Confidence
//
// A confidence is a number from 0 to 1. A value outside of that, as NaN or 85, is ignored. A
// branch without a confidence counts as one with 0.5.
package explore

import "math"

// neutral is the confidence where none is given.
const neutral = 0.5

// confidence returns the confidence at p and true, or neutral and false if p has none.
func confidence(p *float64) (c float64, ok bool) {
	if p == nil || !unit(*p) {
		return neutral, false
	}
	return *p, true
}

// unit reports whether f is from 0 to 1.
func unit(f float64) bool { return !math.IsNaN(f) && f >= 0 && f <= 1 }
