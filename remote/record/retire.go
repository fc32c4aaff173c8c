package record

import (
	"strings"

	"github.com/tidwall/gjson"
)

const machineKind = "machine/"

// Retires returns the machine that an operation of a record retires, and its last record that this covers; "" for another
// operation. The record had seen the records of others in seen. It may retire a machine with more than that, of which it
// knows only that others have read it: value then has a member through, the number.
func (o Op) Retires(seen Vector) (m Machine, through uint64) {
	id, ok := strings.CutPrefix(o.Entity, machineKind)
	if !ok || o.Do != Remove {
		return "", 0
	}
	m = Machine(id)
	return m, max(seen[m], gjson.GetBytes(o.Value, "through").Uint())
}
