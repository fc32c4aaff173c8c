package stream

import (
	"errors"
	"fmt"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// A verified record is the one that follows the record before it in its stream.
type verified struct {
	*record.Record
	size  int    // in bytes, decompressed
	exact bool   // see seal.DecodeRecord
	after Cursor // after it
}

// verify decodes the stored bytes of the record after a cursor. Its Seen is not checked.
func (r *Remote) verify(m record.Machine, before Cursor, stored []byte) (*verified, *Problem) {
	seq := before.Seq + 1
	problem := func(kind Kind, err error) *Problem {
		return &Problem{Kind: kind, Machine: m, Seq: seq, Object: recordName(m, seq), Detail: err.Error(), err: err}
	}
	plain, kind, err := r.open(stored, seal.MaxRecord)
	if err != nil {
		return nil, problem(kind, err)
	}
	rec, exact, err := seal.DecodeRecord(plain, before.Key)
	if err != nil {
		return nil, problem(kindOf(err), err)
	}
	switch {
	case rec.Machine != m || rec.Seq != seq:
		return nil, problem(Swapped, fmt.Errorf("it is record %d of the machine %s", rec.Seq, rec.Machine))
	case rec.Before != before.Last:
		return nil, problem(Swapped, errors.New("it does not follow the record that was read before it"))
	case rec.Lamport <= before.Lamport:
		return nil, problem(Malformed, fmt.Errorf("its Lamport %d is not greater than that of the record before it", rec.Lamport))
	}
	after := Cursor{Seq: seq, Last: hashOf(stored), Lamport: rec.Lamport, Key: before.Key}
	if after.Key == nil {
		after.Key = rec.Key
	}
	return &verified{rec, len(plain), exact, after}, nil
}

// verifyBase decodes the stored bytes of a base, of a machine of which a cursor may be known.
func (r *Remote) verifyBase(m record.Machine, seq uint64, known Cursor, stored []byte) (*seal.Base, *Problem) {
	problem := func(kind Kind, err error) *Problem {
		return &Problem{Kind: kind, Machine: m, Seq: seq, Object: baseName(m, seq), Detail: err.Error(), err: err}
	}
	plain, kind, err := r.open(stored, seal.MaxBase)
	if err != nil {
		return nil, problem(kind, err)
	}
	b, err := seal.DecodeBase(plain, known.Key)
	if err != nil {
		return nil, problem(kindOf(err), err)
	}
	if b.Machine != m || b.Seq != seq {
		return nil, problem(Swapped, fmt.Errorf("it is the base of record %d of the machine %s", b.Seq, b.Machine))
	}
	return b, nil
}

func (r *Remote) open(stored []byte, limit int64) (plain []byte, kind Kind, err error) {
	if len(stored) > bucket.MaxObject {
		return nil, Malformed, fmt.Errorf("it has more than %d bytes", bucket.MaxObject)
	}
	plain, err = r.Key.Open(stored, limit)
	return plain, kindOf(err), err
}

func kindOf(err error) Kind {
	switch {
	case errors.Is(err, seal.ErrKey), errors.Is(err, seal.ErrSignature):
		return Forged
	case errors.Is(err, seal.ErrNewer):
		return Newer
	}
	return Malformed
}
