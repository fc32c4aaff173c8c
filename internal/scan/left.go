package scan

import (
	"encoding/json"
	"unicode/utf8"
)

// A Left is a path that a state does not hold.
type Left struct {
	Path  string `json:"path"` // names with slashes between them; any bytes
	Why   Reason `json:"why"`
	Files int    `json:"files"` // number of files, 0 if unknown
	Bytes int64  `json:"bytes"` // their size, 0 if unknown
}

type plainLeft Left

// leftJSON is a Left in JSON, which cannot have bytes that are not valid UTF-8 in a text.
type leftJSON struct {
	plainLeft
	PathBytes []byte `json:"path_bytes,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (l Left) MarshalJSON() ([]byte, error) {
	v := leftJSON{plainLeft: plainLeft(l)}
	if !utf8.ValidString(l.Path) {
		v.PathBytes = []byte(l.Path)
	}
	return json.Marshal(v)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (l *Left) UnmarshalJSON(data []byte) error {
	var v leftJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if *l = Left(v.plainLeft); len(v.PathBytes) > 0 {
		l.Path = string(v.PathBytes)
	}
	return nil
}
