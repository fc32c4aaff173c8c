package store

import (
	"cmp"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// Cut moves p back to the nearest message at which a path can end. If there is
// none, or if o is strict and p is not such a message, it returns a
// *[checkpoint.ToolCutError].
func (p *Place) Cut(o checkpoint.CutOptions) (checkpoint.Adjustment, error) {
	err := checkpoint.Cut(p.Tree, p.Node)
	var cut *checkpoint.ToolCutError
	if o.Strict || !errors.As(err, &cut) || cut.Before == "" {
		return checkpoint.Adjustment{}, err
	}
	p.Node = checkpoint.WholeBefore(p.Tree, p.Node)
	return checkpoint.Adjustment{Requested: session.ID(cut.Message), SteppedBack: true}, nil
}

// Document returns the content of a snapshot of the path to p.
func (v *View) Document(p *Place, spec checkpoint.Spec) (*session.Document, error) {
	spec, err := v.Spec(p, spec)
	if err != nil {
		return nil, err
	}
	if err := p.Unique(p.Path(p.Node)); err != nil {
		return nil, err
	}
	return checkpoint.Flatten(p.Tree, p.Node, spec, v.Reopen)
}

// Spec sets the missing fields of the specification of a snapshot of the path
// to p.
func (v *View) Spec(p *Place, spec checkpoint.Spec) (checkpoint.Spec, error) {
	err := CheckUTF8("name", spec.Title)
	if err != nil {
		return spec, err
	}
	if spec.ID == "" {
		spec.ID, err = v.NewID()
	} else if !sessionid.Valid(spec.ID) {
		err = &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid session id %q", spec.ID)}
	}
	if err != nil {
		return spec, err
	}
	source := p.Source().ID
	if v.IsPenguin(source) {
		source = cmp.Or(v.Penguin[source].Session, source)
	}
	lineage, _ := v.Lineage(source) // as far as it is known
	if len(lineage) == 0 {
		lineage = []string{source}
	}
	if spec.Title == "" {
		spec.Title = v.freeTitle(v.lineTitle(p.Line), spec.Kind)
	}
	spec.Dialect = v.Index.Dialect()
	spec.Now = spec.Dialect.Time(v.Now(p.Line))
	spec.Source, spec.Lineage = source, lineage
	return spec, nil
}

// Unique returns an error if two of nodes have the same id: one file cannot
// have both.
func (l *Line) Unique(nodes []int) error {
	if !l.HasDuplicates() {
		return nil
	}
	seen := map[string]int{}
	for _, n := range nodes {
		id := l.ID(n)
		if first, twice := seen[id]; twice {
			return &session.DamageError{
				Path:    session.FileName(l.Parts[l.Part(n)].ID),
				Offset:  l.Offset(n),
				Problem: fmt.Sprintf("%[2]s also has a message %[1]q, with different content", id, session.FileName(l.Parts[l.Part(first)].ID)),
			}
		}
		seen[id] = n
	}
	return nil
}

// lineTitle returns the title of a line's first file.
func (v *View) lineTitle(l *Line) string {
	return v.Overview(l.Parts[0].ID).Title
}

// freeTitle returns an unused title for a snapshot of a conversation, such as
// "T (branch)" or "T (branch 2)".
func (v *View) freeTitle(title string, kind session.Kind) string {
	title = madeOf(title)
	numbered := func(n int) string {
		if n == 1 {
			return fmt.Sprintf("%s (%s)", title, kind)
		}
		return fmt.Sprintf("%s (%s %d)", title, kind, n)
	}
	free := func(n int) bool {
		taken, err := v.Index.Titled(numbered(n))
		return err != nil || len(taken) == 0
	}
	most := 1
	for !free(most) {
		most *= 2
	}
	return numbered(most/2 + 1 + sort.Search(most-most/2-1, func(i int) bool { return free(most/2 + 1 + i) }))
}

// madeOf removes the suffix of freeTitle from a title.
func madeOf(title string) string {
	i := strings.LastIndex(title, " (")
	if i <= 0 || !strings.HasSuffix(title, ")") {
		return title
	}
	kind, number, numbered := strings.Cut(title[i+2:len(title)-1], " ")
	if kind != string(session.Branch) && kind != string(session.Checkpoint) {
		return title
	}
	if _, err := strconv.ParseUint(number, 10, 32); numbered && err != nil {
		return title
	}
	return title[:i]
}
