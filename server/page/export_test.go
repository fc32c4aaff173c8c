package page

import (
	"context"
	"maps"
	"slices"
)

// MaxForm is the maximum size of a form.
const MaxForm = maxForm

// Occupy begins turns of the page until it accepts no more, and returns how many, and a
// function that ends them.
func (p *Page) Occupy() (n int, end func()) {
	over := make(chan struct{})
	for p.turns.run(func(context.Context) { <-over }) {
		n++
	}
	return n, func() {
		close(over)
		p.turns.running.Wait()
	}
}

// Actions returns the names of the verbs that the page may call.
func Actions() []string { return slices.Sorted(maps.Keys(actions())) }
