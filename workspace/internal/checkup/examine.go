package checkup

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// A checkup checks a workspace and, with a tx, repairs it.
type checkup struct {
	v        *store.View
	tx       *store.Tx // nil if nothing is repaired
	rewrite  bool      // rewrite links in dialect
	dialect  session.Dialect
	problems []doctor.Problem
	torn     bool            // the index was torn
	pending  []string        // sessions that an interrupted forget deletes
	safe     map[string]bool // files that have a copy in the trash
}

// newCheckup returns a checkup that ignores the cache.
func newCheckup(v *store.View, tx *store.Tx) (*checkup, error) {
	if err := v.Whole(); err != nil {
		return nil, err
	}
	v.Folder = v.Folder.Fresh()
	clear(v.Outlines)
	return &checkup{v: v, tx: tx, problems: []doctor.Problem{}, torn: v.Index.Torn, safe: map[string]bool{}}, nil
}

// repairs reports whether d repairs what it finds.
func (d *checkup) repairs() bool { return d.tx != nil }

func (d *checkup) found(kind, path, detail string, fixed bool) {
	d.problems = append(d.problems, doctor.Problem{Kind: kind, Path: path, Detail: detail, Fixed: fixed})
}

// note reports a harmless difference that another program caused.
func (d *checkup) note(kind, path, detail string) {
	d.problems = append(d.problems, doctor.Problem{Kind: kind, Path: path, Detail: detail, Note: true})
}

func (d *checkup) run() error {
	for _, look := range []func() error{d.forgetting, d.folders, d.packs, d.states, d.restores, d.files, d.conflictCopies, d.attachments, d.lines, d.dialects, d.headPlace, d.bookmarkPlaces, d.agents, d.explorations, d.links, d.logFile, d.hooks, d.specialFiles} {
		if err := look(); err != nil {
			return err
		}
	}
	d.indexFile()
	if d.repairs() {
		return d.finish()
	}
	return nil
}

// forgetting reports a forget that was interrupted. Repairs were made before,
// if possible.
func (d *checkup) forgetting() error {
	plan, err := d.v.BeingForgotten()
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		if d.repairs() {
			if err := d.tx.Discard(store.ForgetPath); err != nil {
				return err
			}
		}
		d.found(doctor.PendingForget, store.ForgetPath, "a forget was interrupted, and what to forget is unknown: "+damage.Problem, d.repairs())
	case err != nil:
		d.found(doctor.PendingForget, store.ForgetPath, err.Error(), false)
	case plan == nil:
	case d.repairs():
		d.found(doctor.PendingForget, store.ForgetPath, "a forget was interrupted, and could not be completed", false)
	default:
		d.pending = plan.Sessions
		d.note(doctor.PendingForget, store.ForgetPath, "a forget was interrupted; the next command that changes something completes it")
	}
	return nil
}

// folders checks the directory entries.
func (d *checkup) folders() error {
	for _, dir := range []string{".", session.Dir, sessions.PackedDir, agent.Dir} {
		entries, err := durable.ReadDir(d.v.Root, dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
			if strings.HasSuffix(name, durable.TempSuffix) {
				err = d.leftOver(name)
			} else if dir != "." || name == store.HeadFile || name == bookmark.Path {
				err = d.access(name, e)
			}
			if err != nil {
				return err
			}
		}
	}
	if d.repairs() {
		d.v.Folder.SweepCache()
		d.v.Folder.ForgetOthers(func(id string) bool { return d.v.Index.Entry(id) != nil })
	}
	return nil
}

// leftOver reports the temporary file of an interrupted write.
func (d *checkup) leftOver(name string) error {
	if d.repairs() {
		discard := d.tx.Discard
		if strings.HasPrefix(name, sessions.PackedDir+"/") {
			discard = func(name string) error { return durable.Remove(d.v.Root, name) } // a forget could not find its text
		}
		if err := discard(name); err != nil {
			return err
		}
	}
	d.found(doctor.LeftOver, name, "an interrupted write left this temporary file", d.repairs())
	return nil
}

// access checks who can change a file. On Windows it does nothing.
func (d *checkup) access(name string, e fs.DirEntry) error {
	const others fs.FileMode = 0o002
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() || info.Mode()&others == 0 || runtime.GOOS == "windows" {
		return nil // removed, or nothing to report
	}
	if d.repairs() {
		if err := d.v.Root.Chmod(name, info.Mode().Perm()&^others); err != nil {
			return err
		}
	}
	d.found(doctor.OpenToAll, name, "every user of this machine can change it", d.repairs())
	return nil
}

// files checks each session alone.
func (d *checkup) files() error {
	for _, e := range d.v.Index.Unusable() {
		d.unusable(e.ID, e.Err)
	}
	for _, e := range d.v.Index.Entries() {
		s, err := d.v.Outline(e.ID)
		if err != nil {
			d.unusable(e.ID, err)
			continue
		}
		d.file(s)
	}
	for _, id := range d.v.PenguinIDs() {
		var damage *session.DamageError
		if _, err := checkpoint.ReadPenguin(d.v.Root, id); errors.As(err, &damage) {
			d.found(doctor.DamagedCheckpoint, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
		}
	}
	return d.v.Ctx.Err()
}

// file checks a readable session.
func (d *checkup) file(s *session.Outline) {
	name := d.v.File(s.ID)
	if own := s.OwnID; own != "" && own != s.ID {
		d.found(doctor.ForeignID, name, fmt.Sprintf("the file has another id, %q; its name is used", own), false)
	}
	if c := d.newerCopy(s); c.more > 0 {
		d.found(doctor.BetterCopy, name, c.detail(), false)
	}
	if !s.FitsSeal {
		d.found(doctor.BrokenSeal, name, sealDetail(s), false)
	}
	d.cache(s)
	if !d.v.Index.Matches(s.Summary()) {
		d.reindex(s)
	}
}

// cache checks the cached outline of a session.
func (d *checkup) cache(s *session.Outline) {
	if !d.v.Folder.CacheDiffers(s) {
		return
	}
	if d.repairs() {
		d.v.Folder.Forget(s.ID)
	}
	d.found(doctor.StaleCache, d.v.File(s.ID), "the content of the file changed since it was cached, although its time did not", d.repairs())
}

// reindex reports an index entry that differs from its file although the file's
// size and time are unchanged.
func (d *checkup) reindex(s *session.Outline) {
	if d.repairs() {
		d.v.Index.Correct(s.Summary())
	}
	d.found(doctor.StaleIndex, session.IndexPath, "its entry of "+s.ID+" differs from the file", d.repairs())
}

// unusable reports why the file of a session cannot be used, unless the file
// was removed.
func (d *checkup) unusable(id string, err error) {
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage) && store.PackOf(damage.Path) != "":
		// reported with the pack
	case errors.As(err, &damage):
		r := d.remedy(id)
		detail := damageDetail(damage, r, false)
		if d.repairs() && r.data != nil {
			detail = damageDetail(damage, remedy{}, false) + "; another program is writing the file, so it was not changed"
		}
		d.found(doctor.DamagedSession, damage.Path, detail, false)
	case !errors.Is(err, store.ErrGone):
		d.found(doctor.UnreadableSession, d.v.Folder.File(id), err.Error(), false)
	}
}

func sealDetail(s *session.Outline) string {
	sealed, now := s.Meta.Sealed.Messages, s.Len()
	switch {
	case now > sealed:
		return fmt.Sprintf("another program added %d messages to this checkpoint of %d; the checkpoint has only the sealed ones, a branch from %s@%s has all",
			now-sealed, sealed, s.ID, s.MessageID(now-1))
	case now < sealed:
		return fmt.Sprintf("this checkpoint had %d messages, of which %d are left", sealed, now)
	}
	return fmt.Sprintf("another program changed this checkpoint of %d messages", sealed)
}

// lines checks sessions together.
func (d *checkup) lines() error {
	seen := map[string]bool{}
	for _, e := range d.v.Index.Entries() {
		var ring *index.CycleError
		if _, err := d.v.Lineage(e.ID); errors.As(err, &ring) && slices.Contains(ring.IDs, e.ID) {
			d.found(doctor.Cycle, d.v.File(e.ID), ring.Error(), false)
			continue
		}
		if seen[e.ID] {
			continue
		}
		ids, err := d.v.LineIDs(e.ID)
		for _, id := range ids {
			seen[id] = true
		}
		var missing *index.MissingError
		if errors.As(err, &missing) {
			d.found(doctor.MissingAncestor, d.v.File(missing.From), missing.Error(), false)
		}
		if len(ids) > 0 {
			d.messages(ids)
		}
	}
	return d.v.Ctx.Err()
}

// messages checks the tree of messages of a line.
func (d *checkup) messages(ids []string) {
	var parts []*session.Outline
	for _, id := range ids {
		o, err := d.v.Outline(id)
		if err != nil {
			return
		}
		parts = append(parts, o)
	}
	t, err := session.NewTree(parts, d.v.Reopen)
	var damage *session.DamageError
	if errors.As(err, &damage) {
		d.found(doctor.Cycle, damage.Path, fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem), false)
		return
	}
	notes := make([]partNotes, len(parts))
	for n := range t.Len() {
		id, file := t.ID(n), d.v.File(parts[t.Part(n)].ID)
		notes := &notes[t.Part(n)]
		switch {
		case t.Joined(n):
			notes.joined = append(notes.joined, id)
		case t.JoinIgnored(n):
			notes.cycles = append(notes.cycles, id)
		case t.Orphan(n) && d.imported(t, n):
			notes.orphans = append(notes.orphans, id)
		case t.Orphan(n):
			d.found(doctor.OrphanMessage, file, fmt.Sprintf("the parent of message %q is missing; it is treated as a root", id), false)
		}
		if same := t.Find(id); len(same) > 1 && same[0] != n {
			d.found(doctor.DuplicateID, file, fmt.Sprintf("%s has a different message with the id %q", parts[t.Part(same[0])].ID, id), false)
		}
	}
	for p, n := range notes {
		d.notesOf(d.v.File(parts[p].ID), n)
	}
}

// partNotes are the messages of one file that get a note.
type partNotes struct {
	orphans []string // imported, and treated as roots
	joined  []string
	cycles  []string // whose join would close a cycle
}

// notesOf reports notes on a file, one of each kind.
func (d *checkup) notesOf(file string, n partNotes) {
	if len(n.orphans) > 0 {
		d.note(doctor.OrphanMessage, file, "the transcript lacks the parent of "+countedIDs(n.orphans)+"; treated as a root")
	}
	if len(n.joined) > 0 {
		d.note(doctor.JoinedMessage, file, "parent missing: "+countedIDs(n.joined)+"; joined to the previous message in the file")
	}
	if len(n.cycles) > 0 {
		d.note(doctor.JoinedMessage, file, "ignored the join of "+countedIDs(n.cycles)+", which would close a cycle")
	}
}

// countedIDs formats message ids: the first, and how many there are.
func countedIDs(ids []string) string {
	if len(ids) == 1 {
		return fmt.Sprintf("the message %q", ids[0])
	}
	return fmt.Sprintf("%d messages, the first is %q", len(ids), ids[0])
}

// imported reports whether the message at n was imported from a transcript of another
// program.
func (d *checkup) imported(t *session.Tree, n int) bool {
	if t.Parts[0].Own(importer.OwnSources) == nil {
		return false
	}
	s, err := d.v.Reopen(t.Parts[t.Part(n)])
	return err == nil && gjson.GetBytes(s.Messages[t.Index(n)].Raw, "metadata.bough.source").IsObject()
}

// headPlace checks that the head refers to a message. If the session is
// damaged, the head is not lost: the session may be repaired.
func (d *checkup) headPlace() error {
	if _, err := d.v.Root.Lstat(store.HeadFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := errors.New("it cannot be read")
	if h, ok := d.v.Head(); ok {
		if slices.Contains(d.pending, h.Session) {
			return nil
		}
		_, err = d.v.PlaceAt(h.Session, string(h.Message), true)
	}
	if err == nil {
		return nil
	}
	if e := store.Explain(err); e.Code != fault.NotFound && e.Code != fault.Failed {
		return nil
	}
	if d.repairs() {
		if err := d.tx.Discard(store.HeadFile); err != nil {
			return err
		}
	}
	d.found(doctor.LostHead, store.HeadFile, "the head refers to nothing: "+err.Error(), d.repairs())
	return nil
}

// links compares the recorded continuations of sessions with the actual ones.
func (d *checkup) links() error {
	for _, e := range d.v.Index.Entries() {
		s, err := d.v.Outline(e.ID)
		if err != nil {
			continue // removed meanwhile
		}
		continuations := d.v.Index.Continuations(e.ID)
		said := slices.DeleteFunc(slices.Clone(s.Meta.ContinuedTo), func(id string) bool {
			c := d.v.Index.Entry(id)
			return c != nil && c.Snapshot && slices.Contains(c.ContinuedFrom, e.ID)
		})
		if _, ring := d.v.Lineage(e.ID); sameSet(said, continuations) || isCycle(ring) {
			continue
		}
		detail := fmt.Sprintf("continued_to is [%s], but its continuations are [%s]",
			strings.Join(said, ", "), strings.Join(continuations, ", "))
		if d.repairs() {
			if err := d.relink(s); err != nil {
				return err
			}
		}
		d.found(doctor.OneSidedLink, d.v.File(e.ID), detail, d.repairs())
	}
	return nil
}

// indexFile runs last: the index that is written at the end includes the
// earlier repairs.
func (d *checkup) indexFile() {
	switch x := d.v.Index; {
	case d.torn:
		d.found(doctor.DamagedIndex, session.IndexPath, x.Trouble, d.repairs())
	case x.Trouble != "":
		d.found(doctor.StaleIndex, session.IndexPath, x.Trouble, d.repairs())
	case x.Old && x.Dialect() == session.Penguin:
		d.found(doctor.StaleIndex, session.IndexPath, "it is older than a session file, so Penguin would ignore it", d.repairs())
	}
}

// isCycle reports whether err is a cycle of sessions.
func isCycle(err error) bool {
	var ring *index.CycleError
	return errors.As(err, &ring)
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
