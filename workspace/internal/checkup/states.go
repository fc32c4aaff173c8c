package checkup

import (
	"errors"
	"fmt"
	"path"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
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
			if name = record.File; d.repairs() && !repaired[name] {
				repaired[name] = true
				if detail, fixed, err = d.repairLines(s, record); err != nil {
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

// repairLines removes the damaged lines of a file, and keeps a copy of it in the trash.
func (d *checkup) repairLines(s *states.Store, damage *states.RecordError) (detail string, fixed bool, err error) {
	detail = damage.Error()
	r, err := s.Repair(damage.File, func() error {
		to, err := d.tx.InTrash(damage.File)
		if err != nil {
			return err
		}
		return durable.KeepOriginal(d.v.Root, damage.File, to)
	})
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
