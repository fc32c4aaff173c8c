package remote

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
)

// complete returns an error if a base was read and not all that its machine had seen, or not all own records: then the state
// may show what was dropped, or lack what was sent.
func (j *job) complete() error {
	if len(j.state.Missing()) == 0 && !j.behind() {
		return nil
	}
	return &fault.Error{Code: fault.Failed, Message: "not all of the remote could be read", Hint: "pull again"}
}

// An aheadError reports bases in the state that had seen records which the remote does not have: nothing can be applied
// with them. A fetch in portions adds a base before it has read all records that the base has seen, if they are listed;
// one of these may turn out to be damaged.
type aheadError struct {
	error
	machines []record.Machine  // of the bases, and those that had seen these
	problems []*stream.Problem // the absent records
}

func (e *aheadError) Unwrap() error { return e.error }

// readAll is complete after all of the remote was read. The error is an *aheadError if the store answered everything: what
// is missing is then not there, and the rest can be read without what had seen it.
func (j *job) readAll() error {
	err := j.complete()
	unreadable := func(p *stream.Problem) bool { return p.Kind == stream.Unreadable }
	if err == nil || j.dry || slices.ContainsFunc(j.result.Problems, unreadable) {
		return err
	}
	ahead := &aheadError{error: err, machines: j.state.Ahead()}
	published := j.writer.Published()
	own := func(m record.Machine) bool { return m == j.writer.Machine() || published[m].Seq > 0 }
	if len(ahead.machines) == 0 || slices.ContainsFunc(ahead.machines, own) {
		return err
	}
	missing := j.state.Missing()
	for _, m := range slices.Sorted(maps.Keys(missing)) {
		seq := j.state.Vector()[m] + 1
		ahead.problems = append(ahead.problems, &stream.Problem{Kind: stream.Withheld, Machine: m, Seq: seq, Object: objectName(m, seq),
			Detail: fmt.Sprintf("it is not there, but a base of the machine %s has seen record %d", ahead.machines[0], missing[m])})
	}
	return ahead
}

func objectName(m record.Machine, seq uint64) string { return fmt.Sprintf("m/%s/%08d", m, seq) }

// behind reports whether the state lacks records that this workspace has sent: the process ended before
// it was stored.
func (j *job) behind() bool {
	have := j.state.Vector()
	for m, c := range j.writer.Published() {
		if have[m] < c.Seq {
			return true
		}
	}
	return false
}

// fetched is a portion of what is read of the streams.
type fetched struct {
	sent    []*record.Record // own ones of which it was not known that they are in the store
	bases   []*join.Base
	records []*record.Record
	next    stream.Cursors
	givenUp record.Vector // lost records of retired machines; what has seen them is read without them
	more    bool          // there may be another portion

	lost     bool              // own records are read as those of others
	bad      []record.Machine  // whose streams are not read on
	problems []*stream.Problem // of the streams in bad, and of what was given up
	waiting  []record.Machine  // whose streams are not read until the others are, because what waits in them took all room
	again    bool              // the portion is the one after the others were read

	missing map[record.Machine]int // Cursor.Missing before the first portion
}

// without returns the machines whose streams the next portion does not have.
func (g *fetched) without() []record.Machine { return slices.Concat(g.bad, g.waiting) }

// advance decides whether there is another portion, after one that moved a cursor or did not.
func (g *fetched) advance(f *stream.Fetched, moved bool) {
	before := len(g.waiting)
	if f.More && !moved && !g.again {
		for _, h := range f.Held {
			if !slices.Contains(g.waiting, h.Machine) {
				g.waiting = append(g.waiting, h.Machine)
			}
		}
	}
	switch {
	case f.More && moved, len(g.waiting) > before:
		g.more, g.again = true, false
	case len(g.waiting) > 0:
		g.more, g.again, g.waiting = true, true, nil
	default:
		g.more = false
	}
}

// countOnce has what is missing in several portions of one pull counted once.
func (g *fetched) countOnce() {
	if g.missing == nil {
		g.missing = map[record.Machine]int{}
		for m, c := range g.next {
			g.missing[m] = c.Missing
		}
	}
	for m, c := range g.next {
		c.Missing = g.missing[m]
		g.next[m] = c
	}
}

// fetch reads the new records and bases of the store: the first portion of them, or the one after before.
func (j *job) fetch(o PullOptions, before *fetched) (*fetched, error) {
	got := &fetched{next: maps.Clone(j.Cursors), lost: j.behind()}
	if before != nil {
		got.lost, got.bad, got.problems, got.waiting, got.again, got.missing = before.lost, before.bad, before.problems, before.waiting, before.again, before.missing
	}
	got.countOnce()
	q := stream.Request{Have: got.next, Own: j.writer.Own(), Scope: stream.Names, MaxBytes: j.fetchBytes, Without: got.without(), CheckBase: checkBase, Retired: j.state.RetiredThrough(), Lost: j.state.Lost()}
	switch {
	case o.Whole || got.lost || !j.isKnown(): // a base may replace own records that are lost here
		q.Scope = stream.Whole
	case o.Known:
		q.Scope = stream.Known
	}
	if got.lost {
		q.Own = stream.Own{} // the own stream is read as the others
	}
	f, err := j.stream.Fetch(j.ctx, q)
	if err == nil && (len(f.Absent) > 0 || slices.ContainsFunc(f.Problems, isStrange)) {
		err = checkRoot(j.ctx, j.stream.Store, j.stream.Key, j.config)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range j.writer.Unsent() {
		other := func(o *record.Record) bool { return o.Machine == r.Machine && o.Seq == r.Seq }
		if !got.lost && r.Seq <= f.Next[r.Machine].Seq && !slices.ContainsFunc(f.Records, other) {
			got.sent = append(got.sent, r)
		}
	}
	if f.Copied && !got.lost {
		if err := j.becomeAnother(); err != nil {
			return nil, err
		}
	}
	moved, err := j.take(got, f)
	if err != nil {
		return nil, err
	}
	got.advance(f, moved)
	var others []*stream.Problem
	for _, p := range f.Problems {
		switch {
		case p.Kind != stream.Lost:
			others = append(others, p)
		case f.Lost[p.Machine] > 0: // only this portion says it
			got.problems = append(got.problems, p)
		case j.state.Lost()[p.Machine] == 0 && f.Next[p.Machine].Missing == stream.DefaultPatience: // else it was reported
			others = append(others, p)
		}
	}
	j.result.Problems = slices.Concat(got.problems, others)
	own := j.writer.Machine()
	j.ownAbsent = j.ownAbsent || slices.Contains(f.Absent, own) && slices.ContainsFunc(f.Problems, func(p *stream.Problem) bool { return p.Machine == own })
	j.noteNewer(f.Unknown)
	return got, nil
}

// noteNewer notes machines that wrote what this version does not know.
func (j *job) noteNewer(machines []record.Machine) {
	for _, m := range machines {
		if !slices.Contains(j.Newer, m) {
			j.Newer = append(j.Newer, m)
		}
	}
}

// newer returns the names of the machines that wrote what this version does not know and are not retired: a newer
// version has to collect garbage. A machine of which nothing can be read has its id for a name.
func (j *job) newer() []string {
	names := []string{}
	wrote := append(j.state.Newer(), j.Newer...)
	for _, m := range j.view().Machines {
		if slices.Contains(wrote, m.ID) && !m.Retired {
			names = append(names, m.Name)
		}
	}
	for _, m := range wrote {
		if !slices.ContainsFunc(j.view().Machines, func(o join.Machine) bool { return o.ID == m }) && !j.state.Retired(m) {
			names = append(names, string(m))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// isStrange reports whether a problem may be that another remote is in the store.
func isStrange(p *stream.Problem) bool {
	return p.Kind == stream.Forged || p.Kind == stream.Swapped || p.Kind == stream.RolledBack || p.Kind == stream.Malformed
}

// joinAll joins a portion of what was read and all that follow it. Between two of them it stores the state, so that
// only one is in memory, however much others have written.
func (j *job) joinAll(o PullOptions, got *fetched, conflicts *plan.Conflicts) error {
	for {
		j.join(got, conflicts)
		if !got.more {
			return nil
		}
		if !j.dry {
			if err := errors.Join(j.save(), j.rebuild()); err != nil {
				return err
			}
		}
		var err error
		if got, err = j.fetch(o, got); err != nil {
			return err
		}
	}
}

// isKnown reports whether all machines know this one: then they delete no record that it has not seen.
// Otherwise the next record of a stream may be gone, and only a listing shows the base that replaces it.
func (j *job) isKnown() bool {
	own := j.writer.Machine()
	if j.writer.Published()[own].Seq == 0 {
		return false
	}
	return !slices.ContainsFunc(j.view().Machines, func(m join.Machine) bool {
		return m.ID == own && m.Retired || m.ID != own && !m.Retired && m.Seen[own] == 0
	})
}

// take adds what was fetched to got, and reports whether a cursor moved.
func (j *job) take(got *fetched, f *stream.Fetched) (moved bool, err error) {
	for _, b := range f.Bases {
		base, err := decodeBase(b)
		if err != nil {
			return false, err
		}
		got.bases = append(got.bases, base)
	}
	got.records = append(got.records, f.Records...)
	got.givenUp = f.Lost
	for m, c := range f.Next {
		moved = moved || c.Seq > got.next[m].Seq
		got.next[m] = c
	}
	j.result.Got.Records += len(f.Records)
	return moved, nil
}

// decodeBase decodes the content of a base. Its Lamport is less than that of the base if versions before Lost wrote the
// last records.
func decodeBase(b *seal.Base) (*join.Base, error) {
	base, err := join.DecodeBase(b.Content)
	if err == nil && (base.Machine != b.Machine || base.Seq != b.Seq || base.Lamport > b.Lamport || !maps.Equal(base.Seen, b.Seen) || !maps.Equal(base.Lost, b.Lost)) {
		err = errors.New("it is the base of other records")
	}
	return base, err
}

func checkBase(b *seal.Base) (retired record.Vector, err error) {
	base, err := decodeBase(b)
	if err != nil {
		return nil, err
	}
	return base.Retired(), nil
}

// prefetch reads the packs of new messages into the cache.
func (j *job) prefetch(got *fetched, scope plan.Scope) error {
	if j.dry || !scope.Has("sessions") || len(got.bases) > 0 {
		return nil
	}
	const most = 16
	seen := map[string]bool{}
	for _, r := range got.records {
		for _, op := range r.Ops {
			id, ok := plan.SessionOf(op.Entity)
			if !ok || op.Body == nil || op.Body.Pack == "" || seen[op.Body.Pack] || len(seen) == most || scope.Session != "" && id != scope.Session {
				continue
			}
			seen[op.Body.Pack] = true
			for _, err := range j.packs.Items(j.ctx, op.Body) {
				if j.ctx.Err() != nil {
					return err
				}
				break // an error is reported when the session is applied
			}
		}
	}
	return nil
}
