package main

import "fmt"

// A link is a session as an index has it, and the one it continues. Ten in a
// row are one line.
type link struct {
	id, parent, title string
	entry             []byte // a JSON object
}

const linkTime = "2026-05-25T15:32:00.000000+00:00"

func newLink(n int) link {
	l := link{id: linkID(n), title: fmt.Sprintf("Session %d", n)}
	from := "[]"
	if n%10 != 0 {
		l.parent = linkID(n - 1)
		from = fmt.Sprintf("[%q]", l.parent)
	}
	l.entry = fmt.Appendf(nil, `{"created_at":%q,"last_active":%q,"message_count":1,"title":%q,"continued_from":%s,"continued_to":[],"bough":{"kind":"continuation","size":%d,"mtime":"%d"}}`,
		linkTime, linkTime, l.title, from, 400, 1_779_723_120_000_000_000+n)
	return l
}

func linkID(n int) string { return fmt.Sprintf("session_20260525_153200_%08x", n) }
