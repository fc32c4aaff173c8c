package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// SnapshotOptions are the choices for a checkpoint or a branch.
type SnapshotOptions struct {
	// Name is the title. If empty, it is derived from the conversation's title.
	Name string
	// Auto makes an automatic checkpoint, which has no name and is pruned as
	// [Options.Retention] says. If any checkpoint of this path exists, it is
	// returned instead. Branch ignores Auto.
	Auto bool
	// KeepHead keeps Branch from moving the head.
	KeepHead bool
	// ID is the id of the branch. If a branch of this path with the id exists, it is
	// returned. If empty, an id is generated. Checkpoint ignores ID.
	ID string
	checkpoint.CutOptions
}

// cut resolves ref and moves back to the nearest message at which a path can
// end.
func (v *View) cut(ref string, o checkpoint.CutOptions) (*place, checkpoint.Adjustment, error) {
	p, err := v.place(ref, o.Partial)
	if err != nil {
		return nil, checkpoint.Adjustment{}, err
	}
	c, err := p.cut(o)
	return p, c, err
}

// cut moves p back to the nearest message at which a path can end. If there is
// none, or if o is strict and p is not such a message, it returns a
// *[checkpoint.ToolCutError].
func (p *place) cut(o checkpoint.CutOptions) (checkpoint.Adjustment, error) {
	err := checkpoint.Cut(p.Tree, p.node)
	var cut *checkpoint.ToolCutError
	if o.Strict || !errors.As(err, &cut) || cut.Before == "" {
		return checkpoint.Adjustment{}, err
	}
	p.node = checkpoint.WholeBefore(p.Tree, p.node)
	return checkpoint.Adjustment{Requested: session.ID(cut.Message), SteppedBack: true}, nil
}

// Checkpoint creates a read-only copy of the path to ref, which depends on no
// other session. If the path would separate a tool call from its result, it
// ends before the call, unless o is strict. After an automatic checkpoint it
// prunes; see [Workspace.Prune].
func (w *Workspace) Checkpoint(ctx context.Context, ref string, o SnapshotOptions) (*Snapshot, error) {
	type snapshot struct {
		*Snapshot
		existed bool
	}
	op := operation.Operation{Verb: "checkpoint", Args: args{"ref": ref, "name": o.Name}, Auto: o.Auto}
	snap, err := update(ctx, w.store, op, func(tx *Tx) (snap snapshot, err error) {
		p, cut, err := tx.View.cut(ref, o.CutOptions)
		if err != nil {
			return snap, err
		}
		if o.Auto {
			if existing, err := tx.View.taken(p); existing != nil || err != nil {
				return snapshot{existing, true}, err
			}
		}
		made, err := tx.takeSnapshot(p, checkpoint.Spec{Kind: session.Checkpoint, Title: o.Name, Auto: o.Auto})
		if err != nil {
			return snap, err
		}
		made.Adjustment = cut
		return snapshot{made, false}, nil
	})
	if err == nil && o.Auto && !snap.existed {
		if _, err := w.store.prune(ctx, PruneOptions{}, true); err != nil {
			w.store.opts.Note("old automatic checkpoints are not pruned: " + err.Error())
		}
	}
	return snap.Snapshot, err
}

// Branch creates a session with a copy of the path to ref, and moves the head
// to its end unless o.KeepHead is set. Like [Workspace.Checkpoint], it ends
// before an incomplete tool call.
func (w *Workspace) Branch(ctx context.Context, ref string, o SnapshotOptions) (*Snapshot, error) {
	op := operation.Operation{Verb: "branch", Args: args{"ref": ref, "name": o.Name}}
	return update(ctx, w.store, op, func(tx *Tx) (*Snapshot, error) {
		p, cut, err := tx.View.cut(ref, o.CutOptions)
		if err != nil {
			return nil, err
		}
		if existing, err := tx.View.madeBranch(o.ID, p); existing != nil || err != nil {
			return existing, err
		}
		snap, err := tx.takeSnapshot(p, checkpoint.Spec{ID: o.ID, Kind: session.Branch, Title: o.Name})
		if err != nil {
			return nil, err
		}
		snap.Adjustment = cut
		if o.KeepHead {
			return snap, nil
		}
		_, err = tx.moveHead(snap.ID, p.messageID(), p.messageID())
		return snap, err
	})
}

// madeBranch returns the branch with an id, nil if there is none.
func (v *View) madeBranch(id string, p *place) (*Snapshot, error) {
	if id == "" || v.index.Entry(id) == nil && v.index.Err(id) == nil {
		return nil, nil
	}
	if err := v.index.Err(id); err != nil {
		return nil, err
	}
	e := v.index.Entry(id)
	if e.Kind() != session.Branch || e.BranchPoint != p.messageID() {
		return nil, &fault.Error{Code: fault.Refused, Message: "the session " + id + " already exists and is not a branch of this message"}
	}
	return v.snapshotOf(id), nil
}

// taken returns an existing checkpoint of the path to p, nil if there is none.
func (v *View) taken(p *place) (*Snapshot, error) {
	if err := v.whole(); err != nil {
		return nil, err
	}
	for _, e := range v.index.Entries() {
		if e.Kind() == session.Checkpoint && e.BranchPoint == p.messageID() && (e.Origin() == p.source().ID || v.isOfPath(e.ID, p)) {
			return v.snapshotOf(e.ID), nil
		}
	}
	return nil, nil
}

// isOfPath reports whether a snapshot has the messages of the path to p. Their
// sessions may differ, because a branch begins with copies.
func (v *View) isOfPath(id string, p *place) bool {
	path := p.Path(p.node)
	s, err := v.folder.Read(id)
	if err != nil || len(s.Messages) != len(path) {
		return false
	}
	for i, m := range s.Messages {
		if m.ID != p.ID(path[i]) {
			return false
		}
	}
	return true
}

// snapshot stages a snapshot of the path to p. spec has its kind, its title,
// and whether it is automatic.
func (tx *Tx) takeSnapshot(p *place, spec checkpoint.Spec) (*Snapshot, error) {
	d, err := tx.View.document(p, spec)
	if err != nil {
		return nil, err
	}
	if err := tx.create(d); err != nil {
		return nil, err
	}
	return tx.View.snapshotOf(d.ID), nil
}

// snapshotOf returns the entry and the file of a snapshot.
func (v *View) snapshotOf(id string) *Snapshot {
	return &Snapshot{Entry: v.entryOf(id), Path: v.path(session.FileName(id)), Bytes: v.index.Entry(id).Size()}
}

// document returns the content of a snapshot of the path to p.
func (v *View) document(p *place, spec checkpoint.Spec) (*session.Document, error) {
	spec, err := v.spec(p, spec)
	if err != nil {
		return nil, err
	}
	if err := p.unique(p.Path(p.node)); err != nil {
		return nil, err
	}
	return checkpoint.Flatten(p.Tree, p.node, spec, v.reopen)
}

// spec sets the missing fields of the specification of a snapshot of the path
// to p.
func (v *View) spec(p *place, spec checkpoint.Spec) (checkpoint.Spec, error) {
	err := checkUTF8("name", spec.Title)
	if err != nil {
		return spec, err
	}
	if spec.ID == "" {
		spec.ID, err = v.newID()
	} else if !sessionid.Valid(spec.ID) {
		err = &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid session id %q", spec.ID)}
	}
	if err != nil {
		return spec, err
	}
	source := p.source().ID
	if v.isPenguin(source) {
		source = cmp.Or(v.penguin[source].Session, source)
	}
	lineage, _ := v.lineage(source) // as far as it is known
	if len(lineage) == 0 {
		lineage = []string{source}
	}
	if spec.Title == "" {
		spec.Title = v.freeTitle(v.lineTitle(p.line), spec.Kind)
	}
	spec.Dialect = v.index.Dialect()
	spec.Now = spec.Dialect.Time(v.now(p.line))
	spec.Source, spec.Lineage = source, lineage
	return spec, nil
}

// unique returns an error if two of nodes have the same id: one file cannot
// have both.
func (l *line) unique(nodes []int) error {
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
func (v *View) lineTitle(l *line) string {
	return v.overview(l.Parts[0].ID).title
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
		taken, err := v.index.Titled(numbered(n))
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
