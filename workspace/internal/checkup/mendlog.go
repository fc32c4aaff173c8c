package checkup

import (
	"context"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/doctor"
)

// logFile reports damage of the log.
func (d *checkup) logFile() error {
	detail, _, err := d.v.LogDamage()
	switch {
	case err != nil:
		d.found(doctor.DamagedLog, operation.Path, err.Error(), false)
	case detail != "":
		d.found(doctor.DamagedLog, operation.Path, detail, false)
	}
	return nil
}

// mendLog rewrites the log with its valid lines, or moves a non-regular file
// away. It runs before the repairs that are logged.
func (d *checkup) mendLog() error {
	detail, isFile, err := d.v.LogDamage()
	if err != nil || detail == "" {
		return nil // logFile reports it
	}
	if isFile {
		if _, err := d.tx.ReplaceLog(); err != nil {
			return err
		}
	} else {
		to, err := d.tx.InTrash(operation.Path)
		if err != nil {
			return err
		}
		b := durable.NewBatch(d.v.Root)
		defer b.Discard()
		if err := b.Move(operation.Path, to); err != nil {
			return err
		}
		if _, _, err := b.Commit(context.WithoutCancel(d.v.Ctx)); err != nil {
			return err
		}
	}
	d.found(doctor.DamagedLog, operation.Path, detail, true)
	_, err = d.tx.LastOperations()
	return err
}
