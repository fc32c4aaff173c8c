package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace/fault"
)

// PutBase stores a base for all records of the stream that are in the store, so that other machines
// can read it instead of them. Of base it uses only Seen and Lost, the records that the machine had
// merged and given up when it made Content, and Content itself. If check, which gets the whole
// base, returns an error, nothing is stored. PutBase returns the number of the last of these
// records.
func (w *Writer) PutBase(ctx context.Context, base seal.Base, check func(*seal.Base) error) (uint64, error) {
	at := w.state.Published
	if at.Seq == 0 {
		return 0, &fault.Error{Code: fault.Refused, Message: "the machine has no records in the remote"}
	}
	base.Format, base.Machine, base.Seq, base.Lamport = record.Format, w.Machine(), at.Seq, at.Lamport
	base.Last, base.Key, base.Parts = at.Last, w.signer.Public(), nil
	base.Seen = maps.Clone(base.Seen)
	delete(base.Seen, w.Machine())
	if err := check(&base); err != nil {
		return 0, err
	}
	stored, err := w.sealBase(&base)
	if err != nil {
		return 0, err
	}
	if len(stored) > w.maxBase {
		if base.Parts, err = w.putParts(ctx, at.Seq, base.Content); err != nil {
			return 0, err
		}
		base.Content = nil
		if stored, err = w.sealBase(&base); err != nil {
			return 0, err
		}
	}
	err = w.remote.put(ctx, baseName(w.Machine(), at.Seq), stored)
	if errors.Is(err, errOther) { // an earlier attempt, which encrypted the same content to other bytes
		_, err = w.base(ctx, at.Seq)
	}
	return at.Seq, err
}

func (w *Writer) sealBase(b *seal.Base) ([]byte, error) {
	plain, err := seal.EncodeBase(b, w.signer)
	if err != nil {
		return nil, err
	}
	return w.remote.Key.Seal(plain)
}

// putParts stores the content of a base in packs, and returns their names.
func (w *Writer) putParts(ctx context.Context, seq uint64, content []byte) (names []string, err error) {
	if len(content) > seal.MaxBase {
		return nil, fmt.Errorf("the base has %d bytes, and %d are possible", len(content), seal.MaxBase)
	}
	for len(content) > 0 {
		n := len(content)
		stored, err := w.remote.Key.Seal(content)
		for err == nil && len(stored) > w.maxBase {
			n /= 2
			stored, err = w.remote.Key.Seal(content[:n])
		}
		if err != nil {
			return nil, err
		}
		content = content[n:]
		name := hashOf(stored)
		state := w.state
		state.Parts = append(slices.Clone(state.Parts), part{seq, name})
		if err := w.save(state); err != nil { // before it is in the store, so that it is deleted some time
			return nil, err
		}
		if err := w.remote.put(ctx, packs+name, stored); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// A part is a pack with a part of the content of a base.
type part struct {
	Seq  uint64 `json:"seq"` // of the base
	Name string `json:"name"`
}

// collectParts deletes the parts of bases before one.
func (w *Writer) collectParts(ctx context.Context, newest uint64) error {
	state := w.state
	state.Parts = nil
	for _, p := range w.state.Parts {
		if p.Seq >= newest {
			state.Parts = append(state.Parts, p)
		} else if err := w.remote.Store.Delete(ctx, packs+p.Name); err != nil {
			return err
		}
	}
	if len(state.Parts) == len(w.state.Parts) {
		return nil
	}
	return w.save(state)
}

// base returns a base of the stream that is in the store, if it continues with the records of this
// writer.
func (w *Writer) base(ctx context.Context, seq uint64) (*seal.Base, error) {
	stored, err := w.remote.Store.Get(ctx, baseName(w.Machine(), seq))
	if err != nil {
		return nil, err
	}
	b, problem := w.remote.verifyBase(w.Machine(), seq, Cursor{Key: w.signer.Public()}, stored)
	if problem != nil {
		return nil, &fault.Error{Code: fault.Damaged, Message: problem.Error() + " (" + string(problem.Kind) + ")", Err: problem}
	}
	if b.Seq == w.state.Published.Seq && b.Last != w.state.Published.Last {
		return nil, &CopiedError{w.Machine(), b.Seq}
	}
	return b, nil
}

// A Plan says what Collect deletes. The caller has decided that no machine needs it.
type Plan struct {
	Through uint64   // records up to this one; every machine must have seen a base of them, or them
	Packs   []string // names of packs

	// Unknown says that the remote has operations, members or formats that this version does not
	// know, see Fetched: then Collect refuses, because these may need what the plan deletes.
	Unknown bool
}

// Collected is what Collect deleted.
type Collected struct {
	Records int `json:"records"`
	Bases   int `json:"bases"`
	Packs   int `json:"packs"`
}

// Collect deletes garbage: records of the own stream that a base in the store replaces, bases that a
// newer one replaces, and packs. It deletes nothing and returns an error if the plan has Unknown or
// a name that is not the name of a pack, if records were not uploaded or, unless plan.Through is 0,
// if there is no base for the plan or the stream is not as this writer left it. An interrupted
// Collect can be repeated.
func (w *Writer) Collect(ctx context.Context, plan Plan) (done Collected, err error) {
	if plan.Unknown {
		return done, &fault.Error{Code: fault.Refused, Message: "the remote has records that this version of bough does not understand", Hint: "a newer version wrote them, and has to collect the garbage"}
	}
	if len(w.unsent) > 0 {
		return done, &fault.Error{Code: fault.Refused, Message: "records of the machine were not uploaded", Hint: "garbage is collected after that"}
	}
	for _, name := range plan.Packs {
		if !seal.IsHash(name) {
			return done, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not the name of a pack", name)}
		}
	}
	names, newest, err := w.garbage(ctx, plan.Through)
	if err != nil {
		return done, err
	}
	for _, n := range names {
		name, count := recordName(n.machine, n.seq), &done.Records
		if n.base {
			name, count = baseName(n.machine, n.seq), &done.Bases
		}
		if err := w.remote.Store.Delete(ctx, name); err != nil {
			return done, err
		}
		*count++
	}
	if err := w.collectParts(ctx, newest); err != nil {
		return done, err
	}
	for _, name := range plan.Packs {
		if err := w.remote.Store.Delete(ctx, packs+name); err != nil {
			return done, err
		}
		done.Packs++
	}
	return done, w.forgetMade(plan.Packs)
}

// garbage returns the objects of the stream that a plan deletes, records first, and the number of the
// newest base, 0 if nothing is to be deleted.
func (w *Writer) garbage(ctx context.Context, through uint64) (list []objectName, newest uint64, err error) {
	if through == 0 {
		return nil, 0, nil
	}
	listed, err := w.remote.Store.List(ctx, bucket.ListOptions{Prefix: streamOf(w.Machine())})
	if err != nil {
		return nil, 0, err
	}
	for _, o := range listed {
		n := parseName(o.Name)
		switch {
		case n.machine != w.Machine():
			continue
		case n.base:
			newest = max(newest, n.seq)
		case n.seq > w.end().Seq:
			return nil, 0, &CopiedError{w.Machine(), n.seq}
		}
		list = append(list, n)
	}
	if err := w.unchanged(ctx); err != nil {
		return nil, 0, err
	}
	if newest < through {
		return nil, 0, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the newest base of the machine is of record %d, and records up to %d were to be deleted", newest, through)}
	}
	if _, err := w.base(ctx, newest); err != nil {
		return nil, 0, err
	}
	list = slices.DeleteFunc(list, func(n objectName) bool { return n.base && n.seq == newest || !n.base && n.seq > through })
	slices.SortFunc(list, compareGarbage)
	return list, newest, nil
}

// compareGarbage orders records before bases, so that the bases are there as long as records are.
func compareGarbage(a, b objectName) int {
	switch {
	case a.base && !b.base:
		return 1
	case b.base && !a.base:
		return -1
	}
	return cmp.Compare(a.seq, b.seq)
}

// unchanged returns an error unless the last record of the stream is the one that this writer wrote,
// and no other copy of the machine wrote the next one.
func (w *Writer) unchanged(ctx context.Context) error {
	at := w.state.Published
	stored, err := w.remote.Store.Get(ctx, recordName(w.Machine(), at.Seq))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := w.base(ctx, at.Seq); err != nil { // it was collected, so there is a base
			return err
		}
	case err != nil:
		return err
	case hashOf(stored) != at.Last:
		return &CopiedError{w.Machine(), at.Seq}
	}
	_, err = w.remote.Store.Get(ctx, recordName(w.Machine(), at.Seq+1))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		return &CopiedError{w.Machine(), at.Seq + 1}
	}
	return err
}
