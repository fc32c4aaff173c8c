package desk

import (
	"context"

	"github.com/bough-dev/bough/workspace/events"
)

// follow has the screen shown again after each change of the workspace after
// operation from, by any program, until ctx ends.
func (d *Desk) follow(ctx context.Context, from events.Seq) error {
	for e, err := range d.w.Events(ctx, from) {
		if err != nil {
			return err
		}
		d.take(e)
	}
	return nil
}

func (d *Desk) take(e events.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e.Type {
	case events.ChatContent:
		d.arriving += e.Text
		d.announce()
		return
	case events.MessageAdded:
		d.arriving = "" // the whole message is stored
	}
	d.invalidate()
}
