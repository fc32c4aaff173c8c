// Command bough-models has the models and tools for bough whose libraries are large.
// Bough starts it when it needs them; package agent/model/pipe says how they talk. It is not for
// people to call.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
