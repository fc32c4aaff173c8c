// Package checkup examines every file of a workspace and repairs what can be repaired
// without losing anything: the verb doctor.
//
// An examination without a repair writes nothing, not even the cache. A repair keeps the
// replaced file in the trash, and leaves a file alone that another program may still be
// writing. It also merges the conflict copies that programs which synchronize folders leave
// beside sessions. Package doctor has the kinds of problems.
package checkup
