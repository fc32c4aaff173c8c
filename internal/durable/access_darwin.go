package durable

// grants says that attributes may say who has access to a file: the lists of access
// rights of macOS are none.
const grants = false

// copied reports whether an attribute of a file belongs to its replacement.
func copied(name string) bool { return name != "com.apple.provenance" }
