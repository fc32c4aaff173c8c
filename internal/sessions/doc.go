// Package sessions is the folder of the session files of a workspace. It opens, reads and
// writes them, and caches their outlines; package session decodes and encodes them.
package sessions
