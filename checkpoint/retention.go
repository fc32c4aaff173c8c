package checkpoint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Retention is the policy for automatic checkpoints: all are kept for a while, then
// one of every few, and finally none. The zero value is the default, and a negative
// field sets no limit.
type Retention struct {
	// KeepAll is how long all are kept. Zero means 24 hours; a negative value means
	// as long as MaxAge allows.
	KeepAll time.Duration

	// EveryNth is the sampling rate after that: one of every EveryNth is kept. Zero
	// means 10; 1 and negative values keep all.
	EveryNth int

	// MaxAge is the maximum age. Zero means 30 days; a negative value means no
	// maximum.
	MaxAge time.Duration

	// Limit is the maximum number; the newest are kept. Zero means 1,000; a negative
	// value means no limit.
	Limit int
}

// A Taken is an existing checkpoint.
type Taken struct {
	ID      string
	Line    string // the conversation, as the id of its first file
	Created time.Time
	Auto    bool // an automatic checkpoint
}

// A Verdict is the decision about a checkpoint, with its reason.
type Verdict struct {
	ID     string
	Keep   bool
	Reason string // in words, for a person
}

// Apply decides which checkpoints are kept at the time now. It returns a verdict
// for each of list, in that order. The ids must be distinct.
//
// Named checkpoints are always kept and do not count. The newest automatic
// checkpoint is always kept; the newest of each conversation is kept up to MaxAge.
//
// A checkpoint that was kept as one of every EveryNth must not be sampled again by
// the next run, when the others are gone: each run would keep a tenth of a tenth.
// No rule that depends on the other checkpoints can avoid this. So the checksum of
// the id decides, which never changes: on average one of EveryNth, and always the
// same ones.
//
// Nor must the passage of time alone restore what an earlier run would have
// removed, which could happen when sampling makes room for others. So the limit
// Limit is applied as of the newest checkpoint's time, not as of now.
//
// Clocks can be wrong. A checkpoint from the future is treated as one from now, and
// counts among the newest.
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
		if v.Keep && r.Limit > 0 && counted > r.Limit {
			v.Keep, v.Reason = false, "more than "+thousands(r.Limit)
		}
	}
	return verdicts
}

// filled returns r with defaults in place of zeros.
func (r Retention) filled() Retention {
	const day = 24 * time.Hour
	return Retention{
		KeepAll:  cmp.Or(r.KeepAll, day),
		EveryNth: cmp.Or(r.EveryNth, 10),
		MaxAge:   cmp.Or(r.MaxAge, 30*day),
		Limit:    cmp.Or(r.Limit, 1000),
	}
}

// judge decides about a checkpoint without regard to Limit. A checkpoint that it
// does not keep is not kept at any later time either.
func (r Retention) judge(t Taken, at time.Time, newest, newestOfLine bool) (keep bool, reason string) {
	older := func(limit time.Duration) bool { return limit > 0 && at.Sub(t.Created) > limit }
	switch {
	case newest:
		return true, "it is the newest"
	case older(r.MaxAge):
		return false, "older than " + span(r.MaxAge)
	case r.KeepAll < 0 || r.EveryNth < 2:
		return true, "all are kept"
	case !older(r.KeepAll):
		return true, "not older than " + span(r.KeepAll)
	case newestOfLine:
		return true, "the newest of its conversation"
	case crc32c.Of([]byte(t.ID))%uint32(r.EveryNth) == 0:
		return true, fmt.Sprintf("one of every %d", r.EveryNth)
	}
	return false, fmt.Sprintf("older than %s, and not one of every %d", span(r.KeepAll), r.EveryNth)
}

// span formats d: 1 day, 36 hours, 1m30s.
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

// thousands formats n, which must not be negative, with digits in groups of three.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
