package stream

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// A Held record was read, and has seen records that were not. It may also be a base, which is
// returned nevertheless.
type Held struct {
	Machine record.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`
	Needs   record.Vector  `json:"needs"`
}

// order returns the records of runs, each after those that it has seen, and the cursors after them,
// beginning with the cursors at the begin of each run. It sets the problem of a run with a Lamport
// that no correct machine can have, and returns the base and the first record of each run that wait
// for others, by machine.
func order(have Cursors, runs map[record.Machine]*run) (list []*verified, next Cursors, held []Held) {
	next = have.clone()
	for m, r := range runs {
		next[m] = r.begin
	}
	read := map[record.Machine]int{} // how many of the records of a run are in list
	machines := slices.Sorted(maps.Keys(runs))
	for progress := true; progress; {
		progress = false
		for _, m := range machines {
			r := runs[m]
			for read[m] < len(r.records) {
				v := r.records[read[m]]
				if len(missing(next, v.Seen)) > 0 || v.Lamport > next.Lamport()+1 {
					break
				}
				next[m] = v.after
				list = append(list, v)
				read[m]++
				progress = true
			}
		}
	}
	for _, m := range machines {
		r := runs[m]
		if r.base != nil {
			held = appendHeld(held, m, r.base.Seq, missing(next, r.base.Seen))
		}
		if read[m] == len(r.records) {
			continue
		}
		v := r.records[read[m]]
		needs := missing(next, v.Seen)
		held = appendHeld(held, m, v.Seq, needs)
		if len(needs) == 0 {
			r.refuse(read[m], &Problem{Kind: Malformed, Machine: m, Seq: v.Seq, Object: recordName(m, v.Seq),
				Detail: fmt.Sprintf("its Lamport is %d, and the greatest that it can have seen is %d", v.Lamport, next.Lamport())})
		}
	}
	return list, next, held
}

func appendHeld(held []Held, m record.Machine, seq uint64, needs record.Vector) []Held {
	if len(needs) == 0 {
		return held
	}
	return append(held, Held{m, seq, needs})
}

// missing returns what of seen is not before the cursors.
func missing(c Cursors, seen record.Vector) record.Vector {
	v := record.Vector{}
	for m, n := range seen {
		if c[m].Seq < n {
			v[m] = n
		}
	}
	return v
}
