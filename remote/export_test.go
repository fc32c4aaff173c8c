package remote

import (
	"context"

	"github.com/bough-dev/bough/remote/plan"
)

// SetBaseEvery sets after how many own records there is a new base.
func (r *Remote) SetBaseEvery(n uint64) { r.baseEvery = n }

// Forget has a session compared anew, as after a process that was killed before it stored that it had
// compared it. Pending says that its messages were being applied.
func (r *Remote) Forget(ctx context.Context, id string, pending bool) error {
	j, err := r.begin(ctx, "test", false)
	if err != nil {
		return err
	}
	defer j.end()
	j.Here.SetSession(id, plan.Session{})
	if pending {
		j.Here.SetPending(id, true)
	}
	j.Here.Since, j.changed = 0, true
	return j.save()
}

// SetQuotaLess sets by how many bytes the quota of a session is smaller.
func (r *Remote) SetQuotaLess(n int) { r.quotaLess = n }

// SetFetchBytes sets how many bytes of records a fetch reads at once.
func (r *Remote) SetFetchBytes(n int64) { r.fetchBytes = n }
