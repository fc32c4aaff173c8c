package plan

import (
	"fmt"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Quota limits how many items of a session, and of those whose messages it repeats, are in
// memory. The limits of records do not bound this number: a path of a few bytes can repeat a long
// conversation, any number of times. The zero Quota is for a session of which nothing was read.
type Quota struct {
	Bytes int // of what was taken
	items int
}

const (
	maxBytes = 1 << 30
	maxItems = 2_000_000
)

// Take takes items from the quota. The error has the code [fault.Damaged] if there are more.
func (q *Quota) Take(items ...record.Item) error {
	q.items += len(items)
	for i := range items {
		q.Bytes += len(items[i].Raw) + len(items[i].Content)
	}
	if q.items > maxItems || q.Bytes > maxBytes {
		return &fault.Error{Code: fault.Damaged, Message: fmt.Sprintf("it has more than %d messages or %d bytes, with those that it repeats", maxItems, maxBytes)}
	}
	return nil
}
