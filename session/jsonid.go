package session

import (
	"encoding/json"
)

// An ID is a session or message id. "" means none and is null in JSON.
type ID string

// MarshalJSON implements [json.Marshaler].
func (id ID) MarshalJSON() ([]byte, error) {
	if id == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(id))
}
