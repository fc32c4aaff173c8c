package convert

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/tidwall/gjson"
)

// parseTime returns a time in the form of RFC 3339, zero for anything else.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// timeOf returns a time as programs write it into JSON: seconds since 1970, or a text in
// RFC 3339. It is zero if it is neither.
func timeOf(v gjson.Result) time.Time {
	switch v.Type {
	case gjson.Number:
		if v.Num <= 0 || v.Num > 1e11 || math.IsNaN(v.Num) {
			return time.Time{}
		}
		return time.UnixMicro(int64(math.Round(v.Num * 1e6))).UTC()
	case gjson.String:
		if t := parseTime(v.Str); !t.IsZero() {
			return t.UTC()
		}
		t, _ := time.Parse("2006-01-02T15:04:05.999999999", v.Str)
		return t
	}
	return time.Time{}
}

// seconds returns a time as seconds since 1970, null if it is zero.
func seconds(t time.Time) json.RawMessage {
	if t.IsZero() {
		return json.RawMessage("null")
	}
	return strconv.AppendFloat(nil, float64(t.UnixMicro())/1e6, 'f', -1, 64)
}

// milliseconds returns the time that is a number of milliseconds since 1970, zero for
// none.
func milliseconds(v gjson.Result) time.Time {
	if v.Type != gjson.Number || v.Num < 1 || v.Num > 1<<52 {
		return time.Time{}
	}
	return time.UnixMilli(int64(v.Num)).UTC()
}

// A clock gives times to what is written, each after the one before.
type clock struct{ now, last time.Time }

// of returns the time of m, or the next one if it has none.
func (c *clock) of(m *Message) time.Time {
	switch {
	case !m.Time.IsZero():
		c.last = m.Time
	case c.last.IsZero():
		c.last = c.now
	default:
		c.last = c.last.Add(time.Millisecond)
	}
	return c.last
}

// passed takes note of a message that is written as it is.
func (c *clock) passed(m *Message) {
	if !m.Time.IsZero() {
		c.last = m.Time
	}
}

// risingTimes returns times for messages, each at least a millisecond after the one before:
// their own, as far as that can be.
func risingTimes(messages []*Message, now time.Time) []time.Time {
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

// isoTime returns a time as JavaScript writes it, in milliseconds.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// isoMicro returns a time as web services write it, in microseconds.
func isoMicro(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00") }
