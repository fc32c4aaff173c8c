package index_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/session"
)

// plainEntry is an entry as decoded by a program that only follows docs/format.md.
type plainEntry struct {
	Title         string          `json:"title"`
	MessageCount  int             `json:"message_count"`
	CreatedAt     string          `json:"created_at"`
	ContinuedFrom json.RawMessage `json:"continued_from"`
	Bough         struct {
		Kind string `json:"kind"`
		Size int64  `json:"size"`
	} `json:"bough"`
}

func (e plainEntry) from() []string {
	var list []string
	var one string
	if json.Unmarshal(e.ContinuedFrom, &one) == nil && one != "" {
		return []string{one}
	}
	json.Unmarshal(e.ContinuedFrom, &list)
	return list
}

// readPlain reads the index as docs/format.md specifies, and returns the number of
// bytes of its entries.
func (f *folder) readPlain() (entries map[string]plainEntry, size int64, journal string) {
	f.t.Helper()
	data, err := os.ReadFile(f.path("session_index.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &raw); err != nil {
		f.t.Fatal(err)
	}
	lines, _ := os.ReadFile(f.path("session_index.journal"))
	for text := range strings.Lines(string(lines)) {
		var line struct {
			ID    *string
			Entry json.RawMessage
		}
		if !strings.HasSuffix(text, "\n") || json.Unmarshal([]byte(text), &line) != nil || line.ID == nil {
			continue
		}
		switch line.Entry[0] {
		case 'n':
			delete(raw, *line.ID)
		case '{':
			raw[*line.ID] = line.Entry
		}
	}
	entries = map[string]plainEntry{}
	for id, value := range raw {
		var e plainEntry
		if err := json.Unmarshal(value, &e); err != nil {
			f.t.Fatal(err)
		}
		entries[id] = e
		size += int64(len(id) + len(value))
	}
	return entries, size, string(lines)
}

// plain verifies that the index and the journal, read by another program, agree
// with the files, and that there is a journal only if one is allowed.
func (g *game) plain() {
	g.t.Helper()
	entries, size, journal := g.readPlain()
	y := g.load()
	if _, err := os.Stat(g.path("session_index.journal")); err == nil {
		l := g.limits
		many := l.Sessions > 0 && int64(len(entries)) >= l.Sessions
		long := l.Lines > 0 && int64(strings.Count(journal, "\n")) > l.Lines && size < l.Index
		if y.Dialect() != session.Bough || size < l.Index && !many || int64(len(journal)) > l.Journal || long || journal == "" {
			g.t.Errorf("a journal of %d bytes beside an index of %d and %d sessions, in the dialect %v, with the limits %+v", len(journal), size, len(entries), y.Dialect(), l)
		}
	}
	if g.inPlace {
		return
	}
	if y.Stale() {
		g.t.Errorf("after Save the index is stale: %s", y.Trouble)
	}
	for _, e := range y.Entries() {
		p := entries[e.ID]
		delete(entries, e.ID)
		if p.Title != e.DisplayTitle() || p.MessageCount != e.MessageCount || !slices.Equal(p.from(), e.ContinuedFrom) ||
			p.Bough.Kind != string(e.Kind()) || p.Bough.Size != e.Size() {
			g.t.Errorf("the entry of %s is %+v, want %s", e.ID, p, describe(e))
		}
	}
	for _, e := range y.Unusable() {
		if _, ok := entries[e.ID]; !ok {
			g.t.Errorf("the index lacks %s", e.ID)
		}
		delete(entries, e.ID)
	}
	if len(entries) > 0 {
		g.t.Errorf("the index has %v too", entries)
	}
}
