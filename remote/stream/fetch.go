package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// A Scope says what a fetch looks at beside the next record of each stream that is known.
type Scope int

const (
	Known Scope = iota // nothing
	Names              // the names of machines: one listing finds new ones
	Whole              // the names of all objects of streams, which also shows missing ones
)

// A Request says what to fetch.
type Request struct {
	Have  Cursors // what the caller has applied
	Own   Own     // of the machine's writer; the zero Own if there is none
	Scope Scope
	Once  bool // do not look at the own stream only because there is nothing new

	Without []record.Machine // whose streams are not read

	MaxBytes int64 // stop at about so many bytes of records and bases, decompressed; 0 means 64 MiB
	Patience int   // how many fetches in a row may miss a record before it is a problem; 0 means DefaultPatience

	// CheckBase is called with each base that is read, one after the other, and returns which machines the base retires,
	// as Retired has them. Its error is a problem of the stream, which is then read as if the base could not be decoded.
	// If nil, it is not called.
	CheckBase func(*seal.Base) (record.Vector, error)

	// Retired are the machines that do not come back, with the last record of each. If records up to there were absent for
	// as many fetches as Patience says, they are lost. In Known, a stream that was read to there is not looked at.
	Retired record.Vector
	Lost    record.Vector // records up to these numbers are lost: records that have seen them do not wait

	// AllBases reads and checks the newest base of each stream that Whole shows, also if nothing of it is needed.
	AllBases bool
}

// Own is what a fetch must know of the stream of its own machine.
type Own struct {
	machine   record.Machine
	published Cursors
	unsent    map[uint64]string // SHA-256 of the stored bytes of records that may be in the store
}

// Fetched is what a fetch found. The caller stores Next when it has applied Bases, then Records.
type Fetched struct {
	// Bases are in no order. Each says what was in records that are not fetched. A base that has seen absent records
	// waits like a record, except while there is More that may have them.
	Bases    []*seal.Base
	Records  []*record.Record // each after the one before it and those that it has seen
	Next     Cursors
	Held     []Held // of each stream the first record or the base that waits
	Problems []*Problem

	// Absent are the machines whose records were read or sent before, but of which a listing shows
	// no object. After as many fetches as Patience says, Problems has each of them too.
	Absent []record.Machine

	// Lost has the retired machines with records that turned out to be lost. Bases, Records and
	// Next do not include their lost records, up to these numbers. The problems have the kind Lost.
	Lost   record.Vector
	More   bool // MaxBytes was reached, and there may be more to fetch
	Copied bool // another copy of the own machine writes its stream: Upload, then Renew the writer

	// Unknown are the machines that wrote members or a format that this version does not know, ascending.
	Unknown []record.Machine
}

const defaultBytes = 64 << 20

// DefaultPatience is how many fetches in a row may miss a record before it is a problem.
const DefaultPatience = 3

// Fetch reads new records and bases, and verifies them. A stream with a problem is read up to it,
// and the others are read on. Fetch returns an error only if the context has ended, or if the store
// answered no request.
//
// If nothing is new, Fetch makes one request for each machine, and one to list. The own stream is
// looked at only if no other stream has anything new, or if another machine has seen more of it. A
// whole listing shows whether it has anything new.
func (r *Remote) Fetch(ctx context.Context, q Request) (*Fetched, error) {
	if q.MaxBytes == 0 {
		q.MaxBytes = defaultBytes
	}
	if q.Patience == 0 {
		q.Patience = DefaultPatience
	}
	q.Have, q.Lost = q.Have.clone(), maps.Clone(q.Lost)
	if q.Lost == nil {
		q.Lost = record.Vector{}
	}
	q.Have.Merge(q.Own.published)
	f := &fetch{Remote: r, ctx: ctx, Request: q, requests: make(chan struct{}, concurrent), runs: map[record.Machine]*run{}, memory: &memory{left: q.MaxBytes}, given: record.Vector{}}
	f.others()
	if q.Scope == Whole && f.listError == nil {
		if m := f.Own.machine; m != "" && f.namesOf(m).last() != f.Have[m].Seq {
			f.readNext(m)
		}
	} else if f.idle() && !q.Once {
		f.own()
	}
	if q.AllBases {
		f.checkBases()
	}
	last := func(m record.Machine) uint64 { return f.namesOf(m).last() }
	found := order(q.Have, f.runs, f.Lost, last)
	for f.follow(found.held) || f.giveUp(found.held) {
		found = order(q.Have, f.runs, f.Lost, last)
	}
	if err := f.failed(); err != nil {
		return nil, err
	}
	return f.result(found), nil
}

// others reads the streams of the other machines that are known, and of those that a listing finds.
func (f *fetch) others() {
	known := slices.Sorted(maps.Keys(f.Have))
	known = slices.DeleteFunc(known, func(m record.Machine) bool { return m == f.Own.machine || f.Have[m].Seq == 0 || f.skips(m) })
	switch f.Scope {
	case Known:
		f.each(slices.DeleteFunc(known, func(m record.Machine) bool { return f.Retired[m] > 0 && !f.isRetired(m, f.Have[m].Seq+1) }), f.readNext)
	case Names:
		f.each(known, f.readNext, func() { f.listError = f.list(streams, true) })
	case Whole:
		f.listError = f.list(streams, false)
		f.each(known, f.readOn)
	}
	f.each(f.unknown(), f.readOn)
}

// unknown returns the machines that a listing found and that are not being read.
func (f *fetch) unknown() (list []record.Machine) {
	for m, c := range f.Have {
		if c.Seq == 0 && m != f.Own.machine {
			list = append(list, m) // only missed so far
		}
	}
	for m := range f.listed {
		if _, ok := f.runs[m]; !ok && m != f.Own.machine {
			list = append(list, m)
		}
	}
	list = slices.DeleteFunc(list, f.skips)
	slices.Sort(list)
	return slices.Compact(list)
}

func (f *fetch) skips(m record.Machine) bool { return slices.Contains(f.Without, m) }

func (f *fetch) own() {
	if m := f.Own.machine; m != "" {
		f.readNext(m)
	}
}

// idle reports whether there is nothing new.
func (f *fetch) idle() bool {
	for _, r := range f.runs {
		if r.base != nil || len(r.records) > 0 {
			return false
		}
	}
	return true
}

func (f *fetch) readNext(m record.Machine) { f.next(f.start(m)) }
func (f *fetch) readOn(m record.Machine)   { f.catchUp(f.start(m)) }

// follow reads the streams that held records wait for, each once, and reports whether it read any.
func (f *fetch) follow(held []Held) bool {
	var list []record.Machine
	for _, h := range held {
		for m := range h.Needs {
			if r := f.runs[m]; !f.skips(m) && (r == nil || !r.followed && r.problem == nil && !r.more) {
				list = append(list, m)
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	list = list[:min(len(list), maxFollowed-f.followed)] // a hostile record may name many machines
	f.followed += len(list)
	f.each(list, func(m record.Machine) {
		f.start(m).followed = true
		if m == f.Own.machine {
			f.readNext(m)
		} else {
			f.readOn(m)
		}
	})
	return len(list) > 0
}

// result says what was found.
func (f *fetch) result(found ordered) *Fetched {
	out := &Fetched{Bases: found.bases, Next: found.next, Held: found.held, Lost: f.given}
	for _, v := range found.records {
		if v.Machine == f.Own.machine {
			if f.Own.unsent[v.Seq] == v.after.Last {
				continue // it was sent, and the answer was lost
			}
			out.Copied = true
		}
		out.Records = append(out.Records, v.Record)
		if !v.exact {
			out.Unknown = append(out.Unknown, v.Machine)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(f.runs)) {
		r := f.runs[m]
		out.More = out.More || r.more
		if r.problem != nil {
			out.Problems = append(out.Problems, r.problem)
			if r.problem.Kind == Newer {
				out.Unknown = append(out.Unknown, m)
			}
			out.Copied = out.Copied || m == f.Own.machine && r.problem.Kind == Swapped
		}
	}
	if f.listError != nil {
		out.Problems = append(out.Problems, f.listError)
	}
	out.Problems = append(out.Problems, f.baseProblems...)
	for _, m := range slices.Sorted(maps.Keys(f.given)) {
		seq := found.next[m].Seq + 1
		out.Problems = append(out.Problems, &Problem{Kind: Lost, Machine: m, Seq: seq, Object: recordName(m, seq),
			Detail: fmt.Sprintf("it and others up to record %d are lost, and the machine is retired; what has seen them is read without them", f.given[m])})
	}
	for _, p := range f.absent() {
		if p.Machine != f.Own.machine && f.isRetired(p.Machine, p.Seq) && f.Have[p.Machine].Missing >= f.Patience {
			continue // it was reported, and nothing brings it back
		}
		out.Absent = append(out.Absent, p.Machine)
	}
	slices.Sort(out.Unknown)
	out.Unknown = slices.Compact(out.Unknown)
	f.judgeMissing(out)
	return out
}

// isRetired reports whether a record is of a machine that did not come back after it.
func (f *fetch) isRetired(m record.Machine, seq uint64) bool { return seq <= f.Retired[m] }

// The limits of what is given up. Each own record names it, and it raises the bound of the Lamport, so a hostile machine
// must not make it large.
const (
	maxLost        = 1000    // machines
	maxLostRecords = 1 << 42 // of one
)

// giveUp gives up the records that are lost and that held records or bases wait for, and reports whether there are any.
// They are of machines that are retired; records that are held can say so too.
func (f *fetch) giveUp(held []Held) (any bool) {
	retired := maps.Clone(f.Retired)
	if retired == nil {
		retired = record.Vector{}
	}
	for _, r := range f.runs {
		for m, n := range r.retired {
			retired[m] = max(retired[m], n)
		}
		for _, v := range r.records {
			for _, op := range v.Ops {
				if m, n := op.Retires(v.Seen); m != v.Machine {
					retired[m] = max(retired[m], n)
				}
			}
		}
	}
	for _, h := range held {
		for m, n := range h.Needs {
			known := f.Lost[m] > 0 || len(f.Lost) < maxLost
			if n > f.Lost[m] && n <= retired[m] && n <= maxLostRecords && known && f.isLost(m, n) {
				f.Lost[m], f.given[m], any = n, n, true
			}
		}
	}
	return any
}

// isLost reports whether a record of a machine that is retired cannot be read, as in the fetches before this one: it is absent,
// or one before it has a problem that a store does not mend.
func (f *fetch) isLost(m record.Machine, n uint64) bool {
	r := f.runs[m]
	switch {
	case f.listError != nil || f.skips(m) || m == f.Own.machine || r == nil || r.more || r.end().Seq >= n:
		return false
	case r.problem != nil && !r.problem.stays():
		return false
	}
	return f.Have[m].Missing+1 >= f.Patience
}

// absent returns a problem for each stream that was there, and of which the listing of all streams shows no object.
func (f *fetch) absent() (list []*Problem) {
	if f.Scope == Known || f.listError != nil {
		return nil
	}
	for m, c := range f.Have {
		if c.Seq == 0 || f.listed[m] != nil {
			continue
		}
		if r := f.runs[m]; r != nil {
			if r.gone = nil; r.problem != nil || r.end().Seq > c.Seq {
				continue
			}
		}
		list = append(list, &Problem{Kind: RolledBack, Machine: m, Seq: c.Seq, Object: streamOf(m),
			Detail: fmt.Sprintf("records up to %d were there, and now the stream has no object", c.Seq)})
	}
	return list
}

// judgeMissing counts for how many fetches records were missing, in out.Next, and reports those that
// were for too long. A store may answer late that it has an object.
func (f *fetch) judgeMissing(out *Fetched) {
	needs := map[record.Machine]*Problem{} // nil for a machine with another problem
	for _, h := range out.Held {
		for m, n := range h.Needs {
			r := f.runs[m]
			switch {
			case f.skips(m) || r != nil && (r.more || (r.base != nil || len(r.records) > 0) && r.end().Seq >= n):
				continue // that it is missing has another reason
			case r != nil && r.problem != nil:
				if r.problem.stays() {
					needs[m] = nil
				}
				continue
			}
			seq := out.Next[m].Seq + 1
			needs[m] = &Problem{Kind: Withheld, Machine: m, Seq: seq, Object: recordName(m, seq),
				Detail: fmt.Sprintf("it is not there, but record %d of the machine %s has seen it", h.Seq, h.Machine)}
		}
	}
	shown := f.absent()
	for m, r := range f.runs {
		if r.gone != nil && needs[m] == nil && r.problem == nil && !r.more {
			shown = append(shown, r.gone)
		}
	}
	for _, p := range shown {
		if needs[p.Machine] = p; f.isRetired(p.Machine, p.Seq) {
			p.Kind, p.Detail = Lost, p.Detail+"; the machine is retired"
		}
	}
	for m, p := range needs {
		c := out.Next[m]
		c.Missing = min(c.Missing+1, f.Patience+1)
		if c.Missing >= f.Patience && p != nil {
			out.Problems = append(out.Problems, p)
		}
		out.Next[m] = c
	}
	for m, c := range out.Next {
		if _, missing := needs[m]; !missing && c.Missing > 0 && f.runs[m] != nil {
			c.Missing = 0
			out.Next[m] = c
		}
	}
	slices.SortStableFunc(out.Problems, compareProblems)
}
