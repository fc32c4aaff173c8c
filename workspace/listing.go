package workspace

import (
	"cmp"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// ListOptions select and sort sessions. The zero value lists all.
type ListOptions struct {
	Kind      session.Kind // only sessions of this kind
	Where     lines.Where  // only conversations with this setting
	Title     string       // only sessions with this text in the title, ignoring case
	Since     time.Time    // only sessions that were active at this time or later
	Until     time.Time    // only sessions that were created before this time
	SubAgents bool         // also the conversations of sub-agents, which are otherwise listed only if the workspace lacks the conversation that began them
	Sort      SortKey      // if empty, SortActive
	Limit     int          // maximum number of sessions, 0 for no limit
}

// matches reports whether a session matches o, apart from its kind.
func (o ListOptions) matches(e Entry) bool {
	return o.Where.Matches(e.Setting) &&
		(o.Title == "" || strings.Contains(strings.ToLower(e.Title), strings.ToLower(o.Title))) &&
		(o.Since.IsZero() || !e.LastActive.Before(store.Instant(o.Since))) &&
		(o.Until.IsZero() || e.CreatedAt.Before(o.Until))
}

// A SortKey is the property by which sessions are sorted.
type SortKey string

// The sort keys.
const (
	SortActive   SortKey = "active"   // last active first
	SortCreated  SortKey = "created"  // newest first
	SortMessages SortKey = "messages" // longest first
	SortTitle    SortKey = "title"    // from A to Z, ignoring case
)

func (k SortKey) check() error {
	if k == "" {
		return nil
	}
	return lookup.Word("sort key", k, SortActive, SortCreated, SortMessages, SortTitle)
}

// compare orders sessions by k. Equal ones are ordered as by SortActive.
func (k SortKey) compare(a, b Entry) int {
	first := 0
	switch k {
	case SortCreated:
		first = b.CreatedAt.Compare(a.CreatedAt)
	case SortMessages:
		first = b.MessageCount - a.MessageCount
	case SortTitle:
		first = cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	}
	return cmp.Or(first, b.LastActive.Compare(a.LastActive), cmp.Compare(b.ID, a.ID))
}
