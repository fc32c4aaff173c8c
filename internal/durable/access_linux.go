package durable

import "strings"

// grants says that attributes may say who has access to a file.
const grants = true

// copied reports whether an attribute of a file belongs to its replacement. Those
// that the kernel derives from the content do not, nor does a capability.
func copied(name string) bool {
	switch name {
	case "security.evm", "security.ima", "security.capability":
		return false
	}
	return !strings.HasPrefix(name, "trusted.overlay.")
}
