//go:build race

package workspace_test

const underRace = true
