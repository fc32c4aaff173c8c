// Package times parses and formats the times of transcripts, and generates
// times for messages that have none.
package times

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Parse parses a time in the form of RFC 3339. It returns zero for anything
// else.
func Parse(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Of parses a time as programs write it into JSON: seconds since 1970, or a
// text in RFC 3339. It returns zero for anything else.
func Of(v gjson.Result) time.Time {
	switch v.Type {
	case gjson.Number:
		if v.Num <= 0 || v.Num > 1e11 || math.IsNaN(v.Num) {
			return time.Time{}
		}
		return time.UnixMicro(int64(math.Round(v.Num * 1e6))).UTC()
	case gjson.String:
		if t := Parse(v.Str); !t.IsZero() {
			return t.UTC()
		}
		t, _ := time.Parse("2006-01-02T15:04:05.999999999", v.Str)
		return t
	}
	return time.Time{}
}

// Seconds formats a time as seconds since 1970, null if it is zero.
func Seconds(t time.Time) json.RawMessage {
	if t.IsZero() {
		return json.RawMessage("null")
	}
	return strconv.AppendFloat(nil, float64(t.UnixMicro())/1e6, 'f', -1, 64)
}

// Milliseconds parses a number of milliseconds since 1970. It returns zero for
// anything else.
func Milliseconds(v gjson.Result) time.Time {
	if v.Type != gjson.Number || v.Num < 1 || v.Num > 1<<52 {
		return time.Time{}
	}
	return time.UnixMilli(int64(v.Num)).UTC()
}

// A Clock generates increasing times for written records.
type Clock struct{ Now, Last time.Time }

// Time returns the time of m, or the next one if it has none.
func (c *Clock) Time(m *transcript.Message) time.Time {
	switch {
	case !m.Time.IsZero():
		c.Last = m.Time
	case c.Last.IsZero():
		c.Last = c.Now
	default:
		c.Last = c.Last.Add(time.Millisecond)
	}
	return c.Last
}

// Note records the time of a message that is written unchanged.
func (c *Clock) Note(m *transcript.Message) {
	if !m.Time.IsZero() {
		c.Last = m.Time
	}
}

// Rising returns times for messages, each at least a millisecond after the one
// before: their own, where possible.
func Rising(messages []*transcript.Message, now time.Time) []time.Time {
	times := make([]time.Time, len(messages))
	next := now
	for i := len(messages) - 1; i >= 0; i-- {
		if next = next.Add(-time.Millisecond); !messages[i].Time.IsZero() {
			next = messages[i].Time
		}
		times[i] = next.Truncate(time.Millisecond)
	}
	for i := range times {
		if i > 0 && !times[i].After(times[i-1]) {
			times[i] = times[i-1].Add(time.Millisecond)
		}
	}
	return times
}

// ISO returns a time as JavaScript writes it, in milliseconds.
func ISO(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ISOMicro returns a time as web services write it, in microseconds.
func ISOMicro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }
