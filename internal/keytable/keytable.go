// Package keytable has the keys of bough's pages, in the browser and in the terminal.
package keytable

import (
	_ "embed"
	"encoding/json"
)

// A Key is a key of a page.
type Key struct {
	Key  string `json:"key"`  // a character, or a name such as Ctrl+K
	Act  string `json:"act"`  // the name of what it does
	What string `json:"what"` // what it does, for a person
	// Terminal is true if only the page in the terminal has the key.
	Terminal bool `json:"terminal,omitempty"`
}

//go:embed keys.json
var table string

// JSON returns the table as the browser gets it.
func JSON() []byte { return []byte(table) }

// Keys returns the table.
func Keys() []Key {
	var keys []Key
	if err := json.Unmarshal([]byte(table), &keys); err != nil {
		panic("keytable: " + err.Error()) // the file is part of the program
	}
	return keys
}
