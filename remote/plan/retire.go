package plan

import "github.com/bough-dev/bough/remote/record"

// Retire returns the operation that retires a machine with its records up to number through, even
// if the machine that retires it has not read all of them. If through is 0, the operation covers
// the records that it has read.
func (*View) Retire(m record.Machine, through uint64) Op {
	op := remove(machinePrefix + string(m))
	if through > 0 {
		op.Value = valueOf(map[string]uint64{"through": through})
	}
	return op
}
