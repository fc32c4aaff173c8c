// Package trash describes the files in the trash of a workspace, as lists and purges return
// them. The package itself accesses no files.
package trash
