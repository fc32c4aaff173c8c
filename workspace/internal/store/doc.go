// Package store accesses the files of a workspace. It is the only package that takes the
// lock of a workspace, and the only one that commits.
//
// A [View] is a workspace at one moment: the index, the outlines of session files as far
// as they were read, and the lookups of what a REF, an id, a title or a label refers to. A
// view reads; the one thing that it writes is the cache in .bough/cache. [Read] calls a
// function with a view and takes no lock.
//
// A [Tx] is a change: a view, under the lock, with a batch of staged files and the
// operation for the log. [Update], [Create], [Locked] and [CreateGroup] complete what an
// interrupted change left, call a function with a Tx, and commit what it staged: the line
// of the log first, then the renames of the batch in the order of staging, then the index.
// If another program changed a file meanwhile, they call the function again, and the result
// of the last call counts. [Store.WithLock] is for files that are no part of an operation.
//
// The package knows no verbs. It repairs no damaged session and deletes nothing for good,
// except temporary files and log lines of changes that did not happen. docs/format.md
// specifies the files, docs/durability.md the promises.
package store
