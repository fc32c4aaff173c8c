package folders

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/blame"
	"github.com/bough-dev/bough/internal/fileedit"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/edits"
	"github.com/bough-dev/bough/workspace/origin"
)

// undoCall goes back to what a file at a path had before a call, and returns its path then. What
// changed after a call that wrote the whole file is of no call.
func undoCall(t *blame.Trace, e edits.Edit, at string, by int) string {
	switch {
	case e.Kind == fileedit.Move && e.New == at:
		return e.Path
	case e.Path != at:
	case e.Kind == fileedit.Replace:
		t.Undo(e.Old, e.Edit.New, e.All, by)
	case e.Kind == fileedit.Write:
		t.Rewrite(e.New, by)
	case e.Kind == fileedit.Delete:
		t.Back("", blame.None)
	}
	return at
}

// lines sets the lines and the turns of the result.
func (b *blaming) lines(text string, first, last int) error {
	origins := b.trace.Origins()
	index := map[[2]session.ID]int{} // by session and message
	n := 0
	for line := range strings.Lines(text) {
		if n++; n < first || n > last {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		l, turn, err := b.line(origins[n-1], line)
		if err != nil {
			return err
		}
		l.Number, l.Text = n, line
		if turn != nil {
			key := [2]session.ID{turn.Session, turn.Message}
			i, ok := index[key]
			if !ok {
				i = len(b.result.Turns)
				index[key], b.result.Turns = i, append(b.result.Turns, *turn)
			}
			l.Turn = &i
		}
		b.result.Lines = append(b.result.Lines, l)
	}
	b.sortTurns()
	return nil
}

// sortTurns sorts the turns, newest first.
func (b *blaming) sortTurns() {
	turns := b.result.Turns
	order := make([]int, len(turns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return writtenAt(turns[j]).Compare(writtenAt(turns[i])) })
	sorted, places := make([]origin.Turn, len(turns)), make([]int, len(turns))
	for place, i := range order {
		sorted[place], places[i] = turns[i], place
	}
	b.result.Turns = sorted
	for i := range b.result.Lines {
		if turn := b.result.Lines[i].Turn; turn != nil {
			b.result.Lines[i].Turn = &places[*turn]
		}
	}
}

func writtenAt(t origin.Turn) time.Time {
	if t.Time == nil {
		return time.Time{}
	}
	return *t.Time
}

// line returns a line with the turn that wrote it, nil if none did.
func (b *blaming) line(from int, text string) (l origin.Line, turn *origin.Turn, err error) {
	if from == blame.None {
		l.By, l.Sure, l.Path = origin.ByOlder, true, b.path
		if b.result.From == origin.FromCalls {
			l.By = origin.ByUnknown
		}
		return l, nil, nil
	}
	c := b.changes[from]
	l = origin.Line{By: c.by, Sure: c.sure(), Time: timeOf(c.time), Path: c.path, State: session.ID(c.state)}
	if c.by != origin.ByTurn {
		return l, nil, nil
	}
	if c.call >= 0 {
		turn, err = b.turnOfCall(b.calls[c.call])
	} else {
		turn, l.Sure, err = b.writer(c, text)
	}
	if err != nil {
		return l, nil, err
	}
	l.Time = turn.Time
	return l, turn, nil
}

// writer returns the turn that wrote a line: of several that ran at the same time, the one with a
// call that has it.
func (b *blaming) writer(c change, line string) (turn *origin.Turn, sure bool, err error) {
	for _, r := range append([]*run{c.run}, c.others...) {
		a := c.author
		a.run = r
		done, err := b.turnOfRun(a)
		if err != nil {
			return nil, false, err
		}
		written, ok := done.writerOf(b.folder.Path, c.path, line)
		if turn == nil {
			turn = &written
		}
		if ok {
			return &written, true, nil
		}
		if !c.shared {
			break
		}
	}
	return turn, c.sure(), nil
}

// turnOfRun returns the turn of an author, which is read once.
func (t *trail) turnOfRun(a author) (*turnMessages, error) {
	turn, ok := t.turns[a.run]
	if !ok {
		var err error
		if turn, err = t.turnOfAuthor(a); err != nil {
			return nil, err
		}
		t.turns[a.run] = turn
	}
	return turn, nil
}

// turnOfCall returns the turn with a call, which is read once.
func (t *trail) turnOfCall(e edits.Edit) (*origin.Turn, error) {
	turn, ok := t.called[e.Message]
	if !ok {
		var err error
		if turn, err = t.readCall(e); err != nil {
			return nil, err
		}
		t.called[e.Message] = turn
	}
	return turn, nil
}

func (r *reading) readCall(e edits.Edit) (*origin.Turn, error) {
	turn := &origin.Turn{Session: session.ID(e.Session), Message: session.ID(e.Message), Time: instant(e.Time), Title: r.view.Overview(e.Session).Title}
	p, err := r.view.PlaceAt(e.Session, e.Message, true)
	if err != nil || p.Node < 0 {
		return turn, nil // its file cannot be read as a whole
	}
	read, err := r.readTurn(p)
	if err != nil {
		return nil, err
	}
	turn.Prompt, turn.Text, turn.Title = read.Prompt, read.Text, cmp.Or(read.Title, turn.Title)
	return turn, nil
}
