package main

import (
	"time"

	"github.com/bough-dev/bough/internal/when"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// timeHelp names forms of a time or an age, for help and hints.
const timeHelp = "2026-02-03, 2026-02, yesterday, 7d or '2 weeks ago'"

// timeFlag returns the start of the time in a flag, the zero time if it is not set.
func timeFlag(c *cli.Context, name string, now time.Time) (time.Time, error) {
	start, _, err := spanFlag(c, name, now)
	return start, err
}

// timeEndFlag returns the end of the time in a flag, the zero time if it is not set.
func timeEndFlag(c *cli.Context, name string, now time.Time) (time.Time, error) {
	_, end, err := spanFlag(c, name, now)
	return end, err
}

// spanFlag returns the start and the end of the time in a flag, zero times if it is not
// set.
func spanFlag(c *cli.Context, name string, now time.Time) (start, end time.Time, err error) {
	if !c.IsSet(name) {
		return start, end, nil
	}
	if start, end, err = when.Span(c.String(name), now); err != nil {
		return start, end, badTime(name, err)
	}
	return start, end, nil
}

// ageFlag returns the age in a flag, zero if it is not set.
func ageFlag(c *cli.Context, name string, now time.Time) (time.Duration, error) {
	if !c.IsSet(name) {
		return 0, nil
	}
	age, err := when.ParseAge(c.String(name), now)
	if err != nil {
		return 0, badTime(name, err)
	}
	return age, nil
}

func badTime(flag string, err error) *fault.Error {
	e := usageError("--%s: %s", flag, err)
	e.Hint = "a time is a date or an age: " + timeHelp
	return e
}
