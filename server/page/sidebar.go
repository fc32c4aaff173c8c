package page

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// maxRoots is how many trees the sidebar lists, those that were active last.
const maxRoots = 200

// maxRows is how many rows the sidebar lists, and maxMatches how many if a text filters them,
// since they are sent for each character that is typed.
const (
	maxRows    = 2000
	maxMatches = 200
)

// A sidebarTree is the tree beside every view.
type sidebarTree struct {
	Rows    []treeRow
	More    int // trees that are not listed
	Cut     int // rows that are not listed
	Text    string
	Filter  treerows.Filter
	Root    string // the row that is hoisted, "" for none
	Path    string // of the view, for the form
	Query   [][2]string
	Hoist   string // the address of the view with only the tree of its conversation, "" for none
	Unhoist string
}

// Filters are the filters to choose from.
func (sidebarTree) Filters() []treerows.Filter { return treerows.Filters[:] }

// Filtered reports whether a filter other than the usual one is chosen.
func (t sidebarTree) Filtered() bool { return t.Text != "" || t.Filter != "" || t.Root != "" }

// A treeRow is a row of the tree.
type treeRow struct {
	treerows.Row
	Href    string
	About   string
	Age     string
	Icon    string
	Current bool
	Tab     bool   // the first to get the focus
	Refused string // why it cannot be deleted
	Compare string // the address that offers what to compare the session with
	Anchor  string // its ID, unique in the page
	Below   []treeRow
}

// Deletes reports whether the row has a control that deletes it.
func (r treeRow) Deletes() bool {
	return r.Kind == treerows.Session || r.Kind == treerows.Copy || r.Kind == treerows.Checkpoint
}

// Words is the title of the row, or a substitute for an empty title.
func (r treeRow) Words() string {
	if r.Title == "" {
		return "(no text)"
	}
	return r.Title
}

// sidebar shows the trees of all sessions.
func sidebar(c *request) (view, error) {
	shown := c.session
	if shown == "" {
		shown = c.r.FormValue("session")
	}
	o := treerows.Options{
		Filter: treerows.Filter(c.r.FormValue("filter")), Text: strings.TrimSpace(c.r.FormValue("text")),
		Root: c.r.FormValue("root"), Open: map[string]bool{},
	}
	if !slices.Contains(treerows.Filters[:], o.Filter) {
		return view{}, &failure{status: http.StatusBadRequest, message: fmt.Sprintf("unknown filter %q", o.Filter)}
	}
	for id := range strings.FieldsFuncSeq(c.r.FormValue("open"), func(r rune) bool { return r == ',' }) {
		o.Open[id] = true
	}
	trees, err := c.trees()
	if err != nil {
		return view{}, err
	}
	above := ancestors(trees.Roots, shown)
	for _, e := range above {
		o.Open[rowID(e)] = true
	}
	source, err := c.treeSource(trees, o)
	if err != nil {
		return view{}, err
	}
	t := sidebarTree{Text: o.Text, Filter: o.Filter, Root: o.Root, Path: c.viewPath()}
	if o.Text == "" && o.Root == "" {
		source.Forest, t.More = recentTrees(trees, above)
	}
	rows := treerows.Rows(source, o)
	most := maxRows
	if o.Text != "" {
		most = maxMatches
	}
	if n := len(rows); n > most { // parents are before their children
		rows, t.Cut = rows[:most], n-most
	}
	t.Rows = nest(rows, shown, c.shownLeaf, o.Root, c.opts.Now())
	t.links(c.r.URL, above)
	return view{Template: "sidebar", Title: "Tree", Data: t}, nil
}

// viewPath returns the path of the view, "/" if it is not one: a form that failed, or an
// unknown path, which may even look like the address of another server.
func (c *request) viewPath() string {
	if strings.HasPrefix(c.r.Pattern, http.MethodGet+" ") {
		return c.r.URL.Path
	}
	return "/"
}

// links sets what leads to the view with other rows.
func (t *sidebarTree) links(u *url.URL, above []*workspace.TreeEntry) {
	q := u.Query()
	for _, name := range []string{"text", "filter", "open", "said"} {
		q.Del(name)
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		t.Query = append(t.Query, [2]string{name, q.Get(name)})
	}
	at := url.URL{Path: t.Path}
	if t.Root != "" {
		q.Del("root")
		at.RawQuery = q.Encode()
		t.Unhoist = at.String()
		return
	}
	if len(above) > 0 {
		q.Set("root", rowID(above[0]))
		at.RawQuery = q.Encode()
		t.Hoist = at.String()
	}
}

// rowID returns the id of the row of a session.
func rowID(e *workspace.TreeEntry) string { return string(treerows.Session) + "/" + e.ID }

// ancestors returns the sessions from a root to a session, nil if it does not exist.
func ancestors(trees []workspace.TreeEntry, id string) []*workspace.TreeEntry {
	for i := range trees {
		e := &trees[i]
		if e.ID == id {
			return []*workspace.TreeEntry{e}
		}
		if below := ancestors(e.Children, id); below != nil {
			return append([]*workspace.TreeEntry{e}, below...)
		}
	}
	return nil
}

// recentTrees returns the trees that were active last, and that of the session that is
// shown, and how many others there are.
func recentTrees(trees *workspace.Forest, above []*workspace.TreeEntry) (*workspace.Forest, int) {
	n := len(trees.Roots)
	if n <= maxRoots {
		return trees, 0
	}
	order := make([]int, n)
	active := make([]time.Time, n)
	for i := range trees.Roots {
		order[i] = i
		eachEntry(trees.Roots[i:i+1], func(e workspace.TreeEntry, _ *workspace.TreeEntry) {
			if e.LastActive.After(active[i]) {
				active[i] = e.LastActive
			}
		})
		if len(above) > 0 && trees.Roots[i].ID == above[0].ID {
			active[i] = time.Unix(1<<40, 0) // always listed
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return active[b].Compare(active[a]) })
	recent := &workspace.Forest{}
	for _, i := range order[:maxRoots] {
		recent.Roots = append(recent.Roots, trees.Roots[i])
	}
	return recent, n - maxRoots
}

// treeSource returns what the rows are about. The messages are those of the conversations
// that are open.
func (c *request) treeSource(trees *workspace.Forest, o treerows.Options) (treerows.Source, error) {
	s := treerows.Source{Forest: trees, Messages: map[string]*workspace.MessageTree{}}
	if c.tree != nil {
		s.Messages[c.tree.Session] = c.tree
	}
	return treerows.Read(c.r.Context(), c.workspace, s, func(*treerows.Source) (open []string) {
		eachEntry(trees.Roots, func(e workspace.TreeEntry, _ *workspace.TreeEntry) {
			if (o.Open[rowID(&e)] || o.Root == rowID(&e)) && e.Kind != session.Continuation {
				open = append(open, e.ID)
			}
		})
		return open
	})
}

// nest returns rows with the rows below them. shown and leaf are the session and the leaf
// that the view shows.
func nest(rows []treerows.Row, shown, leaf, root string, now time.Time) []treeRow {
	list := make([]treeRow, len(rows))
	current := -1
	seen := map[string]bool{}
	for i, r := range rows {
		list[i] = treeRowOf(r, root, now)
		if list[i].Anchor = r.ID; seen[r.ID] { // two files may have different messages with the same id
			list[i].Anchor += "~" + strconv.Itoa(i)
		}
		seen[r.ID] = true
		if r.Session != shown {
			continue
		}
		switch {
		case current < 0 && list[i].Deletes(), r.Kind == treerows.Branch && r.Leaf == leaf && leaf != "":
			current = i
		}
	}
	if current >= 0 {
		list[current].Current, list[current].Tab = true, true
	} else if len(list) > 0 {
		list[0].Tab = true
	}
	for i := len(list) - 1; i >= 0; i-- { // children are behind their parents
		slices.Reverse(list[i].Below)
		if p := rows[i].Parent; p >= 0 {
			list[p].Below = append(list[p].Below, list[i])
		}
	}
	var roots []treeRow
	for i := range list {
		if rows[i].Parent < 0 {
			roots = append(roots, list[i])
		}
	}
	return roots
}

// treeRowOf returns a row without those below it.
func treeRowOf(r treerows.Row, root string, now time.Time) treeRow {
	row := treeRow{Row: r, Icon: string(r.Kind), Compare: compareAddress(r.Session)}
	row.Title = clip(r.Title)
	l := location{Session: r.Session, Leaf: r.Leaf, Anchor: r.Message}
	switch r.Kind {
	case treerows.Session:
		row.Icon = ""
	case treerows.Copy:
		row.Icon = "branch"
	case treerows.Checkpoint:
		l.Checkpoint = true
	case treerows.Branch:
		row.Icon = "reply"
	}
	if r.Message != "" {
		l.At = r.Message
	}
	row.Href = l.String()
	if root != "" {
		row.Href, row.Compare = withParameter(row.Href, "root", root), withParameter(row.Compare, "root", root)
	}
	switch {
	case r.Kind == treerows.Fork:
		row.About = count(r.Count, "branch")
		row.Age = fmt.Sprint(r.Count)
	case r.Count > 0:
		row.About = count(r.Count, "message")
	}
	if age := ago(r.Time, now); age != "" && r.Kind != treerows.Fork {
		row.Age = strings.TrimSuffix(age, " ago")
		row.About = strings.TrimPrefix(row.About+" · "+age, " · ")
	}
	if r.Auto {
		row.About = "automatic · " + row.About
	}
	if r.Orphaned {
		row.About += " · its origin is deleted"
	}
	row.Refused = refusedText(r.Delete)
	return row
}

// withParameter returns an address with a parameter.
func withParameter(address, name, value string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// anotherProgram is why a checkpoint of Penguin cannot be deleted.
const anotherProgram = "another program made it"

// refusedText returns why a session cannot be deleted, "" if it can.
func refusedText(d treerows.Deletion) string {
	switch d.Refused {
	case treerows.HasCopies:
		const few = 3
		var titles []string
		for _, o := range d.By[:min(len(d.By), few)] {
			titles = append(titles, clip(o.Title))
		}
		text := plural.Of(len(d.By), "copy") + " of it: " + strings.Join(titles, ", ")
		if len(d.By) > few {
			text += ", …"
		}
		return text
	case treerows.OwnedByAgent:
		return "it is a topic of the agent " + d.Agent
	case treerows.ReadOnly:
		return anotherProgram
	}
	return ""
}
