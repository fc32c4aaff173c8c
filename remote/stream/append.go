package stream

import (
	"fmt"
	"maps"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// packsOf returns the names of the packs that operations refer to, each once.
func packsOf(ops []record.Op) (names []string) {
	seen := map[string]bool{}
	for i := range ops {
		if b := ops[i].Body; b != nil && b.Pack != "" && !seen[b.Pack] {
			seen[b.Pack] = true
			names = append(names, b.Pack)
		}
	}
	return names
}

// maxAppended is the size in bytes of a record before it is compressed, from which Append begins
// another one.
const maxAppended = 24 << 20

// Append adds operations to the stream, as one record or, if they are many, several. Seen is how
// far the streams of the other machines were applied when the operations were made, and lost what
// was given up of them. The packs that operations refer to must be those of a Packer, which was
// closed, or be in the store. When Append returns, the records are durable, and Upload will send
// them. If Append fails, it may have added some of the first records; Unsent returns them.
func (w *Writer) Append(seen Cursors, lost record.Vector, ops []record.Op) ([]*record.Record, error) {
	chunks, err := split(ops, w.most)
	if err != nil {
		return nil, err
	}
	seen, lost = seen.clone(), maps.Clone(lost)
	delete(seen, w.Machine())
	delete(lost, w.Machine())
	issuer := issuer{remote: w.remote, signer: w.signer, end: w.end()}
	for _, chunk := range chunks {
		rec := record.Record{Seen: seen.Vector(), Lost: lost, Ops: chunk}
		// Others may claim greater Lamports than the number of records that they have seen. These count less when they are joined.
		bound := issuer.end.Seq + 1 + rec.Seen.Sum(lost, seal.MaxNumber)
		rec.Lamport = max(min(seen.Lamport()+1, bound), issuer.end.Lamport+1)
		if err := issuer.issue(rec); err != nil {
			return nil, err
		}
	}
	for i, v := range issuer.records {
		if err := w.write(w.fileOf(v.Seq), issuer.stored[i]); err != nil {
			return recordsOf(issuer.records[:i]), err
		}
		w.unsent = append(w.unsent, v)
		for _, name := range packsOf(v.Ops) {
			delete(w.packed, name)
		}
	}
	return recordsOf(issuer.records), nil
}

// split divides operations into those of each record, of about most bytes.
func split(ops []record.Op, most int) (chunks [][]record.Op, err error) {
	begin, size := 0, 0
	for i := range ops {
		line, err := ops[i].MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > begin && (size+len(line) > most || i-begin == seal.MaxOps) {
			chunks = append(chunks, ops[begin:i])
			begin, size = i, 0
		}
		size += len(line) + 1
	}
	if begin < len(ops) {
		chunks = append(chunks, ops[begin:])
	}
	return chunks, nil
}

// An issuer makes records that follow each other.
type issuer struct {
	remote  *Remote
	signer  *seal.Signer
	end     Cursor
	records []*verified
	stored  [][]byte
}

// issue makes the next record, with Lamport, Seen, Lost and Ops of one.
func (is *issuer) issue(of record.Record) error {
	rec := &of
	rec.Format, rec.Machine, rec.Seq, rec.Before, rec.Key = record.Format, is.signer.Machine(), is.end.Seq+1, is.end.Last, nil
	if rec.Seq == 1 {
		rec.Key = is.signer.Public()
	}
	plain, err := seal.EncodeRecord(rec, is.signer)
	if err != nil {
		return fmt.Errorf("record %d cannot be written: %w", rec.Seq, err)
	}
	stored, err := is.remote.Key.Seal(plain)
	if err != nil {
		return err
	}
	if len(stored) > bucket.MaxObject {
		return fmt.Errorf("record %d cannot be written: it has %d bytes, and %d are possible", rec.Seq, len(stored), bucket.MaxObject)
	}
	is.end = Cursor{Seq: rec.Seq, Last: hashOf(stored), Lamport: rec.Lamport, Key: is.signer.Public()}
	is.records = append(is.records, &verified{rec, len(plain), true, is.end})
	is.stored = append(is.stored, stored)
	return nil
}
