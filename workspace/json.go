package workspace

import (
	"github.com/bough-dev/bough/internal/rawjson"
)

// MarshalJSON implements [json.Marshaler].
func (e Entry) MarshalJSON() ([]byte, error) { return rawjson.Answer(e), nil }

// MarshalJSON implements [json.Marshaler].
func (s Snapshot) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// MarshalJSON implements [json.Marshaler].
func (e TreeEntry) MarshalJSON() ([]byte, error) { return rawjson.Answer(e), nil }

// MarshalJSON implements [json.Marshaler].
func (l Leaf) MarshalJSON() ([]byte, error) { return rawjson.Answer(l), nil }

// MarshalJSON implements [json.Marshaler].
func (r StraightRun) MarshalJSON() ([]byte, error) { return rawjson.Answer(r), nil }

// MarshalJSON implements [json.Marshaler].
func (p PruneDecision) MarshalJSON() ([]byte, error) { return rawjson.Answer(p), nil }
