// Package ui shows the conversations of a workspace on a terminal, and changes them: the tree at
// the left, a conversation at the right, and below them what can be done.
//
// The model is pure: Update takes a message and returns a command, and the view depends on the
// state alone. Commands, in the files load.go and change.go, call the workspace. All text of
// files is made safe to print when it is rendered.
package ui
