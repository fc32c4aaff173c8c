package durable

// grants reports whether attributes can grant access to a file: access control
// lists are not attributes on macOS.
const grants = false

// copied reports whether an attribute is copied to the replacement of a file.
func copied(name string) bool { return name != "com.apple.provenance" }
