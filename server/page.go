package server

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/google/uuid"
)

// A cursor identifies the last item of a page, in the direction of paging. Its text
// is the unpadded base64url encoding of "<nanoseconds since 1970>|<UUID>", as in
// Acontext.
type cursor = lines.Cursor

func cursorText(c cursor) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d|%s", c.Time.UnixNano(), c.UUID))
}

func parseCursor(s string) (*cursor, error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, err
	}
	nanos, id, ok := strings.Cut(string(text), "|")
	if !ok {
		return nil, fmt.Errorf("no | in %s", exchange.Quote(string(text)))
	}
	ns, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil {
		return nil, err
	}
	u, err := uuid.Parse(id)
	if err != nil {
		return nil, err
	}
	return &cursor{Time: time.Unix(0, ns).UTC(), UUID: u.String()}, nil
}

// A page is a part of a list: the items from up to but not including to.
type page struct {
	from, to int
	more     bool // there are more items in the direction of paging
	last     int  // the item of the next page's cursor, if there are more
}

// cut returns the page of n items that follows the item after, -1 for the first
// page. If newest is set, pages go from the end to the start. A limit of 0 means no
// limit.
func cut(n, after, limit int, newest bool) page {
	from, to := after+1, n
	if newest {
		from = 0
		if after >= 0 {
			to = after
		}
	}
	p := page{from: from, to: to}
	if limit == 0 || to-from <= limit {
		return p
	}
	p.more = true
	if newest {
		p.from = to - limit
		p.last = p.from
	} else {
		p.to = from + limit
		p.last = p.to - 1
	}
	return p
}

// A listAnswer is a page of a list.
type listAnswer[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next_cursor,omitempty"`
	More  bool   `json:"has_more"`
}

// paged answers a page of a list that is sorted oldest first, in the requested
// order.
func paged[From, To any](list []From, after *cursor, limit int, newest bool, at func(*From) cursor, item func(*From) To) (*answer, error) {
	if newest {
		list = slices.Clone(list)
		slices.Reverse(list)
	}
	from := -1
	if after != nil {
		from = slices.IndexFunc(list, func(f From) bool { return at(&f).UUID == after.UUID })
		if from < 0 {
			return nil, noCursor()
		}
	}
	p := cut(len(list), from, limit, false)
	out := listAnswer[To]{Items: make([]To, 0, p.to-p.from), More: p.more}
	for i := p.from; i < p.to; i++ {
		out.Items = append(out.Items, item(&list[i]))
	}
	if p.more {
		out.Next = cursorText(at(&list[p.last]))
	}
	return ok(out), nil
}

// noCursor returns the failure for a cursor whose item is not in the list.
func noCursor() error { return exchange.Wrong("cursor is not of this list", "its item does not exist") }
