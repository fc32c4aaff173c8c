package stream

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// A Held is a record or base that was read and waits, because it has seen records that were not
// read.
type Held struct {
	Machine record.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`
	Needs   record.Vector  `json:"needs"`
}

// ordered is what was read of all runs, in an order in which it can be applied.
type ordered struct {
	bases   []*seal.Base // in no order, before the records
	records []*verified  // each after those that it has seen
	next    Cursors      // after all that
	held    []Held       // the base, or the first record, of each run that waits for others, by machine
}

// order orders the bases and records of runs, which begin at cursors. Of a stream that was listed, last is its last
// number. What has seen records that are lost does not wait for them. It sets the problem of a run with a Lamport that no
// correct machine can have.
func order(have Cursors, runs map[record.Machine]*run, lost record.Vector, last func(record.Machine) uint64) ordered {
	waits := waitingBases(have, runs, lost, last)
	list, next, read := arrange(have, runs, lost, waits, nil)
	out := ordered{records: list, next: next}
	for _, m := range slices.Sorted(maps.Keys(runs)) {
		r := runs[m]
		if waits[m] {
			out.held = appendHeld(out.held, m, r.base.Seq, missing(next, lost, r.base.Seen, r.base.Lost))
			continue
		}
		if r.base != nil {
			out.bases = append(out.bases, r.base)
			out.held = appendHeld(out.held, m, r.base.Seq, missing(next, lost, r.base.Seen, r.base.Lost))
		}
		if read[m] == len(r.records) {
			continue
		}
		v := r.records[read[m]]
		needs := missing(next, lost, v.Seen, v.Lost)
		out.held = appendHeld(out.held, m, v.Seq, needs)
		if len(needs) == 0 {
			r.refuse(read[m], &Problem{Kind: Malformed, Machine: m, Seq: v.Seq, Object: recordName(m, v.Seq),
				Detail: fmt.Sprintf("its Lamport is %d, and the greatest that it can have seen is %d", v.Lamport, greatestLamport(next, lost))})
		}
	}
	return out
}

// waitingBases returns the machines of the runs whose bases have seen what is absent. Two bases may have seen the
// records of each other, so all count as there until one of them lacks something. Records of a
// run that is not at its end count as there as far as a listing shows them: a base may refer to records that never existed.
func waitingBases(have Cursors, runs map[record.Machine]*run, lost record.Vector, last func(record.Machine) uint64) map[record.Machine]bool {
	waits := map[record.Machine]bool{}
	for again := true; again; {
		again = false
		var next Cursors
		for m, r := range runs {
			if r.base == nil || waits[m] {
				continue
			}
			if next == nil {
				_, next, _ = arrange(have, runs, lost, waits, last)
			}
			if len(missing(next, lost, r.base.Seen, r.base.Lost)) > 0 {
				waits[m], again = true, true
			}
		}
	}
	return waits
}

// arrange returns the records of runs, each after those that it has seen, the cursors after them, and how many there
// are of each machine. Of runs whose base waits there is nothing. If last is not nil, the cursor of a run of which there
// may be more is after all records that it can have.
func arrange(have Cursors, runs map[record.Machine]*run, lost record.Vector, waits map[record.Machine]bool, last func(record.Machine) uint64) (list []*verified, next Cursors, read map[record.Machine]int) {
	next, read = have.clone(), map[record.Machine]int{}
	var machines []record.Machine
	for _, m := range slices.Sorted(maps.Keys(runs)) {
		if r := runs[m]; !waits[m] {
			next[m] = r.begin
			machines = append(machines, m)
		}
	}
	for progress := true; progress; {
		progress = false
		for _, m := range machines {
			r := runs[m]
			for read[m] < len(r.records) {
				v := r.records[read[m]]
				if len(missing(next, lost, v.Seen, v.Lost)) > 0 || v.Lamport > greatestLamport(next, lost)+1 {
					break
				}
				next[m] = v.after
				list = append(list, v)
				read[m]++
				progress = true
			}
			if last == nil || !r.more || read[m] < len(r.records) {
				continue
			}
			if end := cmp.Or(last(m), seal.MaxNumber); next[m].Seq < end {
				c := next[m]
				c.Seq, c.Lamport = end, seal.MaxNumber
				next[m], progress = c, true
			}
		}
	}
	return list, next, read
}

func appendHeld(held []Held, m record.Machine, seq uint64, needs record.Vector) []Held {
	if len(needs) == 0 {
		return held
	}
	return append(held, Held{m, seq, needs})
}

// missing returns what a record or base waits for: the records in seen, and in given, which its machine gave up, that are
// neither before the cursors nor lost. It waits for those in given too, because they raise the bound of its Lamport: a
// machine could name any number of records as given up.
func missing(c Cursors, lost, seen, given record.Vector) record.Vector {
	v := record.Vector{}
	for _, needed := range []record.Vector{seen, given} {
		for m, n := range needed {
			if max(c[m].Seq, lost[m], v[m]) < n {
				v[m] = n
			}
		}
	}
	return v
}

// greatestLamport returns the greatest Lamport that a record before the cursors, or one that is lost, can have.
func greatestLamport(c Cursors, lost record.Vector) uint64 {
	greatest := c.Lamport()
	for m, n := range lost {
		if seq := c[m].Seq; n > seq {
			greatest += n - seq
		}
	}
	return greatest
}
