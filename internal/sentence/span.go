package sentence

import (
	"strconv"
	"time"
)

// Span formats the length of a duration in the largest unit of which it has at least one, such as
// "3 h", "" for less than a minute.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		name string
		time.Duration
	}{{"y", 365 * day}, {"mo", 30 * day}, {"w", 7 * day}, {"d", day}, {"h", time.Hour}, {"min", time.Minute}} {
		if n := int(d.Abs() / unit.Duration); n > 0 {
			return strconv.Itoa(n) + " " + unit.name
		}
	}
	return ""
}
