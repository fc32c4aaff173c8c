package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Retention says how long automatic checkpoints are kept: all of them for a
// while, then one of every few, and at last none. The zero value is the default,
// and a negative field sets no limit.
type Retention struct {
	// KeepAll is how long all are kept. Zero means 24 hours, negative as long as
	// MaxAge allows.
	KeepAll time.Duration

	// EveryNth is of how many one is kept after that. Zero means 10; 1 and
	// negative mean that all are.
	EveryNth int

	// MaxAge is how long any is kept. Zero means 30 days, negative for ever.
	MaxAge time.Duration

	// Most is how many are kept in all, the newest ones. Zero means 1,000,
	// negative any number.
	Most int
}

// A Taken is a checkpoint that was taken of a conversation.
type Taken struct {
	ID      string
	Line    string // the conversation, as the id of its first file
	Created time.Time
	Auto    bool // nobody asked for it by name
}

// A Verdict says whether a checkpoint is kept, and why.
type Verdict struct {
	ID     string
	Keep   bool
	Reason string // for a person
}

// Apply decides which checkpoints are kept at the time now. It returns a verdict
// for each of list, in that order. The ids differ.
//
// Those with names are kept for ever, and do not count. The newest automatic one
// is always kept, and so is, as long as any, the newest of each conversation.
//
// What was kept once as one of every few must not be counted again by the next
// run, to which the others are gone: each run would keep a tenth of a tenth. No
// rule that looks at what stands beside a checkpoint can tell the two apart. So
// the checksum of the id decides, which nothing changes: one of every ten on
// average, and the same ones for ever.
//
// Nor must time alone bring back what an earlier run would have removed, as it
// would where others are thinned out and make room. So what is too many is
// counted as of the newest checkpoint, and not as of now.
//
// Clocks are wrong at times. A checkpoint from the future is kept as one of this
// moment, and counts among the newest.
func (r Retention) Apply(list []Taken, now time.Time) []Verdict {
	r = r.filled()
	verdicts := make([]Verdict, len(list))
	var order []int // of the automatic ones, newest first
	for i, t := range list {
		if verdicts[i] = (Verdict{t.ID, true, "it has a name"}); t.Auto {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(list[j].Created.Compare(list[i].Created), cmp.Compare(list[j].ID, list[i].ID))
	})
	asOf := now
	if n := slices.IndexFunc(order, func(i int) bool { return !list[i].Created.After(now) }); n >= 0 {
		asOf = list[order[n]].Created
	}
	counted := 0
	lines := map[string]bool{}
	for n, i := range order {
		t := list[i]
		first := n == 0
		firstOfLine := !lines[t.Line]
		lines[t.Line] = true
		if keep, _ := r.judge(t, asOf, first, firstOfLine); keep {
			counted++
		}
		v := &verdicts[i]
		v.Keep, v.Reason = r.judge(t, now, first, firstOfLine)
		if v.Keep && r.Most > 0 && counted > r.Most {
			v.Keep, v.Reason = false, "more than "+thousands(r.Most)
		}
	}
	return verdicts
}

// filled returns r with the defaults where it has zeros.
func (r Retention) filled() Retention {
	const day = 24 * time.Hour
	return Retention{
		KeepAll:  cmp.Or(r.KeepAll, day),
		EveryNth: cmp.Or(r.EveryNth, 10),
		MaxAge:   cmp.Or(r.MaxAge, 30*day),
		Most:     cmp.Or(r.Most, 1000),
	}
}

// judge decides about a checkpoint as if there were any room. What it does not
// keep it does not keep at any later time.
func (r Retention) judge(t Taken, at time.Time, newest, newestOfLine bool) (keep bool, reason string) {
	older := func(limit time.Duration) bool { return limit > 0 && at.Sub(t.Created) > limit }
	switch {
	case newest:
		return true, "it is the newest"
	case older(r.MaxAge):
		return false, "older than " + span(r.MaxAge)
	case r.KeepAll < 0 || r.EveryNth < 2:
		return true, "none is thinned out"
	case !older(r.KeepAll):
		return true, "not older than " + span(r.KeepAll)
	case newestOfLine:
		return true, "the newest of its conversation"
	case crc32c.Of([]byte(t.ID))%uint32(r.EveryNth) == 0:
		return true, fmt.Sprintf("one of every %d", r.EveryNth)
	}
	return false, fmt.Sprintf("older than %s, and not one of every %d", span(r.KeepAll), r.EveryNth)
}

// span says how long d is: 1 day, 36 hours, 1m30s.
func span(d time.Duration) string {
	const hour, day = time.Hour, 24 * time.Hour
	count := func(n time.Duration, unit string) string {
		if n != 1 {
			unit += "s"
		}
		return thousands(int(n)) + " " + unit
	}
	switch {
	case d%day == 0:
		return count(d/day, "day")
	case d%hour == 0:
		return count(d/hour, "hour")
	}
	return d.String()
}

// thousands returns n, which is not negative, in groups of three digits.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
