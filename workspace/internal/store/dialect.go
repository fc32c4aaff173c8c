package store

import (
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/session"
)

// ParseDialect returns the dialect with a name.
func ParseDialect(name string) (session.Dialect, error) {
	for _, d := range []session.Dialect{session.Bough, session.Penguin} {
		if d.String() == name {
			return d, nil
		}
	}
	return 0, lookup.Word("dialect", name, session.Bough.String(), session.Penguin.String())
}
