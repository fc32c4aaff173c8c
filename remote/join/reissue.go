package join

import (
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// Reissue returns the records that a machine has not published, in order, as the first records of
// another machine. They have the same operations and had seen the same records. Operations on the
// entity of the old machine become operations on that of the new one. A machine does so when it
// finds a record of its own stream that it did not write, because its disk was copied. The records
// that the copy wrote count as not seen. Before and Key are left for the caller.
func Reissue(unsent []*record.Record, as record.Machine) []*record.Record {
	if len(unsent) == 0 {
		return nil
	}
	old, first := unsent[0].Machine, unsent[0].Seq
	list := make([]*record.Record, len(unsent))
	for i, r := range unsent {
		again := *r
		again.Machine, again.Seq = as, uint64(i)+1
		again.Before, again.Key = "", nil
		again.Seen = record.Vector{}
		maps.Copy(again.Seen, r.Seen)
		again.Seen[old] = first - 1
		if first == 1 {
			delete(again.Seen, old)
		}
		again.Ops = slices.Clone(r.Ops)
		for j, op := range again.Ops {
			if op.Entity == "machine/"+string(old) {
				again.Ops[j].Entity = "machine/" + string(as)
			}
			again.Ops[j].Stamps = slices.Clone(op.Stamps)
			for k, s := range op.Stamps {
				if s.Machine == old && s.Seq >= first {
					again.Ops[j].Stamps[k].Machine, again.Ops[j].Stamps[k].Seq = as, s.Seq-first+1
				}
			}
		}
		list[i] = &again
	}
	return list
}
