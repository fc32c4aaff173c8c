package plan

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/join"
)

// A table has values of sessions, by id: those in rows, and the changes since in memory.
type table[V any] struct {
	rows    join.Rows // nil if there are none
	prefix  string
	changed map[string]*V // nil for one that was dropped
	cache   map[string]V  // all rows, nil if they were not read
}

func newTable[V any](rows join.Rows, name string) table[V] {
	return table[V]{rows: rows, prefix: name + "\x01", changed: map[string]*V{}}
}

func (t *table[V]) get(id string) (value V, ok bool) {
	if v, changed := t.changed[id]; changed {
		if v == nil {
			return value, false
		}
		return *v, true
	}
	if t.cache != nil || t.rows == nil {
		value, ok = t.cache[id]
		return value, ok
	}
	data := t.rows.Get(t.prefix + id)
	return value, data != nil && json.Unmarshal(data, &value) == nil
}

func (t *table[V]) set(id string, value V) { t.changed[id] = &value }

func (t *table[V]) drop(id string) {
	if _, ok := t.get(id); ok {
		t.changed[id] = nil
	}
}

// all yields the values, ascending by id. The table may be changed meanwhile.
func (t *table[V]) all() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		memory := maps.Clone(t.changed)
		ids := slices.Sorted(maps.Keys(memory))
		next := func(end string) bool { // yields those in memory before an id
			for len(ids) > 0 && (end == "" || ids[0] < end) {
				id := ids[0]
				if ids = ids[1:]; memory[id] != nil && !yield(id, *memory[id]) {
					return false
				}
			}
			return true
		}
		if t.rows != nil {
			for key, data := range t.rows.Scan(t.prefix) {
				id := strings.TrimPrefix(key, t.prefix)
				if !next(id) {
					return
				}
				var value V
				if _, changed := memory[id]; !changed && json.Unmarshal(data, &value) == nil && !yield(id, value) {
					return
				}
			}
		}
		next("")
	}
}

// load reads all rows, because many are needed.
func (t *table[V]) load() {
	cache := map[string]V{}
	for id, value := range t.all() {
		cache[id] = value
	}
	t.cache = cache
}

// save calls put for each row that changed.
func (t *table[V]) save(put func(key string, value []byte)) {
	for id, v := range t.changed {
		if v == nil {
			put(t.prefix+id, nil)
			delete(t.cache, id)
			continue
		}
		put(t.prefix+id, valueOf(*v))
		if t.cache != nil {
			t.cache[id] = *v
		}
	}
	t.changed = map[string]*V{}
}
