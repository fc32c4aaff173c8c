package remote

import (
	"slices"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/stream"
)

// garbage is a pack that no record after one needs.
type garbage struct {
	Pack string `json:"pack"`
	Seq  uint64 `json:"seq"` // of the own record
}

// baseEvery is after how many own records there is a new base.
const baseEvery = 256

// tidy collects garbage. If that fails, a later push does it.
func (j *job) tidy() {
	if err := j.collect(); err != nil && j.ctx.Err() == nil {
		j.opts.note("garbage of the remote was not deleted: " + err.Error())
	}
}

// collect stores a base of the own records and deletes what nobody needs any more, once in a while. What
// a newer version of bough wrote may need what this one takes for garbage, so then it does nothing.
func (j *job) collect() error {
	own := j.writer.Machine()
	at := j.writer.Published()[own].Seq
	every := j.baseEvery
	if len(j.Garbage) > 0 {
		every = 1 // somebody wants it gone
	}
	if j.dry || len(j.writer.Unsent()) > 0 || at < j.Based+every || j.Unknown || len(j.state.Kept()) > 0 || len(j.state.Missing()) > 0 {
		return nil
	}
	base := j.state.Base(own)
	if base.Seq != at {
		return nil // there are records of the own stream that were not read yet
	}
	content := base.Encode()
	if len(content) > bucket.MaxObject {
		j.opts.note("the records of this machine cannot be replaced by a base: it would be too large")
		return nil
	}
	if _, err := j.writer.PutBase(j.ctx, base.Seen, content); err != nil {
		return err
	}
	through := min(at, j.state.Acknowledged()[own])
	var packs []string
	for _, g := range j.Garbage {
		if g.Seq <= through && g.Pack != "" {
			packs = append(packs, g.Pack)
		}
	}
	if _, err := j.writer.Collect(j.ctx, stream.Plan{Through: through, Packs: packs}); err != nil {
		return err
	}
	j.Garbage = slices.DeleteFunc(j.Garbage, func(g garbage) bool { return g.Seq <= through })
	j.Based, j.changed = at, true
	return nil
}
