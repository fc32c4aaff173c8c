// Package eraser deletes text for good: a forgotten conversation, and what is purged from
// the trash.
//
// It deletes files, and the text of deleted sessions in the log, bookmarks, explorations,
// learnings, tasks, agents and the records of imports and exports. Ids stay, so that an
// import skips the sources and undo explains what is gone. A forget is a plan in
// .bough/forget.json and steps that can be repeated: [CompleteForget] carries them out
// after an interruption. Nothing here can be undone.
package eraser
