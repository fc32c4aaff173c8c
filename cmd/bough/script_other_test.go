//go:build !unix

package main

// systemCommands are the script commands that only some systems have.
var systemCommands map[string]scriptCommand
