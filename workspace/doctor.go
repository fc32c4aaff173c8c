package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/operation"
	"github.com/bough-dev/bough/session"
)

// A Problem is one thing that is wrong in a workspace.
type Problem struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`   // slash-separated, inside the workspace
	Detail string `json:"detail"` // a sentence for a person
	Fixed  bool   `json:"fixed"`
}

// The kinds of problems.
const (
	DamagedSession    = "damaged_session"    // a file that is no session
	UnreadableSession = "unreadable_session" // a file that the system does not let us read
	DamagedCheckpoint = "damaged_checkpoint" // one of Penguin's that cannot be read
	DamagedIndex      = "damaged_index"      // an index that is no JSON object
	StaleIndex        = "stale_index"        // an index that is missing or says something else than the files
	MissingAncestor   = "missing_ancestor"   // a continuation of a session that is gone
	Cycle             = "cycle"              // sessions, or messages, that come from each other in a ring
	OneSidedLink      = "one_sided_link"     // a continued_to that does not name what continues the session
	OrphanMessage     = "orphan_message"     // a message whose parent is gone
	DuplicateID       = "duplicate_id"       // an id with different messages in two files of a line
	ForeignID         = "foreign_id"         // a session file that gives itself another id
	BrokenSeal        = "broken_seal"        // a checkpoint that another program wrote to
	MixedDialects     = "mixed_dialects"     // links in both dialects
	LostHead          = "lost_head"          // a head that points nowhere
	LeftOver          = "left_over"          // a temporary file of a write that did not end
)

// A Report is what [Workspace.Doctor] found.
type Report struct {
	OK       bool      `json:"ok"` // nothing is wrong, or all of it is fixed
	Problems []Problem `json:"problems"`
}

// DoctorOptions are the choices for a doctor's visit.
type DoctorOptions struct {
	// Fix mends what can be mended without loss: the index, links that can be
	// derived, a head that points nowhere, what an interrupted write left. What
	// it replaces goes to the trash.
	Fix bool
}

// Doctor looks at every file of the workspace and reports everything that is
// wrong.
func (w *Workspace) Doctor(ctx context.Context, o DoctorOptions) (*Report, error) {
	quiet := *w
	quiet.opts.Note = func(string) {}
	report := &Report{}
	examine := func(v *view) error {
		*report = Report{Problems: []Problem{}}
		if err := v.whole(); err != nil {
			return err
		}
		v.folder = v.folder.Fresh()
		clear(v.outlines)
		d := &doctor{v, o.Fix, report}
		err := d.run()
		report.OK = !slices.ContainsFunc(report.Problems, func(p Problem) bool { return !p.Fixed })
		return err
	}
	if o.Fix {
		return report, quiet.fix(ctx, examine)
	}
	if err := quiet.read(ctx, examine); err != nil {
		return report, err
	}
	if slices.ContainsFunc(report.Problems, Problem.passes) {
		return report, quiet.again(ctx, report, examine)
	}
	return report, nil
}

// fix calls f under the lock, and writes the index, which is part of what is to
// be mended.
func (w *Workspace) fix(ctx context.Context, f func(*view) error) error {
	return w.locked(ctx, operation.Operation{Verb: "doctor --fix"}, func(v *view) error {
		if err := f(v); err != nil {
			return err
		}
		later, err := v.commitAll()
		return cmp.Or(err, later)
	})
}

// again calls f once more, while nobody writes. While somebody does, what may
// pass is no problem, and is taken out of the report. Where there is no lock,
// nobody does.
func (w *Workspace) again(ctx context.Context, report *Report, f func(*view) error) error {
	if !writelock.Exists(filepath.Join(w.dir, stateDir)) {
		return nil
	}
	hasty := *w
	hasty.opts.Wait = min(w.opts.Wait, time.Second)
	ran := false
	err := hasty.locked(ctx, operation.Operation{Verb: "doctor"}, func(v *view) error {
		ran = true
		return f(v)
	})
	var held *writelock.HeldError
	switch {
	case ran || ctx.Err() != nil:
		return err
	case errors.As(err, &held):
		report.Problems = slices.DeleteFunc(report.Problems, Problem.passes)
		report.OK = len(report.Problems) == 0
	}
	return nil // what cannot be locked is as it was seen
}

// passes reports whether p may be what a writer has not completed yet.
func (p Problem) passes() bool {
	return p.Kind == LeftOver || p.Kind == StaleIndex || p.Kind == OneSidedLink
}

type doctor struct {
	*view
	fix    bool
	report *Report
}

func (d *doctor) found(kind, path, detail string, fixed bool) {
	d.report.Problems = append(d.report.Problems, Problem{kind, path, detail, fixed})
}

func (d *doctor) run() error {
	if err := d.leftOvers(); err != nil {
		return err
	}
	d.files()
	d.lines()
	d.dialects()
	if err := d.headPlace(); err != nil {
		return err
	}
	if err := d.links(); err != nil {
		return err
	}
	d.indexFile()
	return nil
}

// files looks at every session alone.
func (d *doctor) files() {
	for _, e := range d.index.Unusable() {
		d.unusable(e.ID, e.Err)
	}
	for _, e := range d.index.Entries() {
		s, err := d.outline(e.ID)
		if err != nil {
			d.unusable(e.ID, err)
			continue
		}
		if own := s.OwnID; own != "" && own != e.ID {
			d.found(ForeignID, session.FileName(e.ID), fmt.Sprintf("the file gives itself the id %q; its name counts", own), false)
		}
		if !s.FitsSeal {
			d.found(BrokenSeal, session.FileName(e.ID), sealDetail(s), false)
		}
		if !d.index.Says(s.Summary()) {
			d.reindex(s)
		}
	}
	for _, id := range d.penguinIDs() {
		var damage *session.DamageError
		if _, err := checkpoint.ReadPenguin(d.root, id); errors.As(err, &damage) {
			d.found(DamagedCheckpoint, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
		}
	}
}

// reindex reports an entry that says something else than its file, although the
// file has the size and time that it had.
func (d *doctor) reindex(s *session.Outline) {
	if d.fix {
		d.index.Correct(s.Summary())
	}
	d.found(StaleIndex, session.IndexPath, "it says something else of "+s.ID+" than the file does", d.fix)
}

// unusable reports why the file of a session cannot be used, unless it is gone.
func (d *doctor) unusable(id string, err error) {
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		d.found(DamagedSession, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
	case !errors.Is(err, errGone):
		d.found(UnreadableSession, session.FileName(id), err.Error(), false)
	}
}

func sealDetail(s *session.Outline) string {
	sealed, now := s.Meta.Sealed.Messages, s.Len()
	if now > sealed {
		return fmt.Sprintf("another program added %d messages to this checkpoint of %d; the checkpoint is what was sealed, and 'bough branch %s@%s' makes a session of all of it",
			now-sealed, sealed, s.ID, s.MessageID(now-1))
	}
	return fmt.Sprintf("another program changed this checkpoint of %d messages", sealed)
}

// lines looks at sessions together.
func (d *doctor) lines() {
	seen := map[string]bool{}
	for _, e := range d.index.Entries() {
		var ring *index.CycleError
		if _, err := d.lineage(e.ID); errors.As(err, &ring) && slices.Contains(ring.IDs, e.ID) {
			d.found(Cycle, session.FileName(e.ID), ring.Error(), false)
			continue
		}
		if seen[e.ID] {
			continue
		}
		ids, err := d.lineIDs(e.ID)
		for _, id := range ids {
			seen[id] = true
		}
		var missing *index.MissingError
		if errors.As(err, &missing) {
			d.found(MissingAncestor, session.FileName(missing.From), missing.Error(), false)
		}
		if len(ids) > 0 {
			d.messages(ids)
		}
	}
}

// messages looks at the tree of messages of one line.
func (d *doctor) messages(ids []string) {
	var parts []*session.Outline
	for _, id := range ids {
		o, err := d.outline(id)
		if err != nil {
			return
		}
		parts = append(parts, o)
	}
	t, err := session.NewTree(parts, d.reopen)
	var damage *session.DamageError
	if errors.As(err, &damage) {
		d.found(Cycle, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
		return
	}
	for n := range t.Len() {
		id, file := t.ID(n), session.FileName(parts[t.Part(n)].ID)
		if t.Orphan(n) {
			d.found(OrphanMessage, file, fmt.Sprintf("the parent of message %q is gone; it is read as a beginning of its own", id), false)
		}
		if same := t.Find(id); len(same) > 1 && same[0] != n {
			d.found(DuplicateID, file, fmt.Sprintf("%s has another message under the id %q", parts[t.Part(same[0])].ID, id), false)
		}
	}
}

func (d *doctor) dialects() {
	if bough, penguin, mixed := d.index.Mixed(); mixed {
		d.found(MixedDialects, session.Dir, fmt.Sprintf("%s has links as lists, %s as Penguin writes them; Penguin does not follow lists", bough, penguin), false)
	}
}

// headPlace looks whether the head points to something. One in a session that
// is damaged is not lost: the session may come back.
func (d *doctor) headPlace() error {
	if _, err := d.root.Lstat(headFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := errors.New("it cannot be read")
	if h, ok := d.head(); ok {
		_, err = d.placeIn(h.Session, string(h.Message), true)
	}
	if err == nil {
		return nil
	}
	if e := Explain(err); e.Code != NotFound && e.Code != Failed {
		return nil
	}
	if d.fix {
		if err := d.discard(headFile); err != nil {
			return err
		}
	}
	d.found(LostHead, headFile, "nothing says where the next message goes: "+err.Error(), d.fix)
	return nil
}

// links compares what the files say of their continuations with what continues
// them.
func (d *doctor) links() error {
	for _, e := range d.index.Entries() {
		s, err := d.outline(e.ID)
		if err != nil {
			continue // gone while we look
		}
		continuations := d.index.Continuations(e.ID)
		said := slices.DeleteFunc(slices.Clone(s.Meta.ContinuedTo), func(id string) bool {
			c := d.index.Entry(id)
			return c != nil && c.Snapshot && slices.Contains(c.ContinuedFrom, e.ID)
		})
		if _, ring := d.lineage(e.ID); sameSet(said, continuations) || isRing(ring) {
			continue
		}
		detail := fmt.Sprintf("continued_to says [%s], but what continues it is [%s]",
			strings.Join(said, ", "), strings.Join(continuations, ", "))
		if d.fix {
			if err := d.setContinuedTo(s); err != nil {
				return err
			}
		}
		d.found(OneSidedLink, session.FileName(e.ID), detail, d.fix)
	}
	return nil
}

// indexFile comes last: what was mended before is in the index that is written
// when all is done.
func (d *doctor) indexFile() {
	switch x := d.index; {
	case x.Torn:
		d.found(DamagedIndex, session.IndexPath, x.Trouble, d.fix)
	case x.Trouble != "":
		d.found(StaleIndex, session.IndexPath, x.Trouble, d.fix)
	case x.Old && x.Dialect() == session.Penguin:
		d.found(StaleIndex, session.IndexPath, "it is older than a session file, so that Penguin would not use it", d.fix)
	}
}

// leftOvers finds the temporary files of writes that did not end.
func (d *doctor) leftOvers() error {
	for _, dir := range []string{".", session.Dir} {
		entries, err := fs.ReadDir(d.root.FS(), dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), durable.TempSuffix) {
				continue
			}
			name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
			if d.fix {
				if err := d.discard(name); err != nil {
					return err
				}
			}
			d.found(LeftOver, name, "an interrupted write left this temporary file", d.fix)
		}
	}
	d.folder.SweepCache()
	if d.fix {
		d.folder.ForgetOthers(func(id string) bool { return d.index.Entry(id) != nil })
	}
	return nil
}

// isRing reports whether err says that sessions come from each other.
func isRing(err error) bool {
	var ring *index.CycleError
	return errors.As(err, &ring)
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
