package setup

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/settingsfile"
)

// A Record is what a step of a setup changed. For a settings file, it lets the uninstallation
// restore the file byte for byte, but is not needed for it.
type Record struct {
	Kind      Kind                  `json:"kind"`
	Tool      string                `json:"tool"`
	Workspace string                `json:"workspace"`
	Path      string                `json:"path"`
	Created   bool                  `json:"created"` // the file did not exist
	Splices   []settingsfile.Splice `json:"splices,omitempty"`
	Kept      [][]string            `json:"kept,omitempty"`      // objects and arrays that existed
	Sum       string                `json:"sum"`                 // SHA-256 of the file after it
	Operation operation.Seq         `json:"operation,omitempty"` // of an import
}

var errNowhere = errors.New("the folder for the records of a setup is unknown: there is no home folder")

func sumOf(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// name returns the name of the file of a record.
func (r Record) name() string {
	return sumOf([]byte(strings.Join([]string{string(r.Kind), r.Tool, r.Workspace, r.Path}, "\x00"))) + ".json"
}

// Record returns the record of a step for the workspace, nil if there is none.
func (s Site) Record(kind Kind, tool, path string) *Record {
	return s.read(Record{Kind: kind, Tool: tool, Workspace: s.Call.Workspace, Path: path}.name())
}

// records returns all records.
func (s Site) records() (list []Record) {
	entries, _ := os.ReadDir(s.Records)
	for _, e := range entries {
		if r := s.read(e.Name()); r != nil {
			list = append(list, *r)
		}
	}
	return list
}

// read returns the record in a file, nil if there is none.
func (s Site) read(name string) *Record {
	if s.Records == "" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(s.Records, name))
	r := &Record{}
	if err != nil || json.Unmarshal(data, r) != nil {
		return nil
	}
	return r
}

// Keep writes a record.
func (s Site) Keep(r Record) error {
	if s.Records == "" {
		return errNowhere
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	root, err := durable.MakeRoot(s.Records)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = durable.Replace(root, r.name(), durable.Bytes(append(data, '\n')))
	return err
}

// Drop removes a record.
func (s Site) Drop(r Record) error { return os.Remove(filepath.Join(s.Records, r.name())) }
