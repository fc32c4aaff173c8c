package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
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
	d := &doctor{fix: o.Fix, report: &Report{Problems: []Problem{}}}
	run := w.read
	if o.Fix {
		run = func(ctx context.Context, f func(*view) error) error { return w.write(ctx, "doctor --fix", f) }
	}
	quiet := *w
	quiet.opts.Note = func(string) {}
	err := run(ctx, func(v *view) error {
		d.view = v
		v.Workspace = &quiet
		return d.run()
	})
	d.report.OK = !slices.ContainsFunc(d.report.Problems, func(p Problem) bool { return !p.Fixed })
	return d.report, err
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
		s, err := d.session(e.ID)
		if err != nil {
			d.unusable(e.ID, err)
			continue
		}
		if own := s.OwnID(); own != "" && own != e.ID {
			d.found(ForeignID, session.FileName(e.ID), fmt.Sprintf("the file gives itself the id %q; its name counts", own), false)
		}
		if !s.FitsSeal() {
			d.found(BrokenSeal, session.FileName(e.ID), sealDetail(s), false)
		}
	}
	for _, id := range d.penguinIDs() {
		var damage *session.DamageError
		if _, err := checkpoint.ReadPenguin(d.root, id); errors.As(err, &damage) {
			d.found(DamagedCheckpoint, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
		}
	}
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

func sealDetail(s *session.Session) string {
	sealed, now := s.Meta.Sealed.Messages, len(s.Messages)
	if now > sealed {
		return fmt.Sprintf("another program added %d messages to this checkpoint of %d; the checkpoint is what was sealed", now-sealed, sealed)
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
	var parts []*session.Session
	for _, id := range ids {
		s, err := d.session(id)
		if err != nil {
			return
		}
		parts = append(parts, s)
	}
	t, err := session.NewTree(parts)
	var damage *session.DamageError
	if errors.As(err, &damage) {
		d.found(Cycle, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
		return
	}
	for n, node := range t.Nodes {
		id, file := t.Message(n).ID, session.FileName(parts[node.Part].ID)
		if node.Orphan {
			d.found(OrphanMessage, file, fmt.Sprintf("the parent of message %q is gone; it is read as a beginning of its own", id), false)
		}
		if same := t.Find(id); len(same) > 1 && same[0] != n {
			d.found(DuplicateID, file, fmt.Sprintf("%s has another message under the id %q", parts[t.Nodes[same[0]].Part].ID, id), false)
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
	h, ok := d.head()
	if !ok {
		return nil
	}
	_, err := d.placeIn(h.Session, string(h.Message), true)
	if err == nil || Explain(err).Code != NotFound {
		return nil
	}
	if d.fix {
		if err := d.discard(headFile); err != nil {
			return err
		}
	}
	d.found(LostHead, headFile, "the head points to what is gone: "+err.Error(), d.fix)
	return nil
}

// links compares what the files say of their continuations with what continues
// them.
func (d *doctor) links() error {
	for _, e := range d.index.Entries() {
		s, err := d.session(e.ID)
		if err != nil {
			continue // gone while we look
		}
		continuations := d.index.Continuations(e.ID)
		said := slices.DeleteFunc(slices.Clone(s.Meta.ContinuedTo), func(id string) bool {
			c := d.index.Entry(id)
			return c != nil && c.Snapshot && slices.Contains(c.ContinuedFrom, e.ID)
		})
		if sameSet(said, continuations) {
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
	kind := StaleIndex
	if d.index.Torn {
		kind = DamagedIndex
	}
	if d.index.Trouble != "" {
		d.found(kind, session.Dir+"/"+session.IndexFile, d.index.Trouble, d.fix)
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
	return nil
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
