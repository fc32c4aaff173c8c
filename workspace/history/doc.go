// Package history has the operations of a workspace as the log, undo and redo return them,
// and the choices for these. The log itself is the file .bough/operations.jsonl, which the
// package does not access.
package history
