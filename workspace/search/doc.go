// Package search has the options and results of a search for messages. Results are plain
// data; their JSON is part of docs/json.md. The package reads no files.
package search
