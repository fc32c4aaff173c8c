package operation_test

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/operation"
)

// read returns the log with the content text.
func read(t *testing.T, text string) *operation.Log {
	t.Helper()
	log, err := operation.NewLog(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// describe formats lines: their numbers, with a mark for settled ones, and the
// offsets of damage.
func describe(t *testing.T, lines iter.Seq2[operation.Line, error]) string {
	t.Helper()
	var list []string
	for line, err := range lines {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			list = append(list, fmt.Sprintf("damage at %d", damage.Offset))
		case err != nil:
			t.Fatal(err)
		case line.Settled:
			list = append(list, fmt.Sprintf("%d.", line.Seq))
		default:
			list = append(list, fmt.Sprint(line.Seq))
		}
	}
	return strings.Join(list, " ")
}

// TestLog: the operations are read from both ends, with any lines between them.
func TestLog(t *testing.T) {
	long := strings.Repeat("long ", 100_000)
	for _, c := range []struct{ text, newest, oldest string }{
		{"", "", ""},
		{`{"seq":1,"verb":"a"}`, "", ""},
		{"{\"seq\":1,\"verb\":\"a\"}\n", "1", "1"},
		{"{\"seq\":0,\"verb\":\"a\"}\n{\"seq\":9223372036854775807,\"verb\":\"a\"}\n{}\n", "damage at 60 damage at 21 damage at 0", "damage at 0 damage at 21 damage at 60"},
		{"{\"seq\":1,\"verb\":\"a\"}\n\n", "1.", "1."},
		{"{\"seq\":1,\"verb\":\"a\"}\n{\"seq\":2,\"verb\":\"a\"}\n{\"seq", "2 1.", "1. 2"},
		{"{\"seq\":1,\"verb\":\"a\"}\n\n{\"seq\":2,\"verb\":\"a\"}\n\n", "2. 1.", "1. 2."},
		{"{\"seq\":1,\"verb\":\"a\"}\n\nnone\n{\"seq\":2,\"verb\":\"a\"}\n", "2 damage at 22 1.", "1. damage at 22 2"},
		{"{\"seq\":1,\"verb\":\"" + long + "\"}\n\n{\"seq\":2,\"verb\":\"" + long + "\"}\n", "2 1.", "1. 2"},
	} {
		log := read(t, c.text)
		if got := describe(t, log.Newest()); got != c.newest {
			t.Errorf("the newest of %.40q are %s, want %s", c.text, got, c.newest)
		}
		if got := describe(t, log.From(0)); got != c.oldest {
			t.Errorf("the oldest of %.40q are %s, want %s", c.text, got, c.oldest)
		}
	}
}

// TestLogMany: every line of a long log is returned, in order, with its offset.
func TestLogMany(t *testing.T) {
	var text strings.Builder
	const n = 3000
	for i := range n {
		o := operation.Operation{Seq: operation.Seq(i + 1), Verb: "x" + strings.Repeat("x", i%97)}
		text.Write(o.Encode())
	}
	log := read(t, text.String())
	want := operation.Seq(n)
	for line, err := range log.Newest() {
		if err != nil || line.Seq != want || !strings.HasPrefix(text.String()[line.At:], fmt.Sprintf(`{"seq":%d,`, want)) {
			t.Fatalf("line %d at %d, %v, want %d", line.Seq, line.At, err, want)
		}
		want--
	}
	if want != 0 {
		t.Errorf("%d lines are missing", want)
	}
}

// TestStack: undo goes back and redo forward, and a newer operation prevents redo.
func TestStack(t *testing.T) {
	for _, c := range []struct {
		done       string // oldest first: a verb of one letter with its session, or u and r with the undone operation
		in         string
		undo, redo operation.Seq
	}{
		{"", "", 0, 0},
		{"a b", "", 2, 0},
		{"a b u2", "", 1, 3},
		{"a b u2 u1", "", 0, 4},
		{"a b u2 u1 r4", "", 1, 3},
		{"a b u2 u1 r4 r3", "", 2, 0},
		{"a b u2 u1 r4 u1", "", 0, 6},
		{"a b u2 a", "", 4, 0},
		{"a b u2 a u4", "", 1, 5},
		{"a x", "", 1, 0},
		{"a u1 x", "", 0, 2},
		{"a b a", "b", 2, 0},
		{"a b a u2", "b", 0, 4},
		{"a b a u2", "a", 3, 0},
	} {
		var ops []*operation.Operation
		for i, word := range strings.Fields(c.done) {
			o := &operation.Operation{Seq: operation.Seq(i + 1), Verb: word, Sessions: []string{word}, Changes: make([]operation.Change, 1)}
			switch word[0] {
			case 'u', 'r':
				o.Verb = map[byte]string{'u': operation.Undo, 'r': operation.Redo}[word[0]]
				fmt.Sscan(word[1:], &o.Undoes)
				o.Sessions = ops[o.Undoes-1].Sessions
			case 'x':
				o.Verb = operation.External
			}
			ops = append(ops, o)
		}
		newest := func(yield func(*operation.Operation) bool) {
			for _, o := range slices.Backward(ops) {
				if !yield(o) {
					return
				}
			}
		}
		seq := func(o *operation.Operation) operation.Seq {
			if o == nil {
				return 0
			}
			return o.Seq
		}
		undo, _ := operation.Undoable(newest, c.in, func(*operation.Operation) bool { return false })
		redo, _ := operation.Redoable(newest, c.in)
		if seq(undo) != c.undo || seq(redo) != c.redo {
			t.Errorf("after %q in %q undo selects %d and redo %d, want %d and %d", c.done, c.in, seq(undo), seq(redo), c.undo, c.redo)
		}
	}
}

// TestOpen: a missing log has no lines, and a log that is not a regular file is an
// error.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	log, err := operation.Open(root)
	if err != nil || describe(t, log.Newest()) != "" || describe(t, log.From(0)) != "" || log.Size() != 0 {
		t.Errorf("without a log: %v", err)
	}
	log.Close()
	name := filepath.Join(dir, filepath.FromSlash(operation.Path))
	if err := os.MkdirAll(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := operation.Open(root); err == nil {
		t.Error("a folder is opened as a log")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("{\"seq\":1,\"verb\":\"a\"}\n{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if log, err = operation.Open(root); err != nil || describe(t, log.Newest()) != "1" || log.Size() != 21 {
		t.Errorf("Open = %v", err)
	}
	log.Close()
}

// TestUnsettled: the lines of one group after the last empty line may be unsettled;
// without a group only the last line is.
func TestUnsettled(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"1\n", "1"},
		{"1\n2\n", "2"},
		{"1\n2\n\n", ""},
		{"1g1\n2g1\n\n3g1\n4g1\n", "3 4"},
		{"1\n2g2\n3g2\n", "2 3"},
		{"1g1\n2g2\n3g2\n", "2 3"},
		{"1g1\n2g2\n3\n", "3"},
		{"1g1\nnone\n2g1\n", "1 2"},
		{"1g1\n2g1\nnone\n", "1 2"},
		{"1g1\n2g1\n{\"seq", "1 2"},
	} {
		var text strings.Builder
		for line := range strings.Lines(c.text) {
			var seq, group operation.Seq
			if _, err := fmt.Sscanf(line, "%dg%d\n", &seq, &group); seq == 0 {
				text.WriteString(line)
				continue
			} else if err != nil {
				group = 0
			}
			o := operation.Operation{Seq: seq, Verb: "a", Group: group}
			text.Write(o.Encode())
		}
		log := read(t, text.String())
		var list []string
		for _, line := range log.Unsettled() {
			list = append(list, fmt.Sprint(line.Seq))
			if line.Settled || text.String()[line.At:line.End()] != string(line.Raw)+"\n" {
				t.Errorf("%q: %+v", c.text, line)
			}
		}
		if got := strings.Join(list, " "); got != c.want {
			t.Errorf("of %q %s is unsettled, want %s", c.text, got, c.want)
		}
		for _, lines := range []iter.Seq2[operation.Line, error]{log.Newest(), log.From(0)} {
			for line, err := range lines {
				if err == nil && line.Settled == slices.Contains(list, fmt.Sprint(line.Seq)) {
					t.Errorf("%q: line %d is settled: %v", c.text, line.Seq, line.Settled)
				}
			}
		}
	}
}

// TestGroups: undo and redo select all operations of a group, newest first, and
// continue an interrupted one.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		done       string // seq, verb, group and the undone operation, oldest first
		in         string
		undo, redo []operation.Seq
		goesOn     operation.Seq
	}{
		{"a b1 c1", "", []operation.Seq{3, 2}, nil, 0},
		{"a2 b2 c", "", []operation.Seq{3}, nil, 0},
		{"a1 b1 c d1", "", []operation.Seq{4, 2, 1}, nil, 0},
		{"a1 b1 c d1", "b", []operation.Seq{2}, nil, 0},
		{"a1 b1 c d1 u5=4", "", []operation.Seq{2, 1}, []operation.Seq{5}, 5},              // the undo was interrupted
		{"a1 b1 c d1 u5=4 u5=2 u5=1", "", []operation.Seq{3}, []operation.Seq{7, 6, 5}, 0}, // and then completed
		{"a1 b1 c d1 u=4", "", []operation.Seq{3}, []operation.Seq{5}, 0},                  // a single undo
		{"a1 b1 u3=2 u3=1 r5=4", "", []operation.Seq{1}, []operation.Seq{3}, 0},            // the redo was interrupted
		{"a1 b1 u3=2 u3=1 r5=4 r5=3", "", []operation.Seq{2, 1}, nil, 0},
		{"a1 b1 u3=2 u3=1", "b", nil, []operation.Seq{3}, 0},
		{"a1 b1 u3=2 u3=1 x", "", []operation.Seq{5}, nil, 0},
	} {
		var ops []*operation.Operation
		for i, word := range strings.Fields(c.done) {
			o := &operation.Operation{Seq: operation.Seq(i + 1), Verb: word[:1], Sessions: []string{word[:1]}, Changes: make([]operation.Change, 1), Args: map[string]any{}}
			group, undoes, _ := strings.Cut(word[1:], "=")
			fmt.Sscan(group, &o.Group)
			if fmt.Sscan(undoes, &o.Undoes); o.Undoes != 0 {
				of := ops[o.Undoes-1]
				o.Verb, o.Sessions = map[string]string{"u": operation.Undo, "r": operation.Redo}[o.Verb], of.Sessions
				if o.Group != 0 {
					o.Args[operation.GroupArg] = float64(of.Group)
				}
			}
			ops = append(ops, o)
		}
		newest := func(yield func(*operation.Operation) bool) {
			for _, o := range slices.Backward(ops) {
				if !yield(o) {
					return
				}
			}
		}
		seqs := func(targets []operation.Target) (list []operation.Seq) {
			for _, target := range targets {
				list = append(list, target.Seq)
			}
			return list
		}
		undo, goesOn := operation.Undoables(newest, c.in, func(*operation.Operation) bool { return false })
		redo, _ := operation.Redoables(newest, c.in)
		if !slices.Equal(seqs(undo), c.undo) || !slices.Equal(seqs(redo), c.redo) || goesOn != c.goesOn {
			t.Errorf("after %q undo selects %d (%d) and redo %d, want %d (%d) and %d", c.done, seqs(undo), goesOn, seqs(redo), c.undo, c.goesOn, c.redo)
		}
	}
}

// TestChecksum: a line with a wrong checksum is damage, and a line of an earlier
// version, which has none, is an operation.
func TestChecksum(t *testing.T) {
	o := operation.Operation{Seq: 1, Verb: "append", Args: map[string]any{"role": "user"}}
	line := string(o.Encode())
	if !strings.HasSuffix(line, "\"}\n") || !strings.Contains(line, `,"crc32c":"`) {
		t.Fatalf("the line is %q", line)
	}
	old := `{"seq":1,"verb":"append","args":{"role":"user"},"changes":[{"file":"a","was":null,"is":{"size":1,"crc32c":"00000000"}}]}` + "\n"
	for _, c := range []struct{ text, want string }{
		{line, "1"},
		{strings.Replace(line, "\n", "\r\n", 1), "1"},
		{strings.Replace(line, "user", "tool", 1), "damage at 0"},
		{old, "1"},
		{strings.Replace(old, "user", "tool", 1), "1"},
	} {
		if got := describe(t, read(t, c.text).Newest()); got != c.want {
			t.Errorf("%q is read as %s, want %s", c.text, got, c.want)
		}
	}
}

// TestBroken: a log that lost its line breaks or is garbage is broken, and one with
// an incomplete last line is not.
func TestBroken(t *testing.T) {
	one, two := string((&operation.Operation{Seq: 1, Verb: "a"}).Encode()), string((&operation.Operation{Seq: 2, Verb: strings.Repeat("a", 100_000)}).Encode())
	flat := strings.ReplaceAll(one+two, "\n", "")
	for _, c := range []struct {
		name, text string
		damage     string // its offset, "" for none
		last       operation.Seq
	}{
		{"empty", "", "", 0},
		{"whole", one + two, "", 0},
		{"whole and settled", one + "\n", "", 0},
		{"a torn line", one + two[:len(two)-9], "", 0},
		{"a few bytes", one + `{"s`, "", 0},
		{"zeros", one + "\x00\x00\x00", "", 0},
		{"a line that ends in zeros", one + two[:60] + "\x00\x00", "", 0},
		{"a damaged line", "none\n" + one, "", 0},
		{"no line breaks", flat, "0", 2},
		{"no line breaks after the first", one + flat, fmt.Sprint(len(one)), 2},
		{"line breaks of old computers", one + strings.ReplaceAll(one+two, "\n", "\r"), fmt.Sprint(len(one)), 2},
		{"garbage after a line", one + "garbage", fmt.Sprint(len(one)), 0},
		{"garbage", strings.Repeat("\xff\x00", 1000), "0", 0},
		{"lines of garbage", "none\nnone\n", "0", 0},
	} {
		damage, last, err := read(t, c.text).Broken()
		got := ""
		if damage != nil {
			got = fmt.Sprint(damage.Offset)
		}
		if err != nil || got != c.damage || last != c.last {
			t.Errorf("%s: damage at %q, last %d, %v, want %q and %d", c.name, got, last, err, c.damage, c.last)
		}
	}
}

// TestRewrite: a rewritten log has the lines that edit returns, each as settled as
// before.
func TestRewrite(t *testing.T) {
	line := func(n operation.Seq) string { return string((&operation.Operation{Seq: n, Verb: "a"}).Encode()) }
	text := line(1) + "\n" + "none\n" + line(2) + line(3) + "\n" + line(4)
	var b strings.Builder
	err := read(t, text).Rewrite(&b, false, func(l operation.Line) *operation.Operation {
		switch l.Seq {
		case 2:
			return nil
		case 3:
			return &operation.Operation{Seq: 3, Verb: "b"}
		}
		return l.Operation
	})
	if got := describe(t, read(t, b.String()).From(0)); err != nil || got != "1. 3. 4" || !strings.Contains(b.String(), `"verb":"b"`) {
		t.Errorf("the log is %s, %v: %s", got, err, b.String())
	}
	var damage *operation.DamageError
	keep := func(l operation.Line) *operation.Operation { return l.Operation }
	if err := read(t, text).Rewrite(&b, true, keep); !errors.As(err, &damage) {
		t.Errorf("a damaged line is dropped without a report: %v", err)
	}
}
