package remote

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
)

// errPath is the error for a session that repeats messages which are not in the remote.
var errPath = errors.New("what it repeats is not in the remote")

// items returns the items of a session, without paths: of all runs, or of those of which there are no
// notes. The notes are of these.
func (j *job) items(id string, runs []join.Element, all bool) (items []record.Item, notes []plan.Note, err error) {
	known, quota := j.notes.of(id), &plan.Quota{Bytes: j.quotaLess}
	local, raw := loadOnce(j.local, quota), loadOnce(j.raw, quota)
	for _, run := range runs {
		if !all && isNoted(known, run) {
			continue
		}
		var stored []record.Item
		for it, err := range j.packs.Items(j.ctx, run.Body) {
			if err == nil {
				err = quota.Take(*it)
			}
			if err != nil {
				return nil, nil, err
			}
			stored = append(stored, *it)
		}
		list, more, err := plan.Expand(stored, quota, local, raw)
		var bad *plan.PathError
		if errors.As(err, &bad) || errors.Is(err, errPath) { // it does not keep the others out
			j.result.Left = append(j.result.Left, mirror.Left{What: id, Why: err.Error()})
			j.paths = append(j.paths, j.result.Left[len(j.result.Left)-1])
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		items = append(items, list...)
		notes = append(notes, more...)
		if own := j.writer.Machine(); run.Stamp.Machine != own || run.Stamp.Seq <= j.writer.Published()[own].Seq {
			notes = append(notes, plan.RunNote(run.Stamp))
		}
	}
	return items, notes, nil
}

// loadOnce returns load with a cache, of as much as a quota allows.
func loadOnce(load func(id string, quota *plan.Quota) (map[string]record.Item, error), quota *plan.Quota) func(session string) (map[string]record.Item, error) {
	cache := map[string]map[string]record.Item{}
	return func(id string) (map[string]record.Item, error) {
		if cache[id] == nil {
			items, err := load(id, quota)
			if err != nil {
				return nil, err
			}
			cache[id] = items
		}
		return cache[id], nil
	}
}

// local returns the messages of a session of the workspace, by id. Whether they are as they were
// published is not known.
func (j *job) local(id string, quota *plan.Quota) (map[string]record.Item, error) {
	messages, err := j.w.Mirror().Messages(j.ctx, id)
	if err != nil {
		return nil, err
	}
	items := plan.ByID(messages)
	return items, quota.Take(slices.Collect(maps.Values(items))...)
}

// raw returns the messages of a session that were published themselves, by id, as far as a quota allows.
func (j *job) raw(id string, quota *plan.Quota) (map[string]record.Item, error) {
	s := j.view().Session(id)
	if s == nil {
		return nil, fmt.Errorf("%w: %s", errPath, id)
	}
	items := map[string]record.Item{}
	for _, run := range s.Runs {
		for it, err := range j.packs.Items(j.ctx, run.Body) {
			if err == nil {
				err = quota.Take(*it)
			}
			if err != nil {
				return nil, err
			}
			if _, known := items[it.ID]; !known && it.ID != "" && it.Path == nil {
				items[it.ID] = *it
			}
		}
	}
	return items, nil
}
