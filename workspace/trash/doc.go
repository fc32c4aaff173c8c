// Package trash has the files in the trash of a workspace, as lists and purges return them.
// The package accesses no files.
package trash
