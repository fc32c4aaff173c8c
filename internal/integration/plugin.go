package integration

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strings"
)

// marker begins the first line of the files that bough writes as a whole.
const marker = "// Written by bough."

//go:embed opencode.js
var opencodePlugin string

//go:embed pi.ts
var piExtension string

// plugin returns a plugin with the program and the workspace.
func (c Call) plugin(template string) []byte {
	return []byte(strings.NewReplacer(`"@PROGRAM@"`, string(raw(c.Program)), `"@WORKSPACE@"`, string(raw(c.Workspace))).Replace(template))
}

// An Owner is the relation of a file to what bough would write as the whole file.
type Owner string

const (
	Foreign Owner = "foreign" // bough did not write it
	Other   Owner = "other"   // bough wrote it for another workspace
	Edited  Owner = "edited"  // bough wrote it, and it was changed
	Own     Owner = "own"     // bough wrote it, possibly with another path of the program
)

// OwnerOf returns the relation of a file with the content data to want, and the workspace
// that the file names.
func OwnerOf(data, want []byte) (o Owner, workspace string) {
	if !bytes.HasPrefix(data, []byte(marker)) {
		return Foreign, ""
	}
	workspace = constant(data, "workspace")
	if workspace != constant(want, "workspace") {
		return Other, workspace
	}
	if bytes.Equal(withoutProgram(data), withoutProgram(want)) {
		return Own, workspace
	}
	return Edited, workspace
}

// constant returns the value of a constant of a plugin.
func constant(data []byte, name string) (value string) {
	for line := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(line, []byte("const "+name+" = ")); ok {
			json.Unmarshal(bytes.TrimSpace(rest), &value) // "" if it is not a string
			return value
		}
	}
	return ""
}

// withoutProgram returns a plugin without the line with the path of bough.
func withoutProgram(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte("const program = ")) {
			out = append(out, line...)
		}
	}
	return out
}
