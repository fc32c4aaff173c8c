package page

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"time"

	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/origin"
)

const (
	// maxBlamed is how many lines of a file a page shows with what wrote them.
	maxBlamed = 1000

	// maxHistory is how many changes of a file a page lists at first.
	maxHistory = 100
)

// A pathPage is what is known about a path of a folder that has states.
type pathPage struct {
	Title   string
	Path    string
	Dir     string
	Crumbs  []crumb
	Calls   bool   // there are no states of it: only what tools were told to write is known
	Blame   string // the address of its lines, "" on that page, and of a folder
	History string // the address of its history, "" on that page
}

// A writer is what wrote a line or changed a path.
type writer struct {
	Text  string // the first words of the turn, else what it was
	Title string // of the conversation
	Href  string // the message, "" if it is not known
	Sure  bool
	Time  moment
}

// A blamePage is the lines of a file with what wrote them.
type blamePage struct {
	pathPage
	State          *folderState // whose file it is, nil for the file as it is now
	Groups         []blamedLines
	Earlier, Later string // the addresses of more lines
}

// A blamedLines is consecutive lines with the same origin.
type blamedLines struct {
	writer
	Number  int    // of the first line
	Renamed string // the path of the file then, if it was another one
	Lines   []string
	origin  origin.Line
}

// About says which lines these are.
func (g blamedLines) About() string {
	if len(g.Lines) == 1 {
		return "Line " + strconv.Itoa(g.Number)
	}
	return fmt.Sprintf("Lines %d to %d", g.Number, g.Number+len(g.Lines)-1)
}

// blameAddress returns the address of the lines of a file of a folder, as of a state or, without
// one, as they are now.
func blameAddress(dir, name, state string) string {
	q := url.Values{"dir": {dir}, "path": {name}}
	if state != "" {
		q.Set("at", state)
	}
	return "/files/blame?" + q.Encode()
}

// historyAddress returns the address of what changed a path of a folder.
func historyAddress(dir, name string) string {
	return "/files/log?" + url.Values{"dir": {dir}, "path": {name}}.Encode()
}

// namedPath returns the path in an address.
func (c *request) namedPath() (string, error) {
	name := c.r.FormValue("path")
	if name == "" {
		return "", &fault.Error{Code: fault.Usage, Message: "the address names no path"}
	}
	return name, nil
}

// showBlame shows the lines of a file with what wrote them.
func showBlame(c *request) (view, error) {
	name, err := c.namedPath()
	if err != nil {
		return view{}, err
	}
	first, err := c.number("first", 1)
	if err != nil {
		return view{}, err
	}
	first = max(first, 1)
	o := origin.BlameOptions{State: c.r.FormValue("at"), First: first, Last: first + maxBlamed}
	b, err := c.workspace.Confined().Folder(c.r.FormValue("dir")).Blame(c.r.Context(), name, o)
	if err != nil {
		return view{}, err
	}
	p := &blamePage{pathPage: pathPage{
		Title: b.Path, Path: b.Path, Dir: b.Dir, Calls: b.From == origin.FromCalls, History: historyAddress(b.Dir, b.Path), Crumbs: c.pathCrumbs(b.Dir, b.State),
	}}
	if b.State != nil {
		s := c.folderState(b.State)
		s.Words = c.wordsAt(b.State)
		p.State = &s
	}
	from := func(line int) string { return blameAddress(b.Dir, b.Path, o.State) + "&first=" + strconv.Itoa(line) }
	if first > 1 {
		p.Earlier = from(max(1, first-maxBlamed))
	}
	if len(b.Lines) > maxBlamed {
		b.Lines, p.Later = b.Lines[:maxBlamed], from(first+maxBlamed)
	}
	for _, l := range b.Lines {
		if n := len(p.Groups); n == 0 || !sameOrigin(p.Groups[n-1].origin, l) {
			g := blamedLines{writer: c.writerOf(b, l), Number: l.Number, origin: l}
			if l.Path != b.Path && l.Path != "" {
				g.Renamed = l.Path
			}
			p.Groups = append(p.Groups, g)
		}
		g := &p.Groups[len(p.Groups)-1]
		g.Lines = append(g.Lines, l.Text)
	}
	return view{Template: "blame", Title: "Who wrote " + path.Base(b.Path), Data: p}, nil
}

// pathCrumbs returns the way to a path: the files, and the state whose file it is.
func (c *request) pathCrumbs(dir string, st *files.State) []crumb {
	list := []crumb{{Title: "Files", Href: "/files"}}
	if st != nil {
		list = append(list, crumb{Title: c.folderState(st).Folder, Href: stateAddress(st.ID, "")})
	}
	return list
}

// sameOrigin reports whether two lines were written at once.
func sameOrigin(a, b origin.Line) bool {
	return a.By == b.By && a.Sure == b.Sure && a.Path == b.Path && a.State == b.State &&
		(a.Turn == nil) == (b.Turn == nil) && (a.Turn == nil || *a.Turn == *b.Turn)
}

// writerOf returns what wrote a line.
func (c *request) writerOf(b *origin.Blame, l origin.Line) writer {
	var t *origin.Turn
	if l.Turn != nil {
		t = &b.Turns[*l.Turn]
	}
	return c.writer(l.By, t, l.Sure, l.Time)
}

// writer describes what wrote a line or changed a path. turn is nil if no turn did.
func (c *request) writer(by string, turn *origin.Turn, sure bool, at *time.Time) writer {
	w := writer{Text: byText(by), Sure: sure || by == origin.ByUnknown || by == origin.ByOlder}
	if at != nil {
		w.Time = momentOf(*at, c.opts.Now())
	}
	switch {
	case turn == nil:
	case turn.Session == "":
		w.Text = "A turn of a conversation that is not here"
	default:
		w.Text, w.Title = cmp.Or(clip(turn.Text), "A turn"), clip(turn.Title)
		if message := cmp.Or(string(turn.Message), string(turn.Prompt)); message != "" {
			w.Href = messageAddress(string(turn.Session), message)
		}
	}
	return w
}

// byText says what wrote a line or changed a path, if no turn did.
func byText(by string) string {
	switch by {
	case origin.ByYou:
		return "You, or another program"
	case origin.ByRestore:
		return "A restore of files"
	case origin.ByOlder:
		return "Older than the first state"
	}
	return "Unknown: no tool wrote it"
}

// A historyPage is what changed a path, newest first.
type historyPage struct {
	pathPage
	Changes  []pathChange
	More     string // the address of all changes, "" if they are listed
	MoreText string
}

// A pathChange is a change of a path.
type pathChange struct {
	writer
	About string
	Href  string // of the lines that changed, "" without states
	Files []plannedPath
	Rest  string // how many more files
}

// showHistory lists what changed a path.
func showHistory(c *request) (view, error) {
	name, err := c.namedPath()
	if err != nil {
		return view{}, err
	}
	o := origin.LogOptions{Limit: maxHistory}
	if c.r.FormValue("all") != "" {
		o.Limit = 0
	}
	l, err := c.workspace.Confined().Folder(c.r.FormValue("dir")).Log(c.r.Context(), name, o)
	if err != nil {
		return view{}, err
	}
	p := &historyPage{pathPage: pathPage{Title: l.Path, Path: l.Path, Dir: l.Dir, Calls: l.From == origin.FromCalls, Crumbs: c.pathCrumbs(l.Dir, nil)}}
	if l.Path == "." {
		p.Title = filepath.Base(l.Dir)
	}
	isFile := len(l.Changes) > 0
	for i := range l.Changes {
		isFile = isFile && len(l.Changes[i].Files) == 1
		p.Changes = append(p.Changes, c.pathChange(l.Path, &l.Changes[i]))
	}
	if isFile && l.Changes[0].Files[0].Path == l.Path && l.Changes[0].Files[0].Kind != "deleted" {
		p.Blame = blameAddress(l.Dir, l.Path, string(l.Changes[0].NewState))
	}
	if n := l.Total - len(l.Changes); n > 0 {
		p.More, p.MoreText = historyAddress(l.Dir, l.Path)+"&all=1", count(n, "older change")
	}
	return view{Template: "history", Title: "History of " + path.Base(p.Title), Data: p}, nil
}

// pathChange returns a change of a path.
func (c *request) pathChange(name string, change *origin.Change) pathChange {
	const most = 20
	out := pathChange{writer: c.writer(change.By, change.Turn, change.Sure, change.Time)}
	out.About = fmt.Sprintf("+%d −%d", change.Added, change.Removed)
	if change.OldState != "" && change.NewState != "" {
		out.Href = differenceAddress(string(change.OldState), string(change.NewState))
		if name != "." && name != "" {
			out.Href += "&" + url.Values{"path": {name}}.Encode()
		}
	}
	for _, f := range change.Files[:min(len(change.Files), most)] {
		if f.Path == name && f.OldPath == "" {
			out.About += ", " + f.Kind
			continue
		}
		one := plannedPath{Path: f.Path, Why: f.Kind}
		if f.OldPath != "" {
			one.Why += " from " + f.OldPath
		}
		out.Files = append(out.Files, one)
	}
	if n := len(change.Files) - most; n > 0 {
		out.Rest = count(n, "more file")
	}
	return out
}
