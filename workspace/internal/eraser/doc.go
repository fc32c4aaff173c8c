// Package eraser permanently deletes a forgotten conversation, and the content purged from the
// trash.
//
// It deletes files, and the text of deleted sessions in the log, bookmarks, explorations,
// learnings, tasks, agents and the records of imports and exports. Ids are kept, so that an
// import skips the sources and undo can explain what was deleted. A forget consists of a
// plan in .bough/forget.json and steps that can be repeated; [CompleteForget] executes
// them after an interruption. Nothing in this package can be undone.
package eraser
