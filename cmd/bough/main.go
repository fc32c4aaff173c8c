// Command bough checkpoints, branches and restores AI conversations kept as
// plain JSON files. 'bough help' lists its verbs.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
