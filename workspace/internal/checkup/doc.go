// Package checkup examines every file of a workspace and repairs what can be repaired
// without loss. It implements the verb doctor.
//
// An examination without repairs writes nothing, not even the cache. A repair keeps the
// replaced file in the trash, and skips a file that another program may still be writing.
// The package also merges the conflict copies that file-synchronization programs create
// beside sessions. Package doctor defines the kinds of problems.
package checkup
