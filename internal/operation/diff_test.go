package operation_test

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/testsize"
)

func stateOf(text string) *operation.State {
	return &operation.State{Size: int64(len(text)), CRC32C: fmt.Sprintf("%08x", crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)))}
}

// versions returns texts of several hundred lines, each made of the one before by a
// few edits, some of them large.
func versions(r *rand.Rand, n int) (list []string) {
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf("    %q,\n", fmt.Sprint("line ", r.IntN(50)))
	}
	for range n {
		for range 1 + r.IntN(3) {
			at := r.IntN(len(lines))
			switch r.IntN(4) {
			case 0:
				lines = slices.Delete(lines, at, min(at+r.IntN(9), len(lines)))
			case 1:
				lines = slices.Insert(lines, at, strings.Repeat("new\n", 1+r.IntN(3)))
			case 2:
				lines[len(lines)-1] = "without a line break " + fmt.Sprint(r.Int())
			default:
				lines[at] = fmt.Sprintf("edited %d\n", r.Int())
			}
		}
		list = append(list, strings.Join(lines, ""))
	}
	return list
}

// TestDiff: the texts of a file before and after each of many operations are
// restored from the differences in the log, which are few bytes; from either end of
// the log, after compaction, and after texts were removed.
func TestDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := versions(r, testsize.Of(70, 120, 120))
	var ops []*operation.Operation
	newest := func(yield func(*operation.Operation) bool) {
		for _, o := range slices.Backward(ops) {
			if !yield(o) {
				return
			}
		}
	}
	var log strings.Builder
	for i := 1; i < len(texts); i++ {
		c := operation.Change{File: "a", Was: stateOf(texts[i-1]), Is: stateOf(texts[i]), Before: texts[i-1], After: texts[i]}
		c.Diff(c.Before, c.After, newest)
		o := &operation.Operation{Seq: operation.Seq(i), Time: fmt.Sprintf("2026-%04d", i), Verb: "set", Changes: []operation.Change{{File: "b"}, c}}
		ops = append(ops, o)
		log.Write(o.Encode())
	}
	log.WriteString("\n")
	if most := len(texts[0]) * len(texts) / 5; log.Len() > most {
		t.Errorf("the log has %d bytes, want at most %d", log.Len(), most)
	}
	check := func(what string, o *operation.Operation, ok bool) {
		t.Helper()
		if c := o.Changes[1]; !ok || c.Before != texts[o.Seq-1] || c.After != texts[o.Seq] {
			t.Fatalf("%s: operation %d is not completed", what, o.Seq)
		}
	}
	same := func(what, text string) {
		t.Helper()
		l := read(t, text)
		var f operation.Filler
		for line, err := range l.From(0) {
			if err != nil {
				t.Fatal(err)
			}
			if len(line.Changes) == 0 || line.Changes[1].Was == nil {
				continue
			}
			full, ok := f.Fill(line.Operation)
			check(what+", forward", full, ok)
			full, ok = operation.Full(l.Operations(), line.Operation)
			check(what+", backward", full, ok)
		}
	}
	same("whole", log.String())

	var compacted strings.Builder
	if err := read(t, log.String()).Compact(&compacted, operation.Horizon{Seq: 41, Before: "2027"}); err != nil {
		t.Fatal(err)
	}
	same("compacted", compacted.String())

	var k operation.Keeper
	var without strings.Builder
	err := read(t, log.String()).Rewrite(&without, true, func(line operation.Line) *operation.Operation {
		full := k.Full(line.Operation)
		if line.Seq%50 > 5 {
			return k.Keep(line.Operation, full, full)
		}
		short := *line.Operation
		short.Changes = nil
		k.Drop(line.Operation)
		return &short
	})
	if err != nil {
		t.Fatal(err)
	}
	same("with gaps", without.String())

	i := slices.IndexFunc(ops, func(o *operation.Operation) bool { return o.Seq > 50 && o.Changes[1].Differs })
	last := *ops[i]
	last.Changes = slices.Clone(last.Changes)
	last.Changes[1].Was = stateOf("other")
	if _, ok := operation.Full(newest, &last); ok {
		t.Error("a change that does not fit is completed")
	}
}

// TestDiffSmall: a small file, and a file that changes almost completely, is logged
// completely.
func TestDiffSmall(t *testing.T) {
	none := func(func(*operation.Operation) bool) {}
	for _, c := range []struct{ before, after string }{
		{"a\n", "b\n"},
		{strings.Repeat("a\n", 2000), strings.Repeat("b\n", 2000)},
	} {
		change := operation.Change{File: "a", Was: stateOf(c.before), Is: stateOf(c.after), Before: c.before, After: c.after}
		change.Diff(c.before, c.after, none)
		if change.Differs || change.Before != c.before || change.After != c.after {
			t.Errorf("of %d bytes only %+v is logged", len(c.before), change.Splices)
		}
	}
}
