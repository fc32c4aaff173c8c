package workspace

import "github.com/bough-dev/bough/internal/rawjson"

// The results whose JSON encoding/json would not write as the contract has it: a nil list
// is []. A type that embeds one of them has a method of its own, else it would have that
// of the embedded one.

// MarshalJSON implements [json.Marshaler].
func (r Imported) MarshalJSON() ([]byte, error) { return rawjson.Answer(r), nil }

// MarshalJSON implements [json.Marshaler].
func (s AgentSnapshot) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }
