package checkup

import (
	"errors"
	"path"

	"github.com/bough-dev/bough/internal/pack"
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
	for _, problem := range problems {
		name := states.Dir
		if record, ok := errors.AsType[*states.RecordError](problem); ok {
			name = record.File
		} else if damage, ok := errors.AsType[*pack.DamageError](problem); ok {
			name = damage.Name
		}
		if unfinished, ok := errors.AsType[*states.UnfinishedError](problem); ok {
			d.note(doctor.PendingForget, path.Join(states.Dir, unfinished.Pack), problem.Error())
			continue
		}
		d.found(doctor.DamagedState, name, problem.Error(), false)
	}
	return d.v.Ctx.Err()
}
