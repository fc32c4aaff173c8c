package convert

import (
	"io"
	"time"
)

// rows writes records, each on a line of its own and once, and gives times to those that
// are made.
type rows struct {
	lineWriter
	clock
	done map[string]bool // the ids of the records that were written
}

func newRows(out io.Writer, now time.Time) rows {
	return rows{newLineWriter(out), clock{now: now}, map[string]bool{}}
}

// row writes a record, but for one whose id was written already, for which it returns
// false.
func (r *rows) row(id string, raw []byte) bool {
	if id != "" {
		if r.done[id] {
			return false
		}
		r.done[id] = true
	}
	r.put(raw)
	return true
}
