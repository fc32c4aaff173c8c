// Package explore runs explorations: it tries several strategies from one
// message side by side, each in a conversation and a folder of its own, and
// evaluates their results.
//
// An [Explorer] has a method for each command. [Explorer.Plan] merges the
// settings and ranks the strategies by past outcomes; [Explorer.Run] tries and
// evaluates them. [Explorer.Resume], [Explorer.Evaluate], [Explorer.Adopt],
// [Explorer.Cancel] and [Explorer.Remove] operate on an existing exploration. A
// front end only fills in a [Request] and prints an [Exploration].
//
// # Files
//
// Section 22 of docs/format.md specifies the files; numbers in parentheses in
// this package refer to its clauses.
//
//   - explorations/ID.json is an [Exploration] (22.1). It is rewritten before a branch
//     begins and after it ends (22.3), so it always has the current state.
//   - The conversation of a branch is a session of kind branch that begins at the explored
//     message, or at the result of the parent branch. Its result is a message with the id of
//     the branch, written before the branch is recorded as completed (22.6).
//   - The outcome is one message below the explored one (22.6).
//   - .bough/learnings.jsonl has a [Learning] for each branch that was tried (22.7).
//   - .bough/explorations/ID has the lock of the process that runs or changes the
//     exploration, and the request to cancel it (22.5).
//   - The folders of the branches are outside of the workspace. They are removed when no
//     branch can begin with their content any more.
//
// Every id is fixed before the write that uses it, so each write can be
// repeated: after a crash nothing is duplicated, and no completed branch runs
// again.
//
// # Guarantees
//
// The package changes no existing message. A head moves only in [Explorer.Adopt] and
// [Explorer.AdoptFiles], or if [Explorer.AdoptOutcome] is set. A command that is stored in the
// workspace runs only if [Explorer.Approve] allows it. Conversations are removed only by
// [Explorer.Remove].
//
// # Confidence
//
// A confidence is a number from 0 to 1. Any other value, such as NaN or 85, is
// ignored. A branch without a confidence is rated 0.5.
package explore

import "math"

// neutral is the confidence of a branch that has none.
const neutral = 0.5

// confidence returns the confidence at p and true, or neutral and false if p is
// nil or invalid.
func confidence(p *float64) (c float64, ok bool) {
	if p == nil || !unit(*p) {
		return neutral, false
	}
	return *p, true
}

// unit reports whether f is from 0 to 1.
func unit(f float64) bool { return !math.IsNaN(f) && f >= 0 && f <= 1 }
