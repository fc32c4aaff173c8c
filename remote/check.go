package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
)

// Check looks at all objects of the remote: that its key is right, that no stream lost its newest record or
// has another one than before, that the newest base of each can be read, and that all packs are there. It changes nothing.
func (r *Remote) Check(ctx context.Context, o CheckOptions) (*Report, error) {
	j, err := r.begin(ctx, "remote check", true)
	if err != nil {
		return nil, err
	}
	defer j.end()
	if err := checkRoot(ctx, j.stream.Store, j.stream.Key, j.config); err != nil {
		return nil, err
	}
	have, own := stream.Cursors{}, stream.Own{}
	if o.ReadData {
		j.state, j.known, j.Cursors = join.New(), nil, stream.Cursors{}
	} else {
		have.Merge(j.Cursors)
		have.Merge(j.writer.Published())
		own = j.writer.Own()
	}
	report := &Report{Remote: r.name, Problems: []*stream.Problem{}, Held: []stream.Held{}, Copies: []string{}, Packs: []string{}}
	got, conflicts := &fetched{next: have}, plan.NewConflicts(j.view())
	got.more = true
	for first := true; got.more; first = false {
		f, err := j.stream.Fetch(ctx, stream.Request{Have: got.next, Own: own, Scope: stream.Whole, Patience: 1, Without: got.without(), CheckBase: checkBase, Retired: j.state.RetiredThrough(), Lost: j.state.Lost(), AllBases: first})
		if err != nil {
			return nil, err
		}
		got.bases, got.records = nil, nil
		moved, err := j.take(got, f)
		if err != nil {
			return nil, err
		}
		got.advance(f, moved)
		j.noteNewer(f.Unknown)
		j.join(got, conflicts)
		report.Held = f.Held
		for _, p := range slices.Concat(got.problems, f.Problems) {
			same := func(o *stream.Problem) bool { return o.Machine == p.Machine && o.Seq == p.Seq && o.Kind == p.Kind }
			if !slices.ContainsFunc(report.Problems, same) {
				report.Problems = append(report.Problems, p)
			}
		}
	}
	for m, n := range j.state.Lost() {
		if seq := j.state.Vector()[m] + 1; !slices.ContainsFunc(report.Problems, func(p *stream.Problem) bool { return p.Machine == m }) {
			report.Problems = append(report.Problems, &stream.Problem{Kind: stream.Lost, Machine: m, Seq: seq, Object: objectName(m, seq),
				Detail: fmt.Sprintf("it and others up to record %d are lost, and the machine is retired", n)})
		}
	}
	absent := j.state.Missing()
	for _, m := range slices.Sorted(maps.Keys(absent)) {
		seq := absent[m]
		if !slices.ContainsFunc(report.Problems, func(p *stream.Problem) bool { return p.Machine == m }) {
			report.Problems = append(report.Problems, &stream.Problem{Kind: stream.Withheld, Machine: m, Seq: seq, Object: objectName(m, seq), Detail: "it is not there, but a base that was read has seen it"})
		}
	}
	if report.Held == nil {
		report.Held = []stream.Held{}
	}
	if report.Packs, err = j.missingPacks(); err != nil {
		return nil, err
	}
	if o.ReadData {
		if err := j.readPacks(report); err != nil {
			return nil, err
		}
	}
	if folder, ok := r.store.(*bucket.Folder); ok {
		list, err := folder.Conflicts(ctx)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			report.Copies = append(report.Copies, c.File)
		}
	}
	report.Newer = j.newer()
	report.Machines = machinesOf(j.view(), j.state, j.writer.Machine())
	report.Requests = j.meter.Usage().Sub(j.before).Requests()
	lost := func(p *stream.Problem) bool { return p.Kind == stream.Lost } // it was reported, and a user has decided
	report.OK = !slices.ContainsFunc(report.Problems, func(p *stream.Problem) bool { return !lost(p) }) && len(report.Held)+len(report.Packs)+len(report.Copies) == 0
	return report, nil
}

// missingPacks returns the names of the packs that are needed and that the store does not have.
func (j *job) missingPacks() ([]string, error) {
	objects, err := j.stream.Store.List(j.ctx, bucket.ListOptions{Prefix: "p/"})
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, o := range objects {
		there[strings.TrimPrefix(o.Name, "p/")] = true
	}
	for _, r := range j.writer.Unsent() {
		for _, op := range r.Ops {
			if op.Body != nil {
				there[op.Body.Pack] = true // it is uploaded before its record
			}
		}
	}
	missing := []string{}
	for _, p := range j.state.Packs() {
		if !there[p.Name] {
			missing = append(missing, p.Name)
		}
	}
	return missing, nil
}

// readPacks reads the packs that are needed and reports those that are not what their names say.
func (j *job) readPacks(report *Report) error {
	for _, p := range j.state.Packs() {
		if slices.Contains(report.Packs, p.Name) {
			continue
		}
		err := j.stream.CheckPack(j.ctx, p.Name)
		switch {
		case errors.Is(err, fault.NotFound), errors.Is(err, fault.Damaged):
			report.Packs = append(report.Packs, p.Name)
		case err != nil:
			return err
		}
	}
	return nil
}

// Retire records that a machine, given by name or id, will not return, so that no other machine
// waits for it before deleting records that it has not read. If the machine does return, it starts
// from a base. Records of it that other machines have read but the store has lost are given up:
// records that depend on them are accepted without them.
func (r *Remote) Retire(ctx context.Context, machine string) (*Result, error) {
	j, err := r.begin(ctx, "remote retire", false)
	if err != nil {
		return nil, err
	}
	defer j.end()
	f, err := j.stream.Fetch(ctx, stream.Request{Have: j.Cursors, Own: j.writer.Own(), Scope: stream.Whole, Lost: j.state.Lost()})
	if err != nil {
		return nil, err
	}
	unread := record.Vector{} // what others have seen of machines
	for _, h := range f.Held {
		for m, n := range h.Needs {
			unread[m] = max(unread[m], n)
		}
	}
	m, err := j.machineNamed(machine, unread)
	if err != nil {
		return nil, err
	}
	b := &batch{writer: j.writer}
	if err := b.add(j.view().Retire(m, unread[m])); err != nil {
		return nil, err
	}
	if err := j.append(b, j.Cursors, nil); err != nil {
		return nil, err
	}
	j.changed = true
	if err := errors.Join(j.upload(), j.save()); err != nil {
		return nil, err
	}
	return j.done(), nil
}

// machineNamed returns the machine with a name or an id. Of one of which nothing can be read there is only the id.
func (j *job) machineNamed(name string, unread record.Vector) (record.Machine, error) {
	for _, m := range j.view().Machines {
		if m.Name != name && string(m.ID) != name {
			continue
		}
		if m.ID == j.writer.Machine() {
			return "", &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%s is this machine", name)}
		}
		return m.ID, nil
	}
	if m := record.Machine(name); slices.Contains(j.Newer, m) || unread[m] > 0 {
		return m, nil
	}
	var names []string
	for _, m := range j.view().Machines {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return "", &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the remote has no machine %q", name), Hint: "its machines are " + strings.Join(names, ", ")}
}
