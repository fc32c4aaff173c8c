package plan

import "github.com/bough-dev/bough/remote/record"

// Retire returns the operation that retires a machine with all its records up to one, some of which the machine that
// retires it may not have read. With 0, these are those that it has read.
func (*View) Retire(m record.Machine, through uint64) Op {
	op := remove(machinePrefix + string(m))
	if through > 0 {
		op.Value = valueOf(map[string]uint64{"through": through})
	}
	return op
}
