package plural_test

import (
	"testing"

	"github.com/bough-dev/bough/internal/plural"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{0, "session", "0 sessions"}, {1, "session", "1 session"}, {2, "branch", "2 branches"}, {1, "branch", "1 branch"}, {3, "alias", "3 aliases"}, {-1, "day", "-1 days"}, {2, "copy", "2 copies"}, {1, "strategy", "1 strategy"},
	} {
		if got := plural.Of(c.n, c.noun); got != c.want {
			t.Errorf("Of(%d, %q) = %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -100: "-100", 1234567: "1,234,567"} {
		if got := plural.Number(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
