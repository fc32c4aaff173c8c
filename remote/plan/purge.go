package plan

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bough-dev/bough/remote/record"
)

// Purge returns the operations that take a session out of the store, as far as any machine can: its
// registers and bookmarks. Its messages, and what logs say of it, are dropped by the machines that added
// them.
func (v *View) Purge(id string) []Op {
	entity := sessionPrefix + id
	ops := []Op{set(entity, purged, json.RawMessage("true")), set(entity, "shell", json.RawMessage("{}")), set(entity, "title", json.RawMessage(`""`))}
	for _, b := range v.Bookmarks {
		if b.Session == id {
			ops = append(ops, drop(bookmarksEntity, "all", b.Stamps))
		}
	}
	return ops
}

// IsPurge reports whether an operation purges a session.
func IsPurge(op record.Op) bool { return op.Do == record.Set && op.Field == purged }

// PurgedAt returns the stamp of the purge of a session, and whether there is one.
func (v *View) PurgedAt(id string) (record.Stamp, bool) {
	if !v.IsPurged(id) {
		return record.Stamp{}, false
	}
	return v.state.Entity(sessionPrefix + id).Registers[purged].Stamp, true
}

// DropLog returns the operations that take sessions out of the log of a machine: an operation on them
// alone is dropped, and one on others too is added again without arguments, which may have titles.
func (v *View) DropLog(m record.Machine, sessions map[string]bool) (ops []Op) {
	entity := machinePrefix + string(m)
	var stamps []record.Stamp
	for _, el := range v.state.LogOf(m) {
		named := gjson.GetBytes(el.Value, "sessions").Array()
		others := slices.DeleteFunc(slices.Clone(named), func(id gjson.Result) bool { return sessions[id.Str] })
		if len(others) == len(named) {
			continue
		}
		stamps = append(stamps, el.Stamp)
		if len(others) == 0 {
			continue
		}
		ids := make([]string, len(others))
		for i, id := range others {
			ids[i] = id.Str
		}
		line, err := sjson.SetRawBytes(slices.Clone(el.Value), "args", []byte("{}"))
		if err == nil {
			line, err = sjson.SetRawBytes(line, "sessions", valueOf(ids))
		}
		if err == nil {
			ops = append(ops, add(entity, "log", line))
		}
	}
	if len(stamps) > 0 {
		ops = append(ops, drop(entity, "log", stamps))
	}
	return ops
}
