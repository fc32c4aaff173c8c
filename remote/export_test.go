package remote

import (
	"context"
	"fmt"
)

// Dump says what is known of a session.
func (r *Remote) Dump(id string) string {
	j, err := r.begin(context.Background(), "dump", true)
	if err != nil {
		return err.Error()
	}
	defer j.end()
	s := j.view().Session(id)
	if s == nil {
		return "not there"
	}
	text := fmt.Sprintf("own %s pending %v cursors %v unsent %d\n", j.writer.Machine(), j.Here.Pending, j.Cursors.Vector(), len(j.writer.Unsent()))
	for _, run := range s.Runs {
		text += fmt.Sprintf("%v noted %v:", run.Stamp, isNoted(j.notes.of(id), run))
		for it := range j.packs.Items(j.ctx, run.Body) {
			text += fmt.Sprintf(" %s %s", it.ID, it.Raw)
		}
		text += "\n"
	}
	for id, n := range j.notes.of(id) {
		text += fmt.Sprintf("note %q %v\n", id, n)
	}
	return text
}

// SetBaseEvery sets after how many own records there is a new base.
func (r *Remote) SetBaseEvery(n uint64) { r.baseEvery = n }
