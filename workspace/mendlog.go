package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace/doctor"
)

// logDamage describes the damage of the log of operations, "" for none, and reports
// whether the log is a file, whose intact lines can be kept.
func (v *View) logDamage() (detail string, isFile bool, err error) {
	info, err := v.root.Lstat(operation.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular():
		return "it is not a regular file, and nothing can be logged", false, nil
	}
	log, err := operation.Open(v.root)
	if err != nil {
		return "", true, err
	}
	defer log.Close()
	first, _, err := log.Broken()
	if err != nil {
		return "", true, err
	}
	damaged := 0
	for _, err := range log.From(0) {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			if damaged++; first == nil || damage.Offset < first.Offset {
				first = damage
			}
		case err != nil:
			return "", true, err
		}
	}
	switch {
	case first == nil:
		return "", true, nil
	case damaged == 0:
		return fmt.Sprintf("byte %d: %s", first.Offset, first.Problem), true, nil
	}
	return fmt.Sprintf("byte %d: %s; %s cannot be read", first.Offset, first.Problem, plural.Of(damaged, "line")), true, nil
}

// logFile reports damage of the log.
func (d *checkup) logFile() error {
	detail, _, err := d.v.logDamage()
	switch {
	case err != nil:
		d.found(doctor.DamagedLog, operation.Path, err.Error(), false)
	case detail != "":
		d.found(doctor.DamagedLog, operation.Path, detail, false)
	}
	return nil
}

// mendLog rewrites the log with its valid lines, and moves a non-file out of its
// place. It runs before the changes that are logged.
func (d *checkup) mendLog() error {
	detail, isFile, err := d.v.logDamage()
	if err != nil || detail == "" {
		return nil // logFile reports the rest
	}
	if isFile {
		if _, err := d.tx.replaceLog(); err != nil {
			return err
		}
	} else {
		to, err := d.tx.inTrash(operation.Path)
		if err != nil {
			return err
		}
		b := durable.NewBatch(d.v.root)
		defer b.Discard()
		if err := b.Move(operation.Path, to); err != nil {
			return err
		}
		if _, _, err := b.Commit(context.WithoutCancel(d.v.ctx)); err != nil {
			return err
		}
	}
	d.found(doctor.DamagedLog, operation.Path, detail, true)
	_, err = d.tx.lastOperations()
	return err
}

// replaceLog moves the log to the trash, returns where it is there, and begins another
// with the lines that are operations.
func (tx *Tx) replaceLog() (to string, err error) {
	if to, err = tx.inTrash(operation.Path); err != nil {
		return "", err
	}
	log, err := operation.Open(tx.View.root)
	if err != nil {
		return "", err
	}
	defer log.Close()
	if err := durable.KeepOriginal(tx.View.root, operation.Path, to); err != nil {
		return "", err
	}
	_, err = durable.Replace(tx.View.root, operation.Path, func(w *durable.Writer) error {
		return log.Rewrite(w, false, func(line operation.Line) *operation.Operation { return line.Operation })
	})
	return to, err
}

// mendBrokenLog replaces a log that cannot be continued and reports whether it must not
// be written to: doctor looks at it first.
func (tx *Tx) mendBrokenLog() (broken bool, err error) {
	log, err := operation.Open(tx.View.root)
	if err != nil {
		return false, nil // lastOperations returns the error
	}
	damage, last, err := log.Broken()
	log.Close()
	if err != nil || damage == nil || tx.View.every {
		return damage != nil, err
	}
	to, err := tx.replaceLog()
	if err != nil {
		return true, err
	}
	tx.trash = "" // the folder stays if the command is refused
	tx.highest = last
	tx.View.store.opts.Note(fmt.Sprintf("the log of operations is damaged (%s) and was moved to %s: %v", doctor.DamagedLog, tx.View.path(path.Dir(to)), damage))
	return false, nil
}
