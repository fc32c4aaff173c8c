// Package history has operations as the log, undo and redo of a workspace return them, and
// the options of these. The package does not access the log, .bough/operations.jsonl.
package history
