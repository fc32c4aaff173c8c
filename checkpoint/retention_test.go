package checkpoint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testsize"
)

const day = 24 * time.Hour

var noon = time.Date(2026, 5, 25, 12, 0, 0, 0, time.UTC)

// auto is an automatic checkpoint of the given age at noon.
func auto(id, line string, age time.Duration) checkpoint.Taken {
	return checkpoint.Taken{ID: id, Line: line, Created: noon.Add(-age), Auto: true}
}

func TestRetention(t *testing.T) {
	list := []checkpoint.Taken{
		{ID: "named", Line: "a", Created: noon.Add(-1000 * day)},
		auto("old", "c", 30*day+1),
		auto("a0", "a", 2*day),
		auto("last", "b", 30*day),
		auto("a5", "a", 2*day), // kept by its checksum
		auto("a1", "a", day),
		auto("a2", "a", day+1),
		auto("now", "a", 0),
	}
	const named, newest = "+ it has a name", "+ it is the newest"
	for _, c := range []struct {
		name string
		r    checkpoint.Retention
		want []string
	}{
		{"the default", checkpoint.Retention{}, []string{
			named,
			"- older than 30 days",
			"- older than 1 day, and not one of every 10",
			"+ the newest of its conversation",
			"+ one of every 10",
			"+ not older than 1 day",
			"- older than 1 day, and not one of every 10",
			newest,
		}},
		{"no limit", checkpoint.Retention{KeepAll: -1, MaxAge: -1, Limit: -1}, []string{
			named,
			"+ all are kept", "+ all are kept", "+ all are kept", "+ all are kept", "+ all are kept", "+ all are kept",
			newest,
		}},
		{"all of them", checkpoint.Retention{EveryNth: 1, MaxAge: 36 * time.Hour}, []string{
			named,
			"- older than 36 hours", "- older than 36 hours", "- older than 36 hours", "- older than 36 hours",
			"+ all are kept", "+ all are kept",
			newest,
		}},
		{"few", checkpoint.Retention{Limit: 3}, []string{
			named,
			"- older than 30 days",
			"- older than 1 day, and not one of every 10",
			"- more than 3",
			"+ one of every 10",
			"+ not older than 1 day",
			"- older than 1 day, and not one of every 10",
			newest,
		}},
		{"one", checkpoint.Retention{MaxAge: time.Minute, Limit: 1}, []string{
			named,
			"- older than 1m0s", "- older than 1m0s", "- older than 1m0s", "- older than 1m0s", "- older than 1m0s", "- older than 1m0s",
			newest,
		}},
	} {
		for i, v := range c.r.Apply(list, noon) {
			got := "- " + v.Reason
			if v.Keep {
				got = "+ " + v.Reason
			}
			if v.ID != list[i].ID || got != c.want[i] {
				t.Errorf("%s: %s %q, want %s %q", c.name, v.ID, got, list[i].ID, c.want[i])
			}
		}
	}
}

// TestRetentionTenth: about one of every ten is kept among those older than a day.
func TestRetentionTenth(t *testing.T) {
	list := []checkpoint.Taken{auto("now", "a", 0)}
	for i := range 5000 {
		id := fmt.Sprintf("session_20260523_%06d_%08x", i, rand.New(rand.NewPCG(1, uint64(i))).Uint32())
		list = append(list, auto(id, "a", 2*day))
	}
	if n := len(kept(checkpoint.Retention{}, list, noon)); n < 400 || n > 600 {
		t.Errorf("%d of 5,000 are kept", n)
	}
	over := 0
	for _, v := range (checkpoint.Retention{EveryNth: -1}).Apply(list, noon) {
		if !v.Keep && v.Reason == "more than 1,000" {
			over++
		}
	}
	if over != 4001 {
		t.Errorf("%d of 5,001 are more than 1,000", over)
	}
}

// kept returns the checkpoints of list that r keeps.
func kept(r checkpoint.Retention, list []checkpoint.Taken, now time.Time) (keep []checkpoint.Taken) {
	for i, v := range r.Apply(list, now) {
		if v.Keep {
			keep = append(keep, list[i])
		}
	}
	return keep
}

// TestRetentionLaws: for any checkpoints and any clocks,
//
//   - named ones are kept, and the newest automatic one;
//   - at most Limit automatic ones are kept;
//   - the result does not depend on the order of the list;
//   - applying it again to the rest removes nothing more;
//   - a removed one stays removed, until a time that was in the future;
//   - until then, it does not matter whether it was applied in between.
func TestRetentionLaws(t *testing.T) {
	for seed := range testsize.Of[uint64](400, 1500, 4000) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := checkpoint.Retention{
			KeepAll:  time.Duration(random.IntN(5)-1) * 6 * time.Hour,
			EveryNth: random.IntN(6) - 1,
			MaxAge:   time.Duration(random.IntN(5)-1) * day,
			Limit:    random.IntN(30) - 1,
		}
		list := randomTaken(random)
		now := noon.Add(time.Duration(random.Int64N(int64(8*day))) - 3*day)
		fatal := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d, %+v at %v of %v: %s", seed, r, now, list, fmt.Sprintf(format, args...))
		}
		keep := kept(r, list, now)
		autos := slices.DeleteFunc(slices.Clone(keep), func(c checkpoint.Taken) bool { return !c.Auto })
		if most := r.Limit; most > 0 && len(autos) > most {
			fatal("%d are kept", len(autos))
		}
		if named := func(c checkpoint.Taken) bool { return !c.Auto }; count(list, named) != count(keep, named) {
			fatal("one with a name is removed")
		}
		later := func(c checkpoint.Taken) bool {
			return c.Auto && (len(autos) == 0 || c.Created.After(autos[0].Created))
		}
		slices.SortFunc(autos, func(a, b checkpoint.Taken) int { return b.Created.Compare(a.Created) })
		if count(list, later) > 0 {
			fatal("the newest is removed")
		}
		shuffled := slices.Clone(list)
		random.Shuffle(len(list), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := kept(r, shuffled, now); ids(got) != ids(keep) {
			fatal("kept in another order are %s, not %s", ids(got), ids(keep))
		}
		if again := kept(r, keep, now); ids(again) != ids(keep) {
			fatal("kept of %s are %s", ids(keep), ids(again))
		}
		next := now.Add(time.Duration(random.Int64N(int64(3 * day))))
		if count(list, func(c checkpoint.Taken) bool { return c.Created.After(now) && !c.Created.After(next) }) > 0 {
			continue
		}
		atNext := kept(r, list, next)
		if got := kept(r, keep, next); ids(got) != ids(atNext) {
			fatal("kept at %v are %s, and %s if it was applied before", next, ids(atNext), ids(got))
		}
	}
}

// randomTaken returns checkpoints of a few lines: some at the same time, some in
// the future, some with a clock that was years off.
func randomTaken(random *rand.Rand) (list []checkpoint.Taken) {
	for i := range random.IntN(60) {
		c := auto(fmt.Sprint("c", i), string(rune('a'+random.IntN(4))), time.Duration(random.IntN(400))*15*time.Minute)
		switch random.IntN(40) {
		case 0:
			c.Created = time.Time{}
		case 1:
			c.Created = c.Created.AddDate(70, 0, 0)
		case 2, 3, 4:
			c.Auto = false
		}
		list = append(list, c)
	}
	return list
}

func count(list []checkpoint.Taken, is func(checkpoint.Taken) bool) (n int) {
	for _, c := range list {
		if is(c) {
			n++
		}
	}
	return n
}

// ids returns the ids in list, in alphabetical order.
func ids(list []checkpoint.Taken) string {
	var all []string
	for _, c := range list {
		all = append(all, c.ID)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
