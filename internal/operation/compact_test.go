package operation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/operation"
)

// TestCompact: an operation keeps its changes if it is recent or one of the newest;
// others keep their line and number; a group is not divided; automatic operations
// do not count.
func TestCompact(t *testing.T) {
	const before, now = "2026-05-20", "2026-05-30"
	r := operation.Retention{Operations: 2, Every: 2}
	for _, c := range []struct {
		ops  string // the day, with a for an automatic one, x for another program's, gN for a group
		want string // the numbers, in brackets those without changes; "" if nothing is due
	}{
		{"01 02 03", ""},
		{"01 02 03 04", "[1] [2] 3 4"},
		{"01 02 03 04 05", "[1] [2] [3] 4 5"},
		{"25 26 27 28 29", ""},
		{"01 02 25 26 27 28", "[1] [2] 3 4 5 6"},
		{"01 02a 03x 04 05", "[1] 4 5"},
		{"01 02 03 04a 05x 06a 07", "[1] [2] 3 4 5 6 7"},
		{"01 02 03 04g3 05", "[1] [2] 3 4 5"},
		{"01 02 03 04g2 05", ""},
		{"01 02 99 04 05 06", "[1] [2] 3 [4] 5 6"},
	} {
		var text strings.Builder
		for i, word := range strings.Fields(c.ops) {
			o := operation.Operation{Seq: operation.Seq(i + 1), Time: "2026-05-" + word[:2], Verb: "append", Changes: make([]operation.Change, 1)}
			switch {
			case strings.HasSuffix(word, "a"):
				o.Auto = true
			case strings.HasSuffix(word, "x"):
				o.Verb = operation.External
			case strings.Contains(word, "g"):
				fmt.Sscanf(word[2:], "g%d", &o.Group)
			}
			text.Write(o.Encode())
		}
		text.WriteString("\n")
		log := read(t, text.String())
		h, due, err := log.Horizon(r, before, now)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		if due {
			var b strings.Builder
			if err := log.Compact(&b, h); err != nil {
				t.Fatal(err)
			}
			for line, err := range read(t, b.String()).From(0) {
				switch {
				case err != nil || !line.Settled:
					t.Errorf("%q: %+v, %v", c.ops, line, err)
				case len(line.Changes) == 0:
					list = append(list, fmt.Sprintf("[%d]", line.Seq))
				default:
					list = append(list, fmt.Sprint(line.Seq))
				}
			}
			if _, due, err := read(t, b.String()).Horizon(r, before, now); err != nil || due {
				t.Errorf("%q is compacted and due again, %v", c.ops, err)
			}
		}
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("%q: the log is %s, want %s", c.ops, got, c.want)
		}
	}
	if d := (operation.Retention{}).WithDefaults(); d.Age != 30*24*time.Hour || d.Operations != 10_000 {
		t.Errorf("the defaults are %+v", d)
	}
}
