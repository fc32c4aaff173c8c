// Package searcher finds messages in all sessions of a workspace.
//
// It reads the files concurrently, the last active conversation first, and stops when enough
// conversations have matches. It tests the bytes of a file and of a message for the words
// before it decodes anything. A message that a snapshot or a continuation repeats is found
// once, in the conversation where it began. There is no index of words: each search reads
// the files.
package searcher
