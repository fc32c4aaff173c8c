package workspace

import (
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// Since returns how many messages of c precede the first that was written at t
// or later. A message without a time has the time of the message before it.
func (c *Conversation) Since(t time.Time) int {
	for i, m := range c.Messages {
		if at, ok := m.Time(); ok && !at.Before(t) {
			return i
		}
	}
	return len(c.Messages)
}

// CutBefore removes the first i messages, also from [Conversation.Document], whose
// other bytes do not change. If i is not positive, CutBefore does nothing.
func (c *Conversation) CutBefore(i int) {
	if i <= 0 {
		return
	}
	c.Messages, c.Refs, c.Joined = c.Messages[i:], c.Refs[i:], c.Joined[i:]
	whole := c.document
	c.document = sync.OnceValue(func() []byte { return cutBefore(slices.Clone(whole()), i) })
}

// cutBefore removes the first i messages of a document.
func cutBefore(document []byte, i int) []byte {
	list := gjson.GetBytes(document, "messages")
	start, end := list.Index+1, list.Index+len(list.Raw)-1
	n := 0
	list.ForEach(func(_, m gjson.Result) bool {
		if n == i {
			end = m.Index
		}
		n++
		return n <= i
	})
	return slices.Delete(document, start, end)
}
