package durable

import "strings"

// grants reports whether attributes can grant access to a file.
const grants = true

// copied reports whether an attribute is copied to the replacement of a file: not
// if the kernel derives it from the content, and not if it is a capability.
func copied(name string) bool {
	switch name {
	case "security.evm", "security.ima", "security.capability":
		return false
	}
	return !strings.HasPrefix(name, "trusted.overlay.")
}
