// Package forget has the options and results of forgetting a conversation: deleting it for
// good. The package deletes nothing itself.
package forget
