package checkup

import (
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

// settle waits until a file has not changed for Options.Settle, but at most ten
// times that. It returns the file's identity, and reports whether the file is
// stable. A missing file is stable.
func (d *checkup) settle(name string) (id durable.Identity, settled bool) {
	id = d.identity(name)
	wait := d.v.Store.Opts.Settle
	if wait <= 0 || id == (durable.Identity{}) {
		return id, true
	}
	if age := time.Since(time.Unix(0, max(id.ModTime, id.Changed))); age > wait {
		return id, true
	}
	step := time.NewTicker(max(wait/20, time.Millisecond))
	defer step.Stop()
	end, since := time.Now().Add(10*wait), time.Now()
	for time.Since(since) < wait {
		select {
		case <-d.v.Ctx.Done():
			return id, false
		case <-step.C:
		}
		if now := d.identity(name); now != id {
			id, since = now, time.Now()
		}
		if time.Now().After(end) {
			return id, false
		}
	}
	return id, true
}

// identity returns the identity of a file, zero if it does not exist.
func (d *checkup) identity(name string) durable.Identity {
	info, err := d.v.Root.Stat(name)
	if err != nil {
		return durable.Identity{}
	}
	return durable.Identify(info)
}
