// Package bough holds nothing: the library is in its folders, of which
// workspace is the front door, and the command is cmd/bough.
package bough
