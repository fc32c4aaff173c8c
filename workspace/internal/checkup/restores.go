package checkup

import (
	"context"
	"errors"

	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// completeRestores completes interrupted restores of folders. Their locks must be acquired
// before that of the workspace.
func completeRestores(ctx context.Context, w *store.Store) (problems []doctor.Problem, err error) {
	done, _, err := folders.Complete(ctx, w, "doctor --fix")
	for _, u := range done {
		problems = append(problems, doctor.Problem{Kind: doctor.UnfinishedRestore, Path: u.Journal, Detail: "a restore of " + u.Dir + " was interrupted", Fixed: true})
	}
	if _, damaged := errors.AsType[*states.RecordError](err); damaged {
		err = nil // reported as damage of the states
	}
	return problems, err
}

// restores reports interrupted restores of folders.
func (d *checkup) restores() error {
	list, err := folders.ListUnfinished(d.v.Root)
	if _, damaged := errors.AsType[*states.RecordError](err); damaged {
		return nil
	}
	for _, u := range list {
		detail, fixed := "a restore of "+u.Dir+" was interrupted", false
		switch {
		case u.Damage != nil:
			detail += "; the journal is damaged: " + u.Damage.Error()
			if stages := restore.Stages(u.Dir); u.Dir != "" && len(stages) > 0 {
				detail += "; what it moved is in " + stages[0]
			}
			if d.repairs() {
				if err := d.dropJournal(u); err != nil {
					return err
				}
				detail, fixed = detail+"; the journal was moved to the trash", true
			}
		case u.Away:
			detail += ", and the folder is no longer there; if it returns, the next change of the workspace completes the restore; if it was deleted, delete this file"
		default:
			detail += "; the next change of the workspace, or a repair, completes it"
		}
		d.found(doctor.UnfinishedRestore, u.Journal, detail, fixed)
	}
	return err
}

// dropJournal moves a damaged journal to the trash. An undo does not bring it back: it would
// prevent every other undo.
func (d *checkup) dropJournal(u folders.Unfinished) error {
	if err := d.keepOriginal(u.Journal); err != nil {
		return err
	}
	return restore.JournalOf(d.v.Root, u.ID).Remove()
}
