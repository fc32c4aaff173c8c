// Package search has the options and results of a search for messages. The JSON of the
// results is part of docs/json.md. The package itself reads no files.
package search
