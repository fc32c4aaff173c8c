package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/travel"
	"github.com/bough-dev/bough/workspace/fault"
)

// Purge removes a session from the store. With its next push, each machine drops everything that it
// wrote of the session. It deletes these objects when all machines have seen that; until then,
// Purge lists the machines whose objects still have messages of the session. The workspaces keep
// the session, and do not send it again. Sessions that were copied from it keep its messages.
func (r *Remote) Purge(ctx context.Context, session string) (*Purge, error) {
	j, err := r.begin(ctx, "remote purge", false)
	if err != nil {
		return nil, err
	}
	defer j.end()
	if err := j.complete(); err != nil {
		return nil, err
	}
	if j.view().Session(session) == nil {
		return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the remote has no session %q", session)}
	}
	if err := j.findLost(); err != nil {
		return nil, err
	}
	next := j.writer.Published()[j.writer.Machine()].Seq + 1
	waits := func(g garbage) bool { return g.isFound() && g.Machine == "" && g.Seq == next }
	if !j.view().IsPurged(session) || slices.ContainsFunc(j.Garbage, waits) { // others answer a purge with a record, as nothing else
		if !j.state.Wrote("session/"+session, j.writer.Machine()) {
			j.noteForgotten(session) // what this machine writes of it from now on is no content
		}
		b := &batch{writer: j.writer}
		if err := b.add(j.view().Purge(session)...); err != nil {
			return nil, err
		}
		if err := j.append(b, j.Cursors, nil); err != nil {
			return nil, err
		}
	}
	b := &batch{writer: j.writer}
	if err := j.dropPurged(b); err != nil {
		return nil, err
	}
	if err := j.append(b, j.Cursors, nil); err != nil {
		return nil, err
	}
	j.changed = true
	err = errors.Join(j.save(), j.upload())
	if err == nil {
		j.searches = true
		err = j.collect()
	}
	if err := errors.Join(err, j.save(), j.erase()); err != nil {
		return nil, err
	}
	p := &Purge{Session: session, Holders: j.holders(session), Gone: []string{}, Waiting: j.waiting(session), Newer: j.newer()}
	for _, m := range j.view().Machines {
		if m.Retired && slices.Contains(p.Holders, m.Name) {
			p.Gone = append(p.Gone, m.Name)
		}
	}
	return p, nil
}

// noteForgotten notes that this machine has nothing of a purged session in the store.
func (j *job) noteForgotten(session string) {
	if j.Purged == nil {
		j.Purged = map[string]bool{}
	}
	j.Purged[session] = true
}

// erase removes what this workspace stored of the remote and is to forget.
func (j *job) erase() error {
	if !j.toErase {
		return nil
	}
	j.toErase = false
	return j.rows.Erase()
}

// holders returns the names of the machines that have messages of a session in the store.
func (j *job) holders(session string) []string {
	machines := append(j.view().Holders(session), travel.Project(j.state).Holders(session)...)
	inGarbage := slices.ContainsFunc(j.Garbage, func(g garbage) bool { return g.mayHave(session) })
	if own := j.writer.Machine(); inGarbage && !slices.Contains(machines, own) {
		machines = append(machines, own)
	}
	names := []string{}
	for _, m := range j.view().Machines {
		if slices.Contains(machines, m.ID) {
			names = append(names, m.Name)
		}
	}
	return names
}

// waiting returns the names of the machines, but this one, that have not seen the purge of a session, or what
// this machine dropped for it.
func (j *job) waiting(session string) []string {
	own := j.writer.Machine()
	needed := record.Vector{}
	if at, ok := j.view().PurgedAt(session); ok {
		needed[at.Machine] = at.Seq
	}
	for _, g := range j.Garbage {
		if g.mayHave(session) {
			m := cmp.Or(g.Machine, own)
			needed[m] = max(needed[m], g.Seq)
		}
	}
	names := []string{}
	for _, m := range j.view().Machines {
		seen := maps.Clone(m.Seen)
		if seen == nil {
			seen = record.Vector{}
		}
		seen[m.ID] = m.Records
		if m.ID != own && !m.Retired && !seen.Covers(needed) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// dropPurged adds to a batch what takes the own messages of purged sessions out of the store: they are
// dropped, items that refer to them get their bytes, and items in the same packs move to another one.
func (j *job) dropPurged(b *batch) error {
	if j.dry {
		return nil
	}
	packs, purged := map[string]bool{}, map[string]bool{}
	wrote := map[string]bool{}
	before := len(b.entries)
	for _, id := range j.view().Purged() {
		if j.Purged[id] {
			continue
		}
		purged[id] = true
		if j.state.Wrote("session/"+id, j.writer.Machine()) {
			wrote[id] = true
		}
		runs := j.ownRuns(id)
		for _, run := range runs {
			packs[run.Body.Pack] = true
		}
		if len(runs) > 0 {
			if err := b.add(plan.Replace(id, stampsOf(runs), nil)...); err != nil {
				return err
			}
		}
	}
	if len(purged) == 0 {
		return nil
	}
	j.searches = true
	objects, live, err := j.purgeFiles(b)
	if err != nil {
		return err
	}
	for _, run := range objects {
		if run.dead {
			packs[run.Body.Pack] = true
		}
	}
	delete(packs, "")
	if err := j.replaceObjects(b, objects, live, packs); err != nil {
		return err
	}
	if err := b.add(j.view().DropLog(j.writer.Machine(), purged)...); err != nil {
		return err
	}
	for s := range j.view().Sessions() {
		if purged[s.ID] {
			continue
		}
		before := len(b.entries)
		for _, run := range j.ownRuns(s.ID) {
			if err := j.replaceRun(b, s.ID, run, packs, purged); err != nil {
				return err
			}
		}
		if e := j.state.Entity("session/" + s.ID); len(b.entries) > before && e != nil && !e.Alive {
			// What is added to a removed session would bring it back.
			if err := b.add(plan.Op{Op: record.Op{Do: record.Remove, Entity: "session/" + s.ID}}); err != nil {
				return err
			}
		}
	}
	next := j.writer.Published()[j.writer.Machine()].Seq + uint64(len(j.writer.Unsent())) + 1
	if len(packs) > 0 {
		wrote = purged // the packs may have something of any of them
	}
	held := slices.Sorted(maps.Keys(wrote))
	for pack := range packs {
		j.Garbage = append(j.Garbage, garbage{Pack: pack, Seq: next, Sessions: held})
	}
	if len(b.entries) == before {
		next-- // an earlier record dropped it
	}
	if len(packs) == 0 && len(held) > 0 {
		j.Garbage = append(j.Garbage, garbage{Seq: next, Sessions: held}) // only records have it
	}
	// After the drop is recorded, only this names the packs. If a crash comes before, they are still needed.
	j.changed = true
	if err := j.save(); err != nil {
		return err
	}
	for id := range purged {
		j.noteForgotten(id)
		j.Strip = append(j.Strip, id)
		if s, ok := j.Here.Session(id); ok {
			s.Title = ""
			j.Here.SetSession(id, s)
		}
		if err := j.notes.forget(id); err != nil {
			return err
		}
	}
	j.changed = true
	return nil
}

// replaceRun adds a run again, if it is in one of the packs or repeats messages of a purged session.
func (j *job) replaceRun(b *batch, id string, run join.Element, packs, purged map[string]bool) error {
	var items []record.Item
	again, quota := packs[run.Body.Pack], new(plan.Quota)
	for it, err := range j.packs.Items(j.ctx, run.Body) {
		if err != nil {
			return err
		}
		if it.Path == nil || !purged[it.Path.Session] {
			items = append(items, *it)
			continue
		}
		list, _, err := plan.Expand([]record.Item{*it}, quota, loadOnce(j.local, quota), loadOnce(j.raw, quota))
		if err != nil {
			return err
		}
		items, again = append(items, list...), true
	}
	if !again {
		return nil
	}
	return b.add(plan.Replace(id, []record.Stamp{run.Stamp}, items)...)
}

// ownRuns returns the runs of a session that this machine added.
func (j *job) ownRuns(id string) []join.Element {
	return slices.DeleteFunc(slices.Clone(j.view().Session(id).Runs), func(run join.Element) bool { return run.Stamp.Machine != j.writer.Machine() })
}

func stampsOf(runs []join.Element) (stamps []record.Stamp) {
	for _, run := range runs {
		stamps = append(stamps, run.Stamp)
	}
	return stamps
}
