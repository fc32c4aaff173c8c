// Package searcher finds messages in all sessions of a workspace.
//
// It reads the files in parallel, the last active conversation first, and stops when enough
// conversations matched. The bytes of a file and of a message are tested for the words
// before anything is decoded. A message that a snapshot or a continuation repeats is found
// once, where it began. There is no index of words: the files are read by each search.
package searcher
