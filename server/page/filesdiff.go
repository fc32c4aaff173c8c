package page

import (
	"cmp"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

const (
	// maxChanges is how many files a difference lists on a page.
	maxChanges = 100

	// maxCompare is the size of the files on a page whose lines are compared.
	maxCompare = 8 << 20

	// maxLines is how many lines of a file a difference shows among other files, and
	// maxFileLines of a file alone; maxPageLines is how many a page shows.
	maxLines     = 300
	maxFileLines = 5000
	maxPageLines = 3000

	// maxChoices is how many states the form offers.
	maxChoices = 200
)

// A difference is what changed between two states, or from a state until now.
type difference struct {
	Dir      string
	Title    string
	From, To differenceSide
	Path     string // of which alone the changes are shown, "" for all
	Whole    string // the address of all changes, "" if these are
	Summary  string
	Changes  []change
	More     string // the address of more changes
	MoreText string
	Choices  []stateChoice // from the newest on
	FromID   string
	ToID     string
	Revert   string        // the address of the plan to revert a turn, "" if these are not its changes
	Kept     []plannedPath // of a restore that the page made, after which From was taken
	MoreKept string
	NoState  string // why there is nothing to compare with
}

// A differenceSide is one of the two sides.
type differenceSide struct {
	State   *folderState // nil for the present files
	Earlier string       // the REF that has no state, so that this one is of an earlier message
}

// A stateChoice is a state in the form.
type stateChoice struct{ ID, Text string }

// showDifference shows what changed between two states.
func showDifference(c *request) (view, error) {
	ctx := c.r.Context()
	from, to := c.r.FormValue("from"), cmp.Or(c.r.FormValue("to"), files.Now)
	if from == files.Now && to == files.Now {
		return view{}, &fault.Error{Code: fault.Usage, Message: "both sides are the files as they are now"}
	}
	skip, err := c.number("skip", 0)
	if err != nil {
		return view{}, err
	}
	all, err := c.workspace.States(ctx, "")
	if err != nil {
		return view{}, err
	}
	p := &difference{}
	if i := slices.IndexFunc(all.States, func(st files.State) bool { return st.ID == to }); from == "" && i >= 0 {
		if from = before(all.States, i); from == "" {
			p.NoState = "It is the first state of this folder. There is nothing before it to compare with."
			from = to
		}
	}
	folder, o := c.workspace.Confined().Folder(c.r.FormValue("dir")), files.DiffOptions{}
	if at := c.r.FormValue("path"); at != "" && at != "." {
		p.Path, o.Paths = at, []string{at}
	}
	d, err := folder.Diff(ctx, from, to, o)
	if err != nil {
		return view{}, err
	}
	p.From, p.To = c.differenceSide(d.From, from), c.differenceSide(d.To, to)
	p.of(d, all.States)
	p.Kept = keptOf(c.kept.since(p.FromID))
	if n := len(p.Kept) - maxPlanned; n > 0 {
		p.Kept, p.MoreKept = p.Kept[:maxPlanned], count(n, "more path")
	}
	if turn := c.r.FormValue("turn"); turn != "" {
		p.Revert = restoreAddress(turn) + "&what=turn"
	}
	list := withoutParents(d.Changes)
	p.Summary = summary(list)
	if p.Path != "" {
		p.Whole = p.address("")
	}
	shown := list[min(skip, len(list)):]
	if rest := len(shown) - maxChanges; rest > 0 {
		shown = shown[:maxChanges]
		p.More, p.MoreText = p.address(p.Path)+"&skip="+strconv.Itoa(skip+maxChanges), count(rest, "more file")
	}
	patches, err := patchesOf(ctx, folder, p.FromID, p.ToID, shown)
	if err != nil {
		return view{}, err
	}
	p.show(shown, patches, skip)
	return view{Template: "difference", Title: p.Title, Data: p}, nil
}

// address returns the address of the changes at a path, "" for all.
func (p *difference) address(at string) string {
	q := url.Values{"from": {p.FromID}, "to": {p.ToID}}
	if at != "" {
		q.Set("path", at)
	}
	return "/files/diff?" + q.Encode()
}

// show adds the changes of a page, whose first one has a number.
func (p *difference) show(list []files.Change, patches map[string]files.Change, first int) {
	room := maxPageLines
	for i, ch := range list {
		most := min(maxLines, room)
		if ch.Path == p.Path {
			most = maxFileLines
		}
		own := p.change(ch, patches[ch.Path], most)
		own.Anchor = "f" + strconv.Itoa(first+i)
		if own.Rest != "" && ch.Path != p.Path {
			own.More = p.address(ch.Path)
		}
		for _, l := range own.Lines {
			room -= strings.Count(l.Text, "\n")
		}
		room = max(room, 0)
		p.Changes = append(p.Changes, own)
	}
}

// before returns the id of the state of a folder before state i of a list, which is oldest
// first, and "" if there is none.
func before(list []files.State, i int) string {
	for _, st := range slices.Backward(list[:i]) {
		if st.Dir == list[i].Dir {
			return st.ID
		}
	}
	return ""
}

// Sides are both sides.
func (p *difference) Sides() []differenceSide { return []differenceSide{p.From, p.To} }

func (c *request) differenceSide(st *files.State, name string) (s differenceSide) {
	if st == nil {
		return s
	}
	own := c.folderState(st)
	own.Words = c.wordsAt(st)
	s.State = &own
	if !st.Exact {
		s.Earlier = cmp.Or(name, "HEAD")
	}
	return s
}

// of sets what follows from the two sides. all are the states of all folders.
func (p *difference) of(d *files.Diff, all []files.State) {
	for _, side := range []struct {
		st *files.State
		id *string
	}{{d.From, &p.FromID}, {d.To, &p.ToID}} {
		*side.id = files.Now
		if side.st != nil {
			*side.id, p.Dir = side.st.ID, side.st.Dir
		}
	}
	p.Title = "Changes in " + filepath.Base(p.Dir)
	if p.Path != "" {
		p.Title = "Changes in " + path.Base(p.Path)
	}
	for _, st := range slices.Backward(all) {
		if st.Dir == p.Dir && len(p.Choices) < maxChoices {
			text := st.Time.Local().Format("2 Jan 2006, 15:04:05") + " · " + sentence.Moment(st.At) + " · " + lookup.Short(st.ID)
			p.Choices = append(p.Choices, stateChoice{st.ID, text})
		}
	}
	for _, st := range []*files.State{d.From, d.To} {
		if st != nil && !slices.ContainsFunc(p.Choices, func(c stateChoice) bool { return c.ID == st.ID }) {
			p.Choices = append(p.Choices, stateChoice{st.ID, st.Time.Local().Format("2 Jan 2006, 15:04:05") + " · " + lookup.Short(st.ID)})
		}
	}
}
