// Package explore decides about explorations: several ways to go about something,
// tried side by side from one message. Everything in it is data in, data out.
//
// [Recognize] finds the ways that a reply names, [Adjust] brings in what was learned
// from those tried before, a [Config] limits how many are tried, and [Evaluate] judges
// what came of them.
//
// A confidence is a number from 0 to 1. What is none, as NaN or 85, counts as not said,
// and one that nobody said counts as [Neutral] wherever one is compared.
package explore

import "math"

// Neutral is the confidence of who said none.
const Neutral = 0.5

// confidence returns the confidence that p says, and whether it says one.
func confidence(p *float64) (c float64, said bool) {
	if p == nil || !unit(*p) {
		return Neutral, false
	}
	return *p, true
}

// unit reports whether f is from 0 to 1.
func unit(f float64) bool { return !math.IsNaN(f) && f >= 0 && f <= 1 }
