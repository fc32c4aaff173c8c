package workspace

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// Since returns how many messages of c come before the first that was written at t or
// later. A message without a time was written when the one before it was.
func (c *Conversation) Since(t time.Time) int {
	for i, m := range c.Messages {
		if at, ok := m.Time(); ok && !at.Before(t) {
			return i
		}
	}
	return len(c.Messages)
}

// CutBefore removes the messages before the one at i, in Document too: its other bytes
// stay as they are. If i is not positive, nothing is removed.
func (c *Conversation) CutBefore(i int) {
	if i <= 0 {
		return
	}
	c.Messages, c.Refs, c.Joined = c.Messages[i:], c.Refs[i:], c.Joined[i:]
	list := gjson.GetBytes(c.Document, "messages")
	start, end := list.Index+1, list.Index+len(list.Raw)-1
	n := 0
	list.ForEach(func(_, m gjson.Result) bool {
		if n == i {
			end = m.Index
		}
		n++
		return n <= i
	})
	c.Document = slices.Delete(c.Document, start, end)
}
