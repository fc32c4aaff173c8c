// Package sessions accesses the folder with the session files of a workspace:
// it opens, reads and writes them, and caches their outlines. Package session
// decodes and encodes them.
package sessions
