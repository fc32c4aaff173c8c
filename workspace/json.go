package workspace

import (
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
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
func (o Operation) MarshalJSON() ([]byte, error) { return rawjson.Answer(o), nil }

// MarshalJSON implements [json.Marshaler].
func (s FoundSession) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// MarshalJSON implements [json.Marshaler].
func (m Match) MarshalJSON() ([]byte, error) { return rawjson.Answer(m), nil }

// MarshalJSON implements [json.Marshaler].
func (p PruneDecision) MarshalJSON() ([]byte, error) { return rawjson.Answer(p), nil }

// MarshalJSON implements [json.Marshaler].
func (t TrashedFile) MarshalJSON() ([]byte, error) { return rawjson.Answer(t), nil }

// instant returns t as in results: in UTC, with microseconds.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// timeOf parses a stored time. It returns zero if s is not a time.
func timeOf(s string) time.Time {
	t, _ := session.ParseTime(s)
	return instant(t)
}
