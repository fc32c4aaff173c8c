//go:build !race

package workspace_test

// underRace says that everything takes ten times as long.
const underRace = false
