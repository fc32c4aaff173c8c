// Package forget has the options and results of forgetting a conversation, that
// is, of deleting it permanently. The package itself deletes nothing.
package forget
