// Package explore is about explorations: several ways to go about something, tried side
// by side from one message, each in a conversation and a folder of its own.
//
// What decides is data in, data out: [recognize.Reply] finds the ways that a reply names,
// [Adjust] brings in what was learned from those tried before, a [Config] limits how many
// are tried, an [Exploration] is a state machine that says which are tried when, and
// [Evaluate] judges what came of them. [Run], [Conclude] and [Adopt] carry that out in a
// workspace, where explorations/ID.json is an Exploration as it is at the moment. No
// message is ever rewritten, and no head moves but by Adopt.
//
// A confidence is a number from 0 to 1. What is none, as NaN or 85, counts as not said,
// and one that nobody said counts as [neutral] wherever one is compared.
package explore

import "math"

// neutral is the confidence of who said none.
const neutral = 0.5

// confidence returns the confidence that p says, and whether it says one.
func confidence(p *float64) (c float64, said bool) {
	if p == nil || !unit(*p) {
		return neutral, false
	}
	return *p, true
}

// unit reports whether f is from 0 to 1.
func unit(f float64) bool { return !math.IsNaN(f) && f >= 0 && f <= 1 }
