package mirrorer

import (
	"bytes"
	"context"
	"fmt"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// The members of an exploration, and of a branch of it, that are valid only on the machine that runs
// it: folders, and variables of its environment, which may be secret. Another machine must not get
// them. The command travels: an exploration that has ended does not run it, and otherwise it runs
// only after an approval of all its values.
var (
	localRun    = [...]local{{"runner.dir", `""`}, {"runner.bindings", "null"}, {"state", `""`}}
	localBranch = [...]local{{"folder", `""`}, {"state", `""`}}
)

// A local is such a member, and its value on other machines.
type local struct{ path, none string }

// explorationsOf returns the explorations that have ended.
func explorationsOf(v *store.View) (list []mirror.File, err error) {
	ids, err := v.Store.Explorations(v.Ctx)
	for _, id := range ids {
		data, err := store.ReadRegular(v.Root, explorationFile(id))
		if err != nil {
			return nil, err
		}
		if told, ok := neutralExploration(data); ok && hasEnded(told) {
			list = append(list, mirror.File{ID: id, Data: told})
		}
	}
	return list, err
}

func explorationFile(id string) string { return store.ExplorationsDir + "/" + id + ".json" }

// neutralExploration returns the file of an exploration on one line, without the members that are valid only
// here. ok is false if it is not an object.
func neutralExploration(data []byte) (neutral []byte, ok bool) {
	if data == nil || rawjson.Check(data) != nil || !gjson.ParseBytes(data).IsObject() {
		return nil, false
	}
	neutral = rawjson.Dense(data)
	err := eachLocal(neutral, func(path, none string) (err error) {
		neutral, err = sjson.SetRawBytes(neutral, path, []byte(none))
		return err
	})
	return neutral, err == nil
}

// eachLocal calls f with the path of each member in an exploration that is valid only on one
// machine, and with its value where it is not valid.
func eachLocal(data []byte, f func(path, none string) error) error {
	for _, l := range localRun {
		if gjson.GetBytes(data, l.path).Exists() {
			if err := f(l.path, l.none); err != nil {
				return err
			}
		}
	}
	for i, branch := range gjson.GetBytes(data, "branches").Array() {
		for _, l := range localBranch {
			if branch.Get(l.path).Exists() {
				if err := f(fmt.Sprintf("branches.%d.%s", i, l.path), l.none); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hasEnded reports whether no branch of an exploration waits or runs.
func hasEnded(data []byte) bool {
	for _, status := range gjson.GetBytes(data, "branches.#.status").Array() {
		if status.Str == "pending" || status.Str == "executing" {
			return false
		}
	}
	return len(gjson.GetBytes(data, "active_ids").Array()) == 0
}

// takeExplorations writes the files of explorations that differ. That is not logged.
func (a *applying) takeExplorations(ctx context.Context, w *store.Store) error {
	for _, f := range a.changes.Explorations {
		left, err := store.Update(ctx, w, operation.Operation{Verb: operation.Pull}, func(tx *store.Tx) ([]mirror.Left, error) {
			return takeExploration(tx, f)
		})
		if err != nil {
			return err
		}
		a.done.Left = append(a.done.Left, left...)
	}
	return nil
}

func takeExploration(tx *store.Tx, f mirror.File) ([]mirror.Left, error) {
	if !sessionid.IsUUID(f.ID) {
		return leave(f.ID, "invalid exploration id")
	}
	neutral, ok := neutralExploration(f.Data)
	switch {
	case !ok:
		return leave(f.ID, "its file is malformed")
	case !bytes.Equal(neutral, rawjson.Dense(f.Data)):
		return leave(f.ID, "it has a folder or variables of another machine")
	case !hasEnded(neutral):
		return leave(f.ID, "it has not ended")
	case writelock.Held(tx.View.Root, store.ExplorationLocks+"/"+f.ID):
		return leave(f.ID, "busy")
	}
	was, err := store.ReadRegular(tx.View.Root, explorationFile(f.ID))
	if err != nil {
		return nil, err
	}
	if here, ok := neutralExploration(was); ok && bytes.Equal(here, neutral) {
		return nil, nil
	}
	is, err := withLocal(neutral, was)
	if err != nil {
		return leave(f.ID, err.Error())
	}
	if err := durable.MakeDir(tx.View.Root, store.ExplorationsDir); err != nil {
		return nil, err
	}
	_, err = tx.Batch.Replace(explorationFile(f.ID), durable.Bytes(append(rawjson.Layout(is, 0), '\n')))
	return nil, err
}

// withLocal returns an exploration with the members that are valid only here from was, the file that is here, nil
// if there is none.
func withLocal(neutral, was []byte) ([]byte, error) {
	is := neutral
	if was == nil || rawjson.Check(was) != nil {
		return is, nil
	}
	set := func(path string, value gjson.Result) (err error) {
		if value.Exists() {
			is, err = sjson.SetRawBytes(is, path, []byte(value.Raw))
		}
		return err
	}
	for _, l := range localRun {
		if err := set(l.path, gjson.GetBytes(was, l.path)); err != nil {
			return nil, err
		}
	}
	here := map[string]gjson.Result{}
	for _, branch := range gjson.GetBytes(was, "branches").Array() {
		here[branch.Get("branch_id").Str] = branch
	}
	for i, branch := range gjson.GetBytes(neutral, "branches").Array() {
		for _, l := range localBranch {
			if err := set(fmt.Sprintf("branches.%d.%s", i, l.path), here[branch.Get("branch_id").Str].Get(l.path)); err != nil {
				return nil, err
			}
		}
	}
	return is, nil
}
