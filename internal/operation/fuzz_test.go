package operation_test

import (
	"bytes"
	"errors"
	"iter"
	"reflect"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/operation"
)

// FuzzLog: any log is read the same from both ends; an operation that is appended
// is the newest one; and the operations that undo selects are in the log.
func FuzzLog(f *testing.F) {
	o := operation.Operation{
		Seq: 7, Time: "2026-05-25T15:32:04.000000+00:00", Verb: "append",
		Args:     map[string]any{"role": "user", "n": 1.5},
		Sessions: []string{"a", "b"},
		Undoes:   3,
		Changes: []operation.Change{
			{File: "conversations/a.json", Is: &operation.State{Size: 3, CRC32C: "00000000", MTime: "12"}},
			{File: "conversations/b.json", Was: &operation.State{Size: 3}, Moved: ".bough/trash/x/b.json", Link: true},
			{File: "c", Splices: []operation.Splice{{At: 1, Old: "\u2028\"\\ud83d", New: 2}}, Before: "b", After: "a"},
		},
	}
	line := o.Encode()
	for _, seed := range [][]byte{
		nil, line, []byte("\n"), bytes.Repeat(line, 3), line[:len(line)-2], append(slices.Clone(line), "\n{\"seq\":8,\"verb\":\"a\"}\n\n"...),
		[]byte("{\"seq\":null}\n[]\n{}\n"), []byte("{\"seq\":1,\"verb\":\"a\",\"undoes\":1,\"changes\":[{}]}\n"), []byte("\x00\x00\n{\"seq\":2,\"verb\":\"b\"}\n\xff"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		log := read(t, string(data))
		newest, oldest := all(t, log.Newest()), all(t, log.From(0))
		slices.Reverse(newest)
		if !reflect.DeepEqual(newest, oldest) {
			t.Fatalf("%d lines from the end, %+v, and %d from the beginning, %+v", len(newest), newest, len(oldest), oldest)
		}
		whole := data[:bytes.LastIndexByte(data, '\n')+1]
		more := all(t, read(t, string(whole)+string(line)).Newest())
		if len(more) != len(oldest)+1 || !reflect.DeepEqual(more[0].Operation, &o) || more[0].At != int64(len(whole)) {
			t.Fatalf("a line that was added is read as %+v", more[0])
		}
		ops := func(yield func(*operation.Operation) bool) {
			for _, line := range slices.Backward(oldest) {
				if line.Operation != nil && !yield(line.Operation) {
					return
				}
			}
		}
		for _, session := range []string{"", "a"} {
			target, as := operation.Undoable(ops, session, func(*operation.Operation) bool { return false })
			if target != nil && (target.Undoes != 0 || as == nil || len(as.Changes) == 0) {
				t.Errorf("undo selects %+v by %+v", target, as)
			}
			if undo, newer := operation.Redoable(ops, session); undo != nil && (undo.Verb != operation.Undo || newer != nil) {
				t.Errorf("redo selects %+v", undo)
			}
		}
	})
}

// all returns the lines, damaged ones without an operation.
func all(t *testing.T, lines iter.Seq2[operation.Line, error]) (list []operation.Line) {
	t.Helper()
	for line, err := range lines {
		var damage *operation.DamageError
		if errors.As(err, &damage) {
			line = operation.Line{At: damage.Offset}
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, line)
	}
	return list
}
