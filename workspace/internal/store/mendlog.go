package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace/doctor"
)

// LogDamage describes the damage of the log, "" for none. isFile reports
// whether it is a file, whose intact lines can be kept.
func (v *View) LogDamage() (detail string, isFile bool, err error) {
	info, err := v.Root.Lstat(operation.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	case !info.Mode().IsRegular():
		return "it is not a regular file, and nothing can be logged", false, nil
	}
	log, err := operation.Open(v.Root)
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

// ReplaceLog moves the log to the trash, returns its path there, and begins a
// new log with the valid operations.
func (tx *Tx) ReplaceLog() (to string, err error) {
	if to, err = tx.InTrash(operation.Path); err != nil {
		return "", err
	}
	log, err := operation.Open(tx.View.Root)
	if err != nil {
		return "", err
	}
	defer log.Close()
	if err := durable.KeepOriginal(tx.View.Root, operation.Path, to); err != nil {
		return "", err
	}
	_, err = durable.Replace(tx.View.Root, operation.Path, func(w *durable.Writer) error {
		return log.Rewrite(w, false, func(line operation.Line) *operation.Operation { return line.Operation })
	})
	return to, err
}

// mendBrokenLog replaces a log that cannot be continued. It reports whether the
// log must not be written before doctor has repaired it.
func (tx *Tx) mendBrokenLog() (broken bool, err error) {
	log, err := operation.Open(tx.View.Root)
	if err != nil {
		return false, nil // LastOperations returns the error
	}
	damage, last, err := log.Broken()
	log.Close()
	if err != nil || damage == nil || tx.View.Every {
		return damage != nil, err
	}
	to, err := tx.ReplaceLog()
	if err != nil {
		return true, err
	}
	tx.trash = "" // keep the folder if the command is refused
	tx.highest = last
	tx.View.Store.Opts.Note(fmt.Sprintf("the log of operations is damaged (%s) and was moved to %s: %v", doctor.DamagedLog, tx.View.Path(path.Dir(to)), damage))
	return false, nil
}
