package workspace_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
)

// left calls f with each state that a crash after k steps of a trace may leave, at most
// most of them on a disk that loses data, until f returns false.
func left(trace *crashdisk.Trace, k, most int, f func(how string, t crashdisk.Tree) (goOn bool)) bool {
	for t := range trace.Kept(k) {
		if !f("kept", t) {
			return false
		}
	}
	for t := range trace.Lost(k, most) {
		if !f("lost", t) {
			return false
		}
	}
	return true
}

// steps returns the numbers from 0 to n, or a sample of them that includes n.
func (c *crash) steps(what string, n, short, plain int) []int {
	all := make([]int, n+1)
	for k := range all {
		all[k] = k
	}
	if c.sampled {
		short, plain = 1, min(2, plain)
	}
	return testsize.Sample(c, what, all, testsize.Of(short, plain, len(all)))
}

// crashes checks the states after a stop at each step. Of the states of a disk that loses
// data, it tries the one without any unsynced change, and those whose number is k modulo
// every, so that the samples of steps differ.
func (c *crash) crashes() {
	every := testsize.Of(4, 12, 2)
	switch {
	case testsize.Full() && *states > 0:
		every = 1
	case c.sampled: // a check of its large index takes ten times as long
		every = testsize.Of(4, 6, 6)
	}
	for _, k := range c.steps("steps to stop after", len(c.trace.Steps), 1, 2) {
		c.sum.stops.Add(1)
		tried := map[string]int{}
		left(c.trace, k, c.most, func(how string, t crashdisk.Tree) bool {
			if tried[how]++; c.sampled && tried[how] > testsize.Of(1, 1, math.MaxInt) {
				return true
			}
			if how == "lost" && tried[how]%every != k%every && (c.sampled || tried[how] > 1) {
				return true
			}
			for _, w := range c.after(k, c.trace, t) {
				c.find(w, func() string {
					return fmt.Sprintf("stopped after step %d (%s), %s: %s", k, c.stepName(k-1), how, describe(t))
				})
			}
			return true
		})
	}
}

// after returns the violations in a state that a crash after k steps of a trace may leave.
// If the trace is complete, the verb was acknowledged and must have left nothing to repair.
func (c *crash) after(k int, trace *crashdisk.Trace, t crashdisk.Tree) []complaint {
	v := c.judge(t)
	wrong := slices.Clip(v.wrong)
	if k == len(trace.Steps) && !v.done {
		wrong = append(wrong, complaint{"acknowledged", "but it does not exist"})
	}
	if k == len(trace.Steps) && !v.tidy {
		wrong = append(wrong, complaint{"acknowledged", "but there are other files"})
	}
	if k == len(trace.Steps) && v.torn {
		wrong = append(wrong, complaint{"acknowledged", "but a pack has a torn frame"})
	}
	if k == len(trace.Steps) && v.inPack {
		wrong = append(wrong, complaint{"acknowledged", "but a pack has the text"})
	}
	if k == len(trace.Steps) && !v.healthy {
		wrong = append(wrong, complaint{"acknowledged", "but doctor finds a problem"})
	}
	return wrong
}

var (
	sessionID = regexp.MustCompile(`session_[0-9]+_[0-9]+_[0-9a-f]+`)
	stamp     = regexp.MustCompile(`[0-9]{8}T[0-9.]+`)
)

// stepName describes step i without ids.
func (c *crash) stepName(i int) string {
	if i < 0 {
		return "nothing"
	}
	name := strings.ReplaceAll(c.trace.Steps[i].String(), place+"/", "")
	return stamp.ReplaceAllString(sessionID.ReplaceAllString(name, "SESSION"), "STAMP")
}

// describe lists the files of t with their sizes.
func describe(t crashdisk.Tree) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if f := t[name]; f != nil {
			list = append(list, fmt.Sprintf("%s:%d", strings.TrimPrefix(name, place+"/"), len(f.Data)))
		}
	}
	return strings.Join(list, " ")
}

func (c *crash) find(w complaint, where func() string) {
	if f := c.found[w.cause]; f != nil {
		f.times++
		return
	}
	c.found[w.cause] = &finding{w, where(), 1}
}

// report fails the test with each finding that is not in unfinished.
func (c *crash) report() {
	for _, cause := range slices.Sorted(maps.Keys(c.found)) {
		if f := c.found[cause]; !c.used.has(unfinished, c.name, cause) {
			c.Errorf("%s: %s: %s\n%d times, first %s", c.name, cause, f.detail, f.times, f.where)
		}
	}
}

// failures are the errors that a step fails with.
var failures = []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES}

// faults makes each step of the verb fail: with each error in a full run with -states, and with one of
// them, in turns, in any other run.
func (c *crash) faults() {
	first := slices.IndexFunc(c.trace.Steps, func(s crashdisk.Step) bool { return s.Do == "rename" || s.Do == "swap" })
	one := !testsize.Full() || c.sampled || *states == 0
	for _, k := range c.steps("steps to fail", len(c.trace.Steps)-1, 1, 1) {
		for i, failure := range failures {
			if one && i != k%len(failures) {
				continue
			}
			c.sum.faults.Add(1)
			for _, w := range c.fault(k, k <= first, failure) {
				c.find(w, func() string { return fmt.Sprintf("where step %d (%s) fails: %v", k+1, c.stepName(k), failure) })
			}
		}
	}
}

// fault calls the verb and makes step k fail. early means that the workspace is unchanged
// before that step.
func (c *crash) fault(k int, early bool, failure error) []complaint {
	base := c.folderOf(c.before)
	defer os.RemoveAll(base)
	s := c.open(base, 2)
	var n atomic.Int64
	var err error
	c.disks.during(base, func(durable.Step) error {
		if n.Add(1) == int64(k)+1 {
			return failure
		}
		return nil
	}, func() { err = c.verb(s) })
	v := &verdict{}
	saw := c.readers(v, base)
	v.saw = saw
	switch {
	case err == nil && !c.holds(saw):
		v.is("acknowledged", "but it does not exist")
	case err != nil && early && !saw.same(c.old):
		v.is("refused", "and there: %v", err)
	case err != nil && !errors.Is(err, failure):
		v.is("another error", "%v", err)
	}
	before := v.done
	v.done = err == nil
	c.writers(v, base, s)
	v.done = before
	return v.wrong
}

// holds reports whether v has the sessions of the new state. While the move of a plain file
// or a recipe to the trash is to be completed, a session may be packed or not.
func (c *crash) holds(v view) bool {
	if !c.packs {
		return maps.Equal(v.sessions, c.new.sessions)
	}
	plain := func(text string) string { return packedness.ReplaceAllString(text, "") }
	return maps.EqualFunc(v.sessions, c.new.sessions, func(a, b string) bool { return plain(a) == plain(b) })
}

// packedness is what differs in the entries of a packed and a plain checkpoint, and of the
// session that it is of.
var packedness = regexp.MustCompile(`,"packed":true|"continued_to":\[[^]]*\],`)

// controls checks that each sync of the verb is needed: without it, or with the next step
// before it, a check must fail.
func (c *crash) controls() {
	type control struct {
		what  string
		trace *crashdisk.Trace
	}
	var list []control
	seen := map[string]int{}
	try := func(what string, trace *crashdisk.Trace) {
		if seen[what]++; seen[what] > 1 {
			what = fmt.Sprintf("%s (%d)", what, seen[what])
		}
		if testsize.Full() && *states > 0 || !needless.has(c.name, what) { // else only those that must fail
			list = append(list, control{what, trace})
		}
	}
	for i := range c.trace.Steps {
		if c.trace.Removes(i) && i > 0 && c.trace.Steps[i-1].Do != "make" {
			try("with "+c.stepName(i)+" before "+c.stepName(i-1), c.trace.Move(i, i-1))
		}
	}
	for i, s := range c.trace.Steps {
		if s.Do == "cut" && strings.HasSuffix(s.Name, packExt) {
			try("without "+c.stepName(i), c.trace.Drop(i))
		}
	}
	for _, i := range c.trace.Syncs() {
		try("without "+c.stepName(i), c.trace.Drop(i))
		if j := c.waits(i); j > 0 {
			try("with "+c.stepName(j)+" before "+c.stepName(i), c.trace.Move(j, i))
		}
	}
	some := testsize.Of(1, 1, len(list))
	if c.sampled && !testsize.Full() {
		some = 0
	}
	for _, control := range testsize.Sample(c, "negative controls", list, some) {
		c.sum.controls.Add(1)
		if !c.breaks(control.trace) && !c.used.has(needless, c.name, control.what) {
			c.Errorf("%s: no check fails %s", c.name, control.what)
		}
	}
}

// waits returns the step that depends on the sync i: the rename of the synced file, of the
// recipe after the sync of a pack, or the next change of a name that existed then; 0 if there
// is none.
func (c *crash) waits(i int) int {
	steps := c.trace.Steps
	for j := i + 1; j < len(steps); j++ {
		switch {
		case steps[i].Do == "sync" && c.trace.Renames(j) && (c.trace.Same(i, j) || strings.HasSuffix(steps[i].Name, packExt)):
			return j
		case steps[i].Do == "syncdir" && (steps[j].Do == "make" || steps[j].Do == "mkdir"):
			return 0
		case steps[i].Do == "syncdir" && (c.trace.Renames(j) || c.trace.Removes(j)):
			return j
		}
	}
	return 0
}

// breaks reports whether a trace causes a violation that is not in unfinished.
func (c *crash) breaks(trace *crashdisk.Trace) bool {
	for k := len(trace.Steps); k >= 0; k-- {
		if k < len(trace.Steps) && trace.Steps[k].Do == "write" {
			continue // a file that is half written then is so after the step too
		}
		if !left(trace, k, c.rare, func(how string, t crashdisk.Tree) bool {
			return !slices.ContainsFunc(c.after(k, trace, t), func(w complaint) bool {
				return !unfinished.has(c.name, w.cause)
			})
		}) {
			return true
		}
	}
	return false
}

// A table lists known exceptions of verbs with their reasons.
type table []struct{ verb, what, why string } // verb is "" for all of them

func (t table) has(verb, what string) bool { return t.find(verb, what) >= 0 }

func (t table) find(verb, what string) int {
	for i, row := range t {
		if (row.verb == "" || row.verb == verb) && row.what == what {
			return i
		}
	}
	return -1
}

// used collects the rows of tables that were needed.
type used struct {
	mu   sync.Mutex
	rows map[string]bool
}

func (u *used) has(t table, verb, what string) bool {
	i := t.find(verb, what)
	if i >= 0 {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.rows[t[i].verb+": "+what] = true
	}
	return i >= 0
}
