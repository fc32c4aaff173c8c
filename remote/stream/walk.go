package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

const (
	concurrent = 8  // requests at a time
	maxAhead   = 16 // records that are requested before it is known that the one before them exists
	maxLists   = 3  // listings of one stream in a fetch

	maxFollowed = 100 // streams that are read because a record waits for them, in a fetch
)

// A fetch is a Fetch in progress.
type fetch struct {
	*Remote
	Request
	ctx      context.Context
	requests chan struct{} // one element for each request in progress
	memory   *memory

	listError *Problem // why the machines were not listed
	followed  int      // streams that were read because a record waits for them

	mu     sync.Mutex
	runs   map[record.Machine]*run
	listed map[record.Machine]*names // what listings have shown; nil without one

	given record.Vector // records up to these were found to be lost

	baseProblems []*Problem // see checkBases
	answered     bool       // the store answered anything
	firstErr     error      // what it did not answer
}

// A run is the part of a stream that a fetch reads: maybe a base, and records one after the other.
type run struct {
	machine  record.Machine
	begin    Cursor // before the records
	base     *seal.Base
	records  []*verified
	problem  *Problem      // why the stream is not read on after the records
	gone     *Problem      // what a listing shows to be missing
	retired  record.Vector // by the base
	more     bool          // there may be more records than the limit of the fetch
	followed bool          // it was read again because a record waits for it
}

// end returns the cursor after the records.
func (r *run) end() Cursor {
	if len(r.records) == 0 {
		return r.begin
	}
	return r.records[len(r.records)-1].after
}

// refuse removes the records from i on because of a problem.
func (r *run) refuse(i int, p *Problem) { r.records, r.problem = r.records[:i], p }

// names are the objects of one stream.
type names struct {
	records []uint64
	bases   []uint64
}

func (n *names) last() uint64 { return max(greatest(n.records), greatest(n.bases)) }

func greatest(list []uint64) uint64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}

// start returns the run of a machine, and begins it if there is none.
func (f *fetch) start(m record.Machine) *run {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs[m] == nil {
		f.runs[m] = &run{machine: m, begin: f.Have[m]}
	}
	return f.runs[m]
}

// each calls read with each machine, some of them at a time, and calls others, concurrently.
func (f *fetch) each(machines []record.Machine, read func(record.Machine), others ...func()) {
	var wg sync.WaitGroup
	running := make(chan struct{}, concurrent)
	for _, m := range machines {
		wg.Go(func() {
			running <- struct{}{}
			read(m)
			<-running
		})
	}
	for _, other := range others {
		wg.Go(other)
	}
	wg.Wait()
}

// get returns an object. It is nil if there is none, and the problem says why it was not read.
func (f *fetch) get(m record.Machine, seq uint64, name string) ([]byte, *Problem) {
	f.requests <- struct{}{}
	data, err := f.Store.Get(f.ctx, name)
	<-f.requests
	if errors.Is(err, fs.ErrNotExist) {
		f.note(nil)
		return nil, nil
	}
	f.note(err)
	if err != nil {
		return nil, &Problem{Kind: Unreadable, Machine: m, Seq: seq, Object: name, Detail: err.Error(), err: err}
	}
	return data, nil
}

// note notes whether the store answered.
func (f *fetch) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answered = f.answered || err == nil
	f.firstErr = cmp.Or(f.firstErr, err)
}

// failed returns the error of a fetch without any answer.
func (f *fetch) failed() error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if f.answered {
		return nil
	}
	return f.firstErr
}

// next reads the records after those of a run, as far as there are any. It requests more at a time
// the more it has found.
func (f *fetch) next(r *run) {
	defer f.missed(r)
	last := f.namesOf(r.machine).last() // more can be there
	for n := 1; ; n = max(1, min(len(r.records), maxAhead)) {
		if end := r.end().Seq; last > end {
			n = int(min(last-end, maxAhead))
		} else if last > 0 {
			n = 1 // it is at the end, as far as the listing says
		}
		n = min(n, f.memory.room(r)) // what does not fit is requested again
		if r.more = f.memory.isFull(); r.more || r.problem != nil {
			return
		}
		found := make([][]byte, n)
		problems := make([]*Problem, n)
		dropped := make([]bool, n) // for lack of room, and to be read again
		var wg sync.WaitGroup
		for i := range n {
			seq := r.end().Seq + 1 + uint64(i)
			wg.Go(func() {
				found[i], problems[i] = f.get(r.machine, seq, recordName(r.machine, seq))
				if dropped[i] = !f.memory.hold(len(found[i]), i == 0); dropped[i] {
					found[i], problems[i] = nil, nil
				}
			})
		}
		wg.Wait()
		end, room := false, true
		for i, data := range found {
			if room = room && !dropped[i]; room && !end {
				end = !f.add(r, data, problems[i])
			}
			f.memory.free(len(data))
		}
		if end {
			return
		}
	}
}

// add verifies an object and adds it to a run. It returns false if the run ends: there is a problem, no
// object, or no room.
func (f *fetch) add(r *run, data []byte, problem *Problem) bool {
	if r.problem = problem; problem != nil || data == nil {
		return false
	}
	r.more = !f.memory.keep(func() (size int) {
		var v *verified
		if v, r.problem = f.verify(r.machine, r.end(), data); r.problem != nil {
			return 0
		}
		r.records = append(r.records, v)
		return v.size
	})
	return !r.more && r.problem == nil
}

// catchUp reads a stream of which earlier records may have been deleted: from its newest base, if
// the next record is not there, and the records after that.
func (f *fetch) catchUp(r *run) {
	for i := range maxLists {
		if i > 0 || f.Scope != Whole {
			if r.problem = f.list(streamOf(r.machine), false); r.problem != nil {
				r.problem.Machine = r.machine
				return
			}
		}
		known := f.namesOf(r.machine)
		if base := greatest(known.bases); base > r.end().Seq && (r.end().Seq == 0 || !slices.Contains(known.records, r.end().Seq+1)) {
			if !f.readBase(r, base) && !r.more {
				r.gone = &Problem{Kind: Withheld, Machine: r.machine, Seq: base, Object: baseName(r.machine, base), Detail: "it is listed, and it or a part of it is not there"}
				continue // a newer one may have replaced it
			}
		}
		if !r.more {
			f.next(r)
		}
		if r.problem != nil || r.more || r.end().Seq >= known.last() {
			return
		}
	}
}

// readBase begins a run anew, after a base, and returns false if there is no such base, or no room for it.
func (f *fetch) readBase(r *run, seq uint64) (there bool) {
	if r.more = f.memory.isFull(); r.more {
		return false
	}
	data, problem := f.get(r.machine, seq, baseName(r.machine, seq))
	f.memory.hold(len(data), true)
	defer f.memory.free(len(data))
	if r.problem = problem; problem != nil || data == nil {
		return problem != nil
	}
	r.more = !f.memory.keep(func() (size int) {
		var base *seal.Base
		var retired record.Vector
		if base, retired, there, r.problem = f.decodeBase(r, seq, data); base == nil {
			return 0
		}
		r.base, r.retired, r.records = base, retired, nil
		r.begin = Cursor{Seq: base.Seq, Last: base.Last, Lamport: base.Lamport, Key: base.Key}
		return len(base.Content)
	})
	return there
}

// decodeBase decodes a base of the stream of a run, with its parts. It is nil if there is a problem, or if it is not
// there, because a part is not.
func (f *fetch) decodeBase(r *run, seq uint64, data []byte) (base *seal.Base, retired record.Vector, there bool, problem *Problem) {
	if base, problem = f.verifyBase(r.machine, seq, r.begin, data); problem != nil {
		return nil, nil, true, problem
	}
	if len(base.Parts) > 0 {
		if there, problem = f.readParts(base); problem != nil || !there {
			return nil, nil, problem != nil, problem
		}
	}
	if f.CheckBase != nil {
		var err error
		if retired, err = f.CheckBase(base); err != nil {
			return nil, nil, true, &Problem{Kind: Malformed, Machine: r.machine, Seq: seq, Object: baseName(r.machine, seq), Detail: err.Error(), err: err}
		}
	}
	return base, retired, true, nil
}

// checkBases reads the newest base of each stream. A problem of it does not keep the records of its
// stream out.
func (f *fetch) checkBases() {
	var machines []record.Machine
	for m, n := range f.listed {
		if len(n.bases) > 0 && !f.skips(m) {
			machines = append(machines, m)
		}
	}
	f.each(machines, func(m record.Machine) {
		var problem *Problem
		for range maxLists {
			there := false
			if there, problem = f.checkBase(m, greatest(f.namesOf(m).bases)); there || problem != nil {
				break
			}
			seq := greatest(f.namesOf(m).bases) // a newer one may have replaced it
			problem = &Problem{Kind: Withheld, Machine: m, Seq: seq, Object: baseName(m, seq), Detail: "it is listed, and it or a part of it is not there"}
			if failed := f.list(streamOf(m), false); failed != nil || greatest(f.namesOf(m).bases) == seq {
				break
			}
		}
		if problem != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.baseProblems = append(f.baseProblems, problem)
		}
	})
}

func (f *fetch) checkBase(m record.Machine, seq uint64) (there bool, problem *Problem) {
	data, problem := f.get(m, seq, baseName(m, seq))
	if problem != nil || data == nil {
		return false, problem
	}
	f.memory.decoding.Lock()
	defer f.memory.decoding.Unlock()
	_, _, there, problem = f.decodeBase(&run{machine: m, begin: f.Have[m]}, seq, data)
	return there, problem
}

// readParts reads the content of a base that is in parts, and returns false if one is not there.
func (f *fetch) readParts(b *seal.Base) (there bool, problem *Problem) {
	for _, name := range b.Parts {
		data, problem := f.get(b.Machine, b.Seq, packs+name)
		if problem != nil || data == nil {
			return false, problem
		}
		bad := &Problem{Kind: Malformed, Machine: b.Machine, Seq: b.Seq, Object: packs + name}
		if hashOf(data) != name {
			bad.Kind, bad.Detail = Swapped, "its bytes are not those that its name says"
			return false, bad
		}
		content, kind, err := f.open(data, int64(seal.MaxBase-len(b.Content)))
		if err != nil {
			bad.Kind, bad.Detail, bad.err = kind, err.Error(), err
			return false, bad
		}
		b.Content = append(b.Content, content...)
	}
	return true, nil
}

// missed notes in a run, after it was read, what a listing shows that was not there.
func (f *fetch) missed(r *run) {
	r.gone = nil
	if f.Scope != Whole || r.problem != nil || r.more || f.listError != nil {
		return
	}
	end, last := r.end(), f.namesOf(r.machine).last()
	switch {
	case last > end.Seq:
		r.gone = &Problem{Kind: Withheld, Machine: r.machine, Seq: end.Seq + 1, Object: recordName(r.machine, end.Seq+1),
			Detail: fmt.Sprintf("it is not there, but %d is", last)}
	case last < end.Seq:
		name := recordName(r.machine, end.Seq)
		data, problem := f.get(r.machine, end.Seq, name)
		switch {
		case problem != nil:
			r.problem = problem
		case data == nil:
			r.gone = &Problem{Kind: RolledBack, Machine: r.machine, Seq: end.Seq, Object: name,
				Detail: fmt.Sprintf("it was there, and now the last one is %d", last)}
		}
	}
}

// namesOf returns what listings have shown of a stream.
func (f *fetch) namesOf(m record.Machine) *names {
	f.mu.Lock()
	defer f.mu.Unlock()
	return cmp.Or(f.listed[m], new(names))
}

// list adds to the known names below a prefix, only of the machines if shallow.
func (f *fetch) list(prefix string, shallow bool) *Problem {
	f.requests <- struct{}{}
	objects, err := f.Store.List(f.ctx, bucket.ListOptions{Prefix: prefix, Shallow: shallow})
	<-f.requests
	f.note(err)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		return &Problem{Kind: Unreadable, Object: prefix, Detail: err.Error(), err: err}
	}
	if f.listed == nil {
		f.listed = map[record.Machine]*names{}
	}
	fresh := map[record.Machine]*names{}
	for _, o := range objects {
		m, n := parseListed(o.Name, shallow)
		if m == "" {
			continue // not an object of a stream
		}
		if fresh[m] == nil {
			fresh[m] = new(names)
		}
		switch {
		case shallow:
		case n.base:
			fresh[m].bases = append(fresh[m].bases, n.seq)
		default:
			fresh[m].records = append(fresh[m].records, n.seq)
		}
	}
	for m, n := range fresh {
		f.listed[m] = n
	}
	return nil
}

func compareProblems(a, b *Problem) int {
	return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Seq, b.Seq))
}
