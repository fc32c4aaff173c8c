package join

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote/record"
)

// Bounds of what a valid operation has.
const (
	maxName  = 300     // bytes of the name of an entity, and of a field
	maxIndex = 1 << 24 // operations of a record
	maxCount = 1 << 24 // items of a body
	maxBytes = 1 << 40 // of the content of a pack
	maxSeq   = 1 << 40 // records of a stream
)

// valid reports whether op is an operation that this version of bough knows, with all that belongs
// to it, and that a machine may make.
func valid(op record.Op, by record.Machine) bool {
	if !validEntity(op.Entity) || op.Do != record.Remove && !mayWrite(by, op.Entity) {
		return false
	}
	switch op.Do {
	case record.Set:
		return validName(op.Field) && validValue(op.Value) && op.Body == nil
	case record.Add:
		return validName(op.Field) && validElement(op.Value, op.Body)
	case record.Drop:
		return validName(op.Field) && validStamps(op.Stamps)
	case record.Remove:
		return true
	}
	return false
}

// known reports whether this version of bough knows an action.
func known(action string) bool {
	return action == record.Set || action == record.Add || action == record.Drop || action == record.Remove
}

// mayWrite reports whether a machine may do more with an entity than remove it: no machine writes
// of another one.
func mayWrite(m record.Machine, entity string) bool {
	id, ok := strings.CutPrefix(entity, "machine/")
	return !ok || id == string(m)
}

// validEntity reports whether name is that of an entity: KIND or KIND/REST.
func validEntity(name string) bool {
	kind, rest, has := strings.Cut(name, "/")
	return validName(name) && kind != "" && (!has || rest != "")
}

// validName reports whether s is a name, which needs no escape in JSON.
func validName(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029'
	})
}

// validValue reports whether value is JSON, in which the number tokens of Python are allowed.
func validValue(value json.RawMessage) bool {
	return rawjson.Check(value) == nil
}

// validElement reports whether a set can have an element with a value or a body.
func validElement(value json.RawMessage, b *record.Body) bool {
	if b == nil {
		return validValue(value)
	}
	return value == nil && validBody(b)
}

func validBody(b *record.Body) bool {
	if b.Pack == "" {
		for _, item := range b.Items {
			if !validItem(item) {
				return false
			}
		}
		return len(b.Items) > 0 && b.At == 0 && b.Size == 0
	}
	return len(b.Items) == 0 && hexadecimal(b.Pack, 64) && b.At >= 0 && b.At < maxBytes && b.Size > 0 && b.Size < maxBytes &&
		b.Count > 0 && b.Count < maxCount
}

// validItem reports whether an item can be stored and read again.
func validItem(item record.Item) bool {
	_, err := json.Marshal(item)
	return err == nil && (item.Raw == nil || validValue(item.Raw))
}

// storable returns an operation without effect as it can be stored and read again: without a value or
// a body that is not JSON.
func storable(op record.Op) record.Op {
	if len(op.Value) > 0 && !validValue(op.Value) {
		op.Value = nil
	}
	if b := op.Body; b != nil && slices.ContainsFunc(b.Items, func(item record.Item) bool { return !validItem(item) }) {
		op.Body = nil
	}
	if _, err := json.Marshal(op); err != nil {
		op.Value, op.Body = nil, nil
	}
	return op
}

func validStamps(list []record.Stamp) bool {
	for _, s := range list {
		if !hexadecimal(string(s.Machine), 32) || s.Index < 0 || s.Index >= maxIndex {
			return false
		}
	}
	return len(list) > 0
}

// hexadecimal reports whether s is n hexadecimal digits in lower case.
func hexadecimal(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}
