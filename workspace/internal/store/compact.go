package store

import (
	"errors"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
)

// compactLog compacts the log if it is due, see [Options.Log]. It checks only
// if the numbers of the operations since before pass a multiple of Every.
func (tx *Tx) compactLog(before operation.Seq) error {
	o := tx.View.Store.Opts
	r := operation.Retention{Age: o.UndoAge, Operations: o.UndoOperations, Every: o.CompactEvery}.WithDefaults()
	every := operation.Seq(r.Every)
	if before/every == tx.Seq/every || tx.Seq <= operation.Seq(r.Operations) {
		return nil
	}
	log, err := operation.Open(tx.View.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	now := tx.View.Store.Opts.Now()
	h, due, err := log.Horizon(r, session.Bough.Time(now.Add(-r.Age)), session.Bough.Time(now))
	if err == nil && due {
		_, err = durable.Replace(tx.View.Root, operation.Path, func(w *durable.Writer) error { return log.Compact(w, h) })
	}
	var damage *operation.DamageError
	if errors.As(err, &damage) {
		return nil // doctor repairs the log first
	}
	return err
}
