package checkup

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// states checks everything that the states of folders need, and the links to them.
func (d *checkup) states() error {
	s := states.Open(d.v.Root, session.CacheDir)
	defer s.Close()
	problems, err := s.Verify()
	if err != nil {
		problems = append(problems, err)
	}
	if _, err := s.Links(); err != nil {
		problems = append(problems, err)
	}
	repaired := map[string]bool{}
	for _, problem := range problems {
		if unfinished, ok := errors.AsType[*states.UnfinishedError](problem); ok {
			d.note(doctor.PendingForget, path.Join(states.Dir, unfinished.Pack), problem.Error())
			continue
		}
		name, detail, fixed := states.Dir, problem.Error(), false
		if record, ok := errors.AsType[*states.RecordError](problem); ok {
			name = record.File
			repair := d.repairLines
			if name == states.FoldersFile {
				detail += "; a repair keeps what can be read of it, and finds other folders in the log"
				repair = d.rebuildFolders
			}
			if d.repairs() && !repaired[name] {
				repaired[name] = true
				if detail, fixed, err = repair(s, record); err != nil {
					return err
				}
			}
		} else if damage, ok := errors.AsType[*pack.DamageError](problem); ok {
			name = damage.Name
		}
		d.found(doctor.DamagedState, name, detail, fixed)
	}
	return d.v.Ctx.Err()
}

// rebuildFolders replaces the list of folders, and keeps a copy of it in the trash.
func (d *checkup) rebuildFolders(s *states.Store, damage *states.RecordError) (detail string, fixed bool, err error) {
	known, err := d.loggedFolders()
	if err != nil {
		return "", false, err
	}
	r, err := s.RebuildFolders(known, func() error { return d.keepOriginal(damage.File) })
	if err != nil {
		return "", false, err
	}
	detail = damage.Error() + "; the file was moved to the trash and rebuilt with " + plural.Of(r.Read+r.More, "folder")
	if n := len(r.Lost); n > 0 {
		detail += fmt.Sprintf("; of %s the path is unknown: their states can be listed and exported, and the next state of such a folder begins a new list (%s)", plural.Of(n, "other folder"), strings.Join(r.Lost, ", "))
	}
	return detail, true, nil
}

// loggedFolders returns the folders whose files an operation restored, as they are now.
func (d *checkup) loggedFolders() (list []states.Folder, err error) {
	log, err := operation.Open(d.v.Root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var failed error
	for op := range d.v.Operations(log, &failed) {
		dir, ok := op.Args["dir"].(string)
		if op.Files == nil || !ok {
			continue
		}
		f := states.Folder{ID: op.Files.Folder, Path: dir}
		if real, identity, err := states.IdentityOf(dir); err == nil && real == dir && !store.TimeOf(op.Time).Before(time.Unix(0, identity.Born)) {
			f.Identity = identity // else another directory took the path since
		}
		list = append(list, f)
	}
	return list, failed
}

// keepOriginal keeps a file that will be replaced in the trash.
func (d *checkup) keepOriginal(name string) error {
	to, err := d.tx.InTrash(name)
	if err != nil {
		return err
	}
	return durable.KeepOriginal(d.v.Root, name, to)
}

// repairLines removes the damaged lines of a file, and keeps a copy of it in the trash.
func (d *checkup) repairLines(s *states.Store, damage *states.RecordError) (detail string, fixed bool, err error) {
	detail = damage.Error()
	r, err := s.Repair(damage.File, func() error { return d.keepOriginal(damage.File) })
	if errors.Is(err, errors.ErrUnsupported) {
		return detail, false, nil
	}
	if err != nil {
		return "", false, err
	}
	detail += "; the file was moved to the trash and replaced without " + plural.Of(r.Lines, "damaged line")
	if r.Unknown > 0 {
		detail += fmt.Sprintf("; which content %s named is unknown, so content that was deleted permanently may be stored again", plural.Of(r.Unknown, "line"))
	}
	return detail, true, nil
}
