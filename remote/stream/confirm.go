package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// A sent is a record that was uploaded.
type sent struct {
	Seq  uint64 `json:"seq"`
	Last string `json:"last"` // SHA-256 of its stored bytes
}

// A ForkedError reports that the store took records of this copy of a machine whose numbers another copy
// had used, and had deleted as garbage. No other machine reads them.
type ForkedError struct {
	Machine record.Machine
	Seq     uint64 // of the base that replaces what the other copy wrote
}

func (e *ForkedError) Error() string {
	return fmt.Sprintf("another copy of this workspace wrote the machine %s up to record %d, and deleted what this one has not seen", e.Machine, e.Seq)
}

// Unconfirmed returns how many records were uploaded since the last Confirm.
func (w *Writer) Unconfirmed() int { return len(w.state.Sent) }

// Forked reports whether Confirm returned a *ForkedError, and there was no Restart since.
func (w *Writer) Forked() bool { return w.state.Forked }

// Confirm looks for a base that replaces records uploaded since the last Confirm, but does not end
// with one of them: another copy of the machine wrote records with these numbers and deleted them,
// as after a disk was restored from a backup. Then the error is a *ForkedError. If nothing was
// uploaded, Confirm makes no request.
func (w *Writer) Confirm(ctx context.Context) error {
	if len(w.state.Sent) == 0 {
		return nil
	}
	listed, err := w.remote.Store.List(ctx, bucket.ListOptions{Prefix: streamOf(w.Machine()) + basePrefix})
	if err != nil {
		return err
	}
	for _, o := range listed {
		n := parseName(o.Name)
		if !n.base || n.seq < w.state.Sent[0].Seq {
			continue
		}
		own, err := w.isOwnBase(ctx, n.seq)
		if err != nil {
			return err
		}
		if !own {
			state := w.state
			state.Forked = true
			if err := w.save(state); err != nil {
				return err
			}
			return &ForkedError{w.Machine(), n.seq}
		}
	}
	state := w.state
	state.Sent = nil
	return w.save(state)
}

// isOwnBase reports whether a base ends with the record that this writer uploaded under its number.
func (w *Writer) isOwnBase(ctx context.Context, seq uint64) (bool, error) {
	i := slices.IndexFunc(w.state.Sent, func(s sent) bool { return s.Seq == seq })
	if i < 0 {
		return false, nil
	}
	stored, err := w.remote.Store.Get(ctx, baseName(w.Machine(), seq))
	if err != nil {
		return false, err
	}
	b, problem := w.remote.verifyBase(w.Machine(), seq, Cursor{Key: w.signer.Public()}, stored)
	if problem != nil {
		return false, problem
	}
	return b.Last == w.state.Sent[i].Last, nil
}

// Restart makes a forked writer another machine, which has no records. It deletes the records that
// were uploaded since the last Confirm, and forgets those that were not uploaded: the caller reads
// the remote anew, compares, and appends what that lacks. The new machine takes over the packs that
// this one made, see Made. The other copy names none of them any more, because it had nothing left
// to upload when it wrote its base.
func (w *Writer) Restart(ctx context.Context) error {
	for _, s := range w.state.Sent {
		name := recordName(w.Machine(), s.Seq)
		stored, err := w.remote.Store.Get(ctx, name)
		if err == nil && hashOf(stored) == s.Last {
			err = w.remote.Store.Delete(ctx, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	signer, err := seal.NewSigner()
	if err != nil {
		return err
	}
	next := &Writer{signer: signer}
	if err := durable.MakeDir(w.root, next.dir()); err != nil {
		return err
	}
	made, err := w.made()
	if err != nil {
		return err
	}
	if err := w.writeMade(next.Machine(), made); err != nil {
		return err
	}
	if err := w.save(machineState{Format: record.Format, Remote: w.remote.ID, Secret: signer.Secret(), Former: w.state.Former}); err != nil {
		return err
	}
	w.signer, w.unsent = signer, nil
	return w.tidy()
}
