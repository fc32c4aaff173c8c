package operation

import (
	"cmp"
	"io"
	"time"
)

// Retention is the policy for how far undo reaches back. Older operations lose
// their changes: they stay in the log with their numbers but cannot be undone.
// Older automatic operations and those of other programs are removed.
type Retention struct {
	// Age is how long an operation can be undone at least. Zero means 30 days.
	Age time.Duration
	// Operations is the minimum number of operations that can be undone, not
	// counting automatic ones and those of other programs. Zero means 10,000.
	Operations int
	// Every is the minimum number of operations to compact, and the number of
	// operations between two checks. Zero means 1,000.
	Every int
}

// WithDefaults returns r with the defaults in place of zeros.
func (r Retention) WithDefaults() Retention {
	return Retention{cmp.Or(r.Age, 30*24*time.Hour), cmp.Or(r.Operations, 10_000), cmp.Or(r.Every, 1000)}
}

// A Horizon selects the operations to compact: those with a number up to Seq and a
// time before Before.
type Horizon struct {
	Seq    Seq
	Before string
}

// passed reports whether o is compacted.
func (h Horizon) passed(o *Operation) bool { return o.Seq <= h.Seq && o.Time < h.Before }

// Horizon returns the horizon for compacting l. due is false if fewer than r.Every
// operations would be compacted. before is the oldest time that is kept, and now
// the current time, both in the format of the log.
func (l *Log) Horizon(r Retention, before, now string) (h Horizon, due bool, err error) {
	h.Before = before
	newest := Seq(0)
	for line, err := range l.Newest() {
		if err != nil {
			return h, false, err
		}
		newest = line.Seq
		break
	}
	if few, err := l.fewBelow(r, newest-Seq(r.Operations), before, now); err != nil || few {
		return h, false, err
	}
	counted := 0
	for line, err := range l.Newest() {
		if err != nil {
			return h, false, err
		}
		if line.Auto || line.Verb == External {
			continue
		}
		if counted++; counted == r.Operations {
			h.Seq = cmp.Or(line.Group, line.Seq) - 1 // a group is compacted as a whole
			break
		}
	}
	few, err := l.fewBelow(r, h.Seq, before, now)
	return h, !few, err
}

// fewBelow reports whether fewer than r.Every operations with a number up to seq
// and a time before before have changes. It stops at the first newer one.
func (l *Log) fewBelow(r Retention, seq Seq, before, now string) (bool, error) {
	n := 0
	for line, err := range l.From(0) {
		switch {
		case err != nil:
			return true, err
		case line.Seq > seq, line.Time >= before && line.Time <= now:
			return true, nil
		case line.Time < before && (line.revertible() || line.Auto || line.Verb == External):
			n++
		}
		if n >= r.Every {
			return false, nil
		}
	}
	return true, nil
}

// Compact writes l to w without the changes of the operations that h selects.
func (l *Log) Compact(w io.Writer, h Horizon) error {
	var k Keeper
	return l.Rewrite(w, true, func(line Line) *Operation {
		full := k.Full(line.Operation)
		if !h.passed(line.Operation) || !line.Settled {
			return k.Keep(line.Operation, full, full)
		}
		k.Drop(line.Operation)
		switch {
		case line.Auto || line.Verb == External:
			return nil
		case !line.revertible() && len(line.Seen) == 0:
			return line.Operation
		}
		short := *line.Operation
		short.Changes, short.Files, short.Seen, short.Compacted = nil, nil, nil, true
		return &short
	})
}
