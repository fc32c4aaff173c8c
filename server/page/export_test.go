package page

import (
	"maps"
	"slices"
)

// Actions returns the names of the verbs that the page may call.
func Actions() []string { return slices.Sorted(maps.Keys(actions())) }
