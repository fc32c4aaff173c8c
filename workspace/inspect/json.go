package inspect

import (
	"github.com/bough-dev/bough/internal/rawjson"
)

// MarshalJSON implements [json.Marshaler].
func (c Conversation) MarshalJSON() ([]byte, error) { return rawjson.Answer(c), nil }

// MarshalJSON implements [json.Marshaler].
func (m Message) MarshalJSON() ([]byte, error) { return rawjson.Answer(m), nil }

// MarshalJSON implements [json.Marshaler].
func (e End) MarshalJSON() ([]byte, error) { return rawjson.Answer(e), nil }
