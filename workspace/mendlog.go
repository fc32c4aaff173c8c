package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/operation"
)

// logDamage says what is wrong with the log of operations, "" if nothing is, and
// returns its lines that are operations.
func (d *doctor) logDamage() (detail string, intact []byte, err error) {
	info, err := d.root.Lstat(operation.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular():
		return "it is not a regular file, and nothing can be logged", nil, nil
	}
	log, err := operation.Open(d.root)
	if err != nil {
		return "", nil, err
	}
	defer log.Close()
	var first *operation.DamageError
	damaged, settled := 0, 0
	for line, err := range log.From(0) {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			if damaged++; damaged == 1 {
				first = damage
			}
		case err != nil:
			return "", nil, err
		default:
			if intact = append(append(intact, line.Raw...), '\n'); line.Settled {
				settled = len(intact)
			}
		}
	}
	if first == nil {
		return "", nil, nil
	}
	if settled > 0 {
		intact = slices.Insert(intact, settled, '\n')
	}
	return fmt.Sprintf("byte %d: %s; %s cannot be read", first.Offset, first.Problem, plural(damaged, "line")), intact, nil
}

// logFile reports what is wrong with the log.
func (d *doctor) logFile() error {
	detail, _, err := d.logDamage()
	switch {
	case err != nil:
		d.found(DamagedLog, operation.Path, err.Error(), false)
	case detail != "":
		d.found(DamagedLog, operation.Path, detail, false)
	}
	return nil
}

// mendLog makes the log anew of the lines that are operations, and moves what is no
// file out of the way. That comes before all else, which is going to be logged.
func (d *doctor) mendLog() error {
	detail, intact, err := d.logDamage()
	if err != nil || detail == "" {
		return nil // logFile says what is left
	}
	if intact != nil {
		if err := d.keep(operation.Path); err != nil {
			return err
		}
		if _, err := durable.Replace(d.root, operation.Path, durable.Bytes(intact)); err != nil {
			return err
		}
	} else {
		to, err := d.inTrash(operation.Path)
		if err != nil {
			return err
		}
		b := durable.NewBatch(d.root)
		defer b.Discard()
		if err := b.Move(operation.Path, to); err != nil {
			return err
		}
		if _, _, err := b.Commit(context.WithoutCancel(d.ctx)); err != nil {
			return err
		}
	}
	d.found(DamagedLog, operation.Path, detail, true)
	_, err = d.lastOperations()
	return err
}
