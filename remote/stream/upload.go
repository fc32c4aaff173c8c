package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace/fault"
)

// tries is how often the same bytes are sent while the outcome is unknown.
const tries = 3

// errOther is the error for an object that has other bytes than those that were sent.
var errOther = errors.New("the store has other bytes")

// Upload sends the records that are not in the store, each after its packs. If the outcome of a
// request is unknown, it sends the same bytes again. The error is a *CopiedError if another copy of
// the machine has written its stream. After any error a later Upload continues.
func (w *Writer) Upload(ctx context.Context) error {
	for len(w.unsent) > 0 {
		v := w.unsent[0]
		for _, name := range packsOf(v.Ops) {
			if err := w.uploadPack(ctx, name); err != nil {
				return err
			}
		}
		stored, err := durable.ReadFile(w.root, w.fileOf(v.Seq))
		if err != nil {
			return err
		}
		if hashOf(stored) != v.after.Last {
			return w.damaged(w.fileOf(v.Seq), errors.New("another program changed it"))
		}
		err = w.remote.put(ctx, recordName(v.Machine, v.Seq), stored)
		if errors.Is(err, errOther) {
			return &CopiedError{v.Machine, v.Seq}
		}
		if err != nil {
			return err
		}
		if err := w.uploaded(v); err != nil {
			return err
		}
	}
	return nil
}

// UploadPacks sends the packs to which no record refers, because a base will.
func (w *Writer) UploadPacks(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(w.packed)) {
		if err := w.uploadPack(ctx, name); err != nil {
			return err
		}
		delete(w.packed, name)
		if err := w.remove([]string{packFile(name)}); err != nil {
			return err
		}
	}
	return nil
}

// uploaded notes that a record is in the store.
func (w *Writer) uploaded(v *verified) error {
	state := w.state
	state.Published = v.after
	state.Sent = append(slices.Clone(state.Sent), sent{v.Seq, v.after.Last})
	if err := w.save(state); err != nil {
		return err
	}
	w.unsent = w.unsent[1:]
	stale, err := w.stalePacks()
	if err != nil {
		return err
	}
	return w.remove(append(stale, w.fileOf(v.Seq)))
}

// uploadPack sends a pack, unless it is none of those that were added: then it was sent before.
func (w *Writer) uploadPack(ctx context.Context, name string) error {
	stored, err := durable.ReadFile(w.root, packFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if hashOf(stored) != name {
		return w.damaged(packFile(name), errors.New("its bytes are not those that its name says"))
	}
	err = w.remote.put(ctx, packs+name, stored)
	if errors.Is(err, errOther) {
		return &fault.Error{Code: fault.Damaged, Message: packs + name + " in the remote is damaged: its bytes are not those that its name says", Err: err}
	}
	return err
}

// put creates an object. It is no error if there is one with the same bytes: the answer was lost.
func (r *Remote) put(ctx context.Context, name string, data []byte) (err error) {
	for range tries {
		if err = r.Store.Put(ctx, name, data); err == nil {
			return nil
		}
		if errors.Is(err, bucket.ErrExists) {
			var there []byte
			if there, err = r.Store.Get(ctx, name); err == nil {
				if bytes.Equal(there, data) {
					return nil
				}
				return errOther
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("the store has %s, and does not return it", name)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// Renew makes the writer another machine, with a new key, and issues the records that are not known
// to be in the store anew in the stream of that machine. It returns them; those that Append or
// Unsent returned before are void. The stream of the old machine is then one of another machine.
func (w *Writer) Renew() ([]*record.Record, error) {
	signer, err := seal.NewSigner()
	if err != nil {
		return nil, err
	}
	state := machineState{Format: record.Format, Remote: w.remote.ID, Secret: signer.Secret(), Former: w.Published()}
	next := &Writer{root: w.root, signer: signer}
	issuer := issuer{remote: w.remote, signer: signer}
	for _, r := range join.Reissue(recordsOf(w.unsent), signer.Machine()) {
		if err := issuer.issue(*r); err != nil {
			return nil, err
		}
	}
	if err := durable.MakeDir(w.root, next.dir()); err != nil {
		return nil, err
	}
	for i, v := range issuer.records {
		if err := next.write(next.fileOf(v.Seq), issuer.stored[i]); err != nil {
			return nil, err
		}
	}
	if err := w.save(state); err != nil { // from now on it is the other machine
		return nil, err
	}
	w.signer, w.unsent = signer, issuer.records
	return recordsOf(w.unsent), w.tidy()
}
