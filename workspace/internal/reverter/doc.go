// Package reverter undoes and redoes operations.
//
// An undo is an operation itself. It restores the state before an operation from the log
// and the trash, and only if the files are as that operation left them, so that newer
// changes are never lost. A group is undone completely, newest operation first, or not at
// all if one of its files was changed since. An operation whose files were purged cannot be
// undone.
package reverter
