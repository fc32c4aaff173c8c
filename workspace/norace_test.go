//go:build !race

package workspace_test

// underRace reports whether the race detector is on, which makes everything ten times
// slower.
const underRace = false
