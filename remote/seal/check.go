package seal

import (
	"errors"
	"fmt"

	"github.com/bough-dev/bough/remote/record"
)

// IsMachine reports whether a name has the form of a machine.
func IsMachine(name string) bool { return isHex(name, 32) }

// IsHash reports whether a name has the form of a SHA-256.
func IsHash(name string) bool { return isHex(name, 64) }

func isHex(s string, digits int) bool {
	if len(s) != digits {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func checkHeader(r *record.Record, public []byte) error {
	switch {
	case r.Format < 1:
		return fmt.Errorf("its format %d is unknown", r.Format)
	case r.Seq == 0 || r.Seq > maxSeq:
		return fmt.Errorf("its number %d is not possible", r.Seq)
	case r.Lamport == 0 || r.Lamport > MaxNumber:
		return fmt.Errorf("its Lamport %d is not possible", r.Lamport)
	case r.Seq == 1 && (r.Before != "" || string(r.Key) != string(public)):
		return errors.New("a first record has the key of its machine, and no record before it")
	case r.Seq > 1 && (!IsHash(r.Before) || r.Key != nil):
		return errors.New("only the first record has a key, and each other one the hash of the record before")
	}
	return errors.Join(checkSeen(r.Seen, r.Machine), checkSeen(r.Lost, r.Machine))
}

func checkSeen(seen record.Vector, machine record.Machine) error {
	if len(seen) > maxMachines {
		return fmt.Errorf("it has seen more than %d machines", maxMachines)
	}
	for m, n := range seen {
		if !IsMachine(string(m)) || m == machine || n == 0 || n > maxSeq {
			return fmt.Errorf("it cannot have seen %d of the machine %.64q", n, m)
		}
	}
	return nil
}

func checkOp(op *record.Op) error {
	if !isName(op.Do) || op.Do == "" || !isName(op.Entity) || !isName(op.Field) {
		return errors.New("a name of the operation is not possible")
	}
	if len(op.Stamps) > maxStamps {
		return fmt.Errorf("the operation has more than %d stamps", maxStamps)
	}
	for _, s := range op.Stamps {
		if !IsMachine(string(s.Machine)) || s.Lamport > MaxNumber || s.Seq > MaxNumber || s.Index < 0 || s.Index >= MaxOps {
			return errors.New("a stamp of the operation is not possible")
		}
	}
	if op.Body == nil {
		return nil
	}
	b := op.Body
	switch {
	case b.Pack == "" && (b.At != 0 || b.Size != 0 || b.Count != 0), b.Pack != "" && (!IsHash(b.Pack) || b.Items != nil):
		return errors.New("the body of the operation is neither inline nor in a pack")
	case b.At < 0 || b.Size < 0 || b.Count < 0 || b.At > MaxNumber || b.Size > MaxNumber || int64(b.Count) > b.Size:
		return errors.New("the body of the operation has no possible place")
	case len(b.Items) > maxItems || b.Count > maxItems:
		return fmt.Errorf("the body of the operation has more than %d items", maxItems)
	}
	for i := range b.Items {
		if err := CheckItem(&b.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// CheckItem returns an error if the names, hashes or sizes of an item that another machine wrote are
// not possible ones.
func CheckItem(it *record.Item) error {
	switch p := it.Path; {
	case !isName(it.ID) || it.Parent != nil && !isName(*it.Parent):
		return errors.New("a name of the item is not possible")
	case p != nil && (!isName(p.Session) || !isName(p.First) || !isName(p.Last) || p.Count < 0 || int64(p.Count) > MaxNumber || !IsHash(p.SHA256)):
		return errors.New("the path of the item is not possible")
	}
	return nil
}

// isName reports whether s can be a name or an id. What it names decides whether it is a good one.
func isName(s string) bool { return len(s) <= maxName }
