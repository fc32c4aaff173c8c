package record

import (
	"strings"

	"github.com/tidwall/gjson"
)

const machineKind = "machine/"

// Retires returns the machine that an operation retires, and the number of its last record that the
// operation covers; m is "" for another operation. Seen has the records of others that the record
// with the operation had seen. The operation may cover more records, of which its machine knows
// only that others have read them: Value then has a member through with the number of the last one.
func (o Op) Retires(seen Vector) (m Machine, through uint64) {
	id, ok := strings.CutPrefix(o.Entity, machineKind)
	if !ok || o.Do != Remove {
		return "", 0
	}
	m = Machine(id)
	return m, max(seen[m], gjson.GetBytes(o.Value, "through").Uint())
}
