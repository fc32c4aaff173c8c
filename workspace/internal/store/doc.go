// Package store accesses the files of a workspace. It is the only package that acquires the
// lock of a workspace, and the only package that commits.
//
// A [View] is a consistent state of a workspace, for reading: the index, the outlines of the
// session files read so far, and functions that resolve a REF, an id, a title or a label. It
// writes nothing but the cache in .bough/cache. [Read] calls a function with a view, without
// the lock.
//
// A [Tx] is a transaction: a view, under the lock, with a batch of staged files and the
// operation for the log. [Update], [Create], [Locked] and [CreateGroup] complete
// interrupted operations, call a function with a Tx, and commit the staged changes: the
// line of the log, then the renames of the batch in the order of staging, then the index.
// If another program changes a file meanwhile, they call the function again and return the
// result of the last call. [Store.WithLock] is for files that are not part of an operation.
//
// The package implements no verbs. It repairs no damaged session, and permanently deletes
// only temporary files and log lines of operations that did not take effect. docs/format.md
// specifies the files, docs/durability.md the guarantees.
package store
