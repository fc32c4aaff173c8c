package thread

import (
	"io"
	"time"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/times"
)

// Rows writes records, each once and on its own line, and sets the times of generated
// ones.
type Rows struct {
	jsonl.Writer
	times.Clock
	done map[string]bool // the ids of the records that were written
}

func NewRows(out io.Writer, now time.Time) Rows {
	return Rows{jsonl.NewWriter(out), times.Clock{Now: now}, map[string]bool{}}
}

// Row writes a record, but for one whose id was written already, for which it returns
// false.
func (r *Rows) Row(id string, raw []byte) bool {
	if id != "" {
		if r.done[id] {
			return false
		}
		r.done[id] = true
	}
	r.Put(raw)
	return true
}
