package states

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
)

// A Coverage says what a state does not hold, and by which rules. It is the JSON of an object.
type Coverage struct {
	Rules Rules       `json:"rules"`
	Left  []scan.Left `json:"left"`
}

// Rules are those of a state that are not in its tree.
type Rules struct {
	Secrets     bool         `json:"secrets"` // secrets are held
	File        int64        `json:"file"`    // maximum size of a file
	FolderFiles int          `json:"folder_files"`
	FolderBytes int64        `json:"folder_bytes"`
	Sources     []RuleSource `json:"sources"` // files with patterns outside of the folder
	// Deciding are the entries of the folder that the rules depend on and that the tree may
	// lack. States of earlier versions have none.
	Deciding []RuleEntry `json:"deciding,omitempty"`
}

// A RuleEntry is a file or directory of the folder that rules depend on.
type RuleEntry struct {
	Path    string  `json:"path"` // ends in a slash if it is a directory; any bytes
	RawPath []byte  `json:"path_bytes,omitempty"`
	Object  pack.ID `json:"object,omitzero"` // what matters of its content, zero if nothing does
}

// objects returns the contents that the rules name.
func (r *Rules) objects() (list []pack.ID) {
	for _, s := range r.Sources {
		list = append(list, s.Object)
	}
	for _, e := range r.Deciding {
		if e.Object != (pack.ID{}) {
			list = append(list, e.Object)
		}
	}
	return list
}

// A RuleSource is a file with patterns.
type RuleSource struct {
	Name   string  `json:"name"`
	Object pack.ID `json:"object"` // its content
}

// entryOf returns the entry of a file that rules depend on.
func entryOf(s scan.Source) RuleEntry {
	e := RuleEntry{Path: s.Name}
	if len(s.Data) > 0 {
		e.Object = pack.IDOf(s.Data)
	}
	if s.IsDir {
		e.Path += "/"
	}
	if !utf8.ValidString(e.Path) {
		e.RawPath = []byte(e.Path)
	}
	return e
}

// SourcesOf returns the files that the rules of a state are made of, beside those in its tree:
// those outside of the folder, and those in it, whose names are paths. Forgotten ones have no
// Data, and are not among those outside.
func (s *Store) SourcesOf(c *Coverage) (outside, deciding []scan.Source, err error) {
	for _, source := range c.Rules.Sources {
		data, err := s.Get(source.Object)
		if errors.Is(err, ErrForgotten) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		outside = append(outside, scan.Source{Name: source.Name, Data: data})
	}
	for _, e := range c.Rules.Deciding {
		name := e.Path
		if len(e.RawPath) > 0 {
			name = string(e.RawPath)
		}
		source := scan.Source{}
		source.Name, source.IsDir = strings.CutSuffix(name, "/")
		if e.Object != (pack.ID{}) {
			source.Data, err = s.Get(e.Object)
		}
		if err != nil && !errors.Is(err, ErrForgotten) {
			return nil, nil, err
		}
		deciding = append(deciding, source)
	}
	return outside, deciding, nil
}

// CoverageOf returns what a state does not hold.
func (s *Store) CoverageOf(st *State) (*Coverage, error) {
	data, err := s.Get(st.Coverage)
	if err != nil {
		return nil, err
	}
	c := new(Coverage)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("coverage %v: %w", st.Coverage, err)
	}
	return c, nil
}
