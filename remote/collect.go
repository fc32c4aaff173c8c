package remote

import (
	"cmp"
	"errors"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
)

// garbage is a pack that no record after one needs, or what only records up to one have.
type garbage struct {
	Pack     string         `json:"pack"`               // "" for what only records have
	Seq      uint64         `json:"seq"`                // of the record
	Sessions []string       `json:"sessions,omitempty"` // that were purged, of which there may be something in it; none for a pack of which it is not known what it has
	Machine  record.Machine `json:"machine,omitempty"`  // that wrote the record, before this workspace became another one; "" for the own one
}

// mayHave reports whether there may be something of a purged session in the garbage.
func (g garbage) mayHave(session string) bool {
	return slices.Contains(g.Sessions, session) || g.isFound()
}

// isFound reports whether it is a pack that findLost found.
func (g garbage) isFound() bool { return g.Pack != "" && len(g.Sessions) == 0 }

// seenBy reports whether what was merged of all streams covers the record.
func (g garbage) seenBy(seen record.Vector, own record.Machine) bool {
	return g.Seq <= seen[cmp.Or(g.Machine, own)]
}

// baseEvery is after how many own records there is a new base.
const baseEvery = 256

// tidy stores the own stream again if it is gone, and collects garbage. If that fails, a later sync does it. The
// error is that of a forked stream.
func (j *job) tidy() error {
	if !j.dry && j.writer.Unconfirmed() >= baseEvery {
		if err := j.confirm(); err != nil {
			return err
		}
	}
	err := errors.Join(j.restore(), j.collect())
	switch {
	case isForked(err):
		return err
	case err != nil && j.ctx.Err() == nil:
		j.opts.note("garbage of the remote was not deleted: " + err.Error())
	}
	return nil
}

// collect stores a base of the own records and deletes garbage: once in a while, and more often while a purge waits.
// Records of a newer version of bough may need what this version takes for garbage, so then it does nothing until
// the machines that wrote them are retired.
func (j *job) collect() error {
	if j.searches {
		if err := j.findLost(); err != nil {
			return err
		}
	}
	own := j.writer.Machine()
	at := j.writer.Published()[own].Seq
	seen := j.state.Acknowledged()
	seen[own] = min(at, seen[own])
	through := seen[own]
	free := func(g garbage) bool { return g.seenBy(seen, own) }
	every := j.baseEvery
	switch {
	case len(j.Garbage) == 0:
	case through > j.Collected, slices.ContainsFunc(j.Garbage, free):
		every = 0 // a purge waits for it, and others have seen more
	default:
		every = 1
	}
	if j.dry || len(j.writer.Unsent()) > 0 || at < j.Based+every || len(j.newer()) > 0 || len(j.state.Missing()) > 0 {
		return nil
	}
	if j.state.Vector()[own] != at {
		return nil // there are records of the own stream that were not read yet
	}
	if at > j.Based {
		if err := j.writer.Confirm(j.ctx); err != nil {
			return err
		}
		if err := j.putBase(own); err != nil {
			return err
		}
		if err := j.findLost(); err != nil {
			return err
		}
	}
	var needed map[string]bool
	if len(j.Garbage) > 0 {
		needed = j.named()
	}
	var packs []string
	for _, g := range j.Garbage {
		if free(g) && g.Pack != "" && !needed[g.Pack] {
			packs = append(packs, g.Pack)
			j.packs.Forget(g.Pack)
		}
	}
	if _, err := j.writer.Collect(j.ctx, stream.Plan{Through: through, Packs: packs}); err != nil {
		return err
	}
	j.Garbage = slices.DeleteFunc(j.Garbage, free)
	j.Based, j.Collected, j.changed = at, through, true
	return nil
}

// named returns the packs that elements of the state name.
func (j *job) named() map[string]bool {
	names := map[string]bool{}
	for _, p := range j.state.Packs() {
		names[p.Name] = true
	}
	return names
}

// findLost adds to the garbage the packs that this machine made and that nothing names: a process ended after it had
// uploaded one, or the rows with the garbage were lost. A base of these records may name
// them: one that another copy of the machine has stored or is about to store, or one that a list did not show. So they wait
// as if the next own record dropped them: no other copy has written one of that number, and a newer base replaces that one
// before they are deleted. If the state may lack what names a pack, nothing is done.
func (j *job) findLost() error {
	if j.dry || j.behind() || len(j.writer.Unsent()) > 0 || len(j.newer()) > 0 || len(j.state.Missing()) > 0 {
		return nil
	}
	made, err := j.writer.Made()
	if err != nil || len(made) == 0 {
		return err
	}
	known := j.named()
	for _, g := range j.Garbage {
		known[g.Pack] = true
	}
	for _, pack := range made {
		if !known[pack] {
			j.Garbage, j.changed = append(j.Garbage, garbage{Pack: pack, Seq: j.writer.Published()[j.writer.Machine()].Seq + 1}), true
		}
	}
	j.searches = false
	return nil
}

// restore stores a base of the own records if the store lost all of them: no other machine can write to the stream.
func (j *job) restore() error {
	own := j.writer.Machine()
	at := j.writer.Published()[own].Seq
	if !j.ownAbsent || j.dry || len(j.writer.Unsent()) > 0 || at == 0 || j.state.Vector()[own] != at {
		return nil
	}
	if err := j.putBase(own); err != nil {
		return err
	}
	j.ownAbsent, j.Based, j.changed = false, at, true
	return nil
}

// putBase stores a base of the own records.
func (j *job) putBase(own record.Machine) error {
	if err := j.packInline(); err != nil {
		return err
	}
	base := j.state.Base(own)
	readable := func(b *seal.Base) error { // nothing is deleted for a base that others could not read
		_, err := decodeBase(b)
		return err
	}
	_, err := j.writer.PutBase(j.ctx, seal.Base{Seen: base.Seen, Lost: base.Lost, Content: base.Encode()}, readable)
	return err
}

// packInline moves the items that are in own records to packs, so that a base is small, and who reads it
// gets them when they are needed.
func (j *job) packInline() error {
	own := j.writer.Machine()
	messages, others := j.writer.Packer(), j.writer.Packer() // who receives no files need not read theirs
	bodies := map[join.Place]*record.Body{}
	for at, body := range j.state.Inline(own) {
		packer := others
		if _, ok := plan.SessionOf(at.Entity); ok {
			packer = messages
		}
		parts, err := packer.Add(body.Items)
		if err != nil {
			return err
		}
		if len(parts) == 1 { // else they are in two packs, and stay
			bodies[at] = parts[0]
		}
	}
	if len(bodies) == 0 {
		return nil
	}
	if err := errors.Join(messages.Close(), others.Close()); err != nil {
		return err
	}
	if err := j.writer.UploadPacks(j.ctx); err != nil {
		return err
	}
	for at, body := range bodies {
		j.state.Move(at, body)
	}
	j.known, j.changed = nil, true
	return j.save() // before a base has them, so that what is not named here is in no base
}
