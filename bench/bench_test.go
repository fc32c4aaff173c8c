package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testchat"
)

var small = size{
	messages: 60, perFile: 25, text: 100, branch: 30,
	sessions: 50, adds: 3,
	growFrom: 40, growBy: 10,
	transcripts: 3, turns: 2,
}

// TestRun runs every job with every candidate, each of which verifies its result.
func TestRun(t *testing.T) {
	w, err := newWork(t.TempDir(), small)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{work: w, rounds: 2, log: t.Output(), times: times{}}
	for _, c := range candidates {
		if c.need != nil {
			if err := c.need(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		r.candidates = append(r.candidates, c)
	}
	if err := r.run(t.Context(), map[string]bool{"chat": true, "index": true, "fifty": true}); err != nil {
		t.Fatal(err)
	}
	chats := []job{first, again, later, branch, load}
	for key, want := range map[string][]job{
		"raw": jobs, "bough": jobs, "process": chats, "git": chats, "git-lax": chats, "git-one": chats,
		"sqlite": jobs, "sqlite-wal": chats, "bbolt": {add},
	} {
		if got := slices.Sorted(maps.Keys(r.times[key])); !slices.Equal(got, want) {
			t.Errorf("%s ran the jobs %v, want %v", key, got, want)
		}
		for j, list := range r.times[key] {
			n := r.rounds
			if j == add {
				n *= small.adds
			}
			if len(list) != n {
				t.Errorf("%s was measured %d times at %s, want %d", key, len(list), jobNames[j], n)
			}
		}
	}
	if len(r.footprints) != 8 {
		t.Errorf("the growing checkpoints have %v, want eight sizes", r.footprints)
	}
	for _, f := range r.footprints {
		if f.bytes <= 0 || f.each <= 0 {
			t.Errorf("%s: %d bytes, %v each", f.how, f.bytes, f.each)
		}
	}
}

// TestVerify: a candidate with a wrong result ends the run.
func TestVerify(t *testing.T) {
	wrong := errors.New("wrong")
	for _, c := range []struct {
		name        string
		did, closed error
	}{
		{"at a job", wrong, nil},
		{"at the end", nil, wrong},
	} {
		w, err := newWork(t.TempDir(), small)
		if err != nil {
			t.Fatal(err)
		}
		index := func(context.Context, *work, string) (*running, error) {
			return &running{
				tasks: map[job]task{add: {
					do:     func() error { return nil },
					verify: func() error { return c.did },
				}},
				close: func() error { return c.closed },
			}, nil
		}
		r := &runner{work: w, rounds: 1, log: t.Output(), times: times{}, candidates: []candidate{{key: "raw", index: index}}}
		if err := r.run(t.Context(), map[string]bool{"index": true}); !errors.Is(err, wrong) {
			t.Errorf("wrong %s: %v", c.name, err)
		}
	}
}

// TestMissingCandidate: a candidate that is not installed is named once, the others run, and the run
// leaves no files.
func TestMissingCandidate(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	var out, talk bytes.Buffer
	if err := run(t.Context(), []string{"-rounds", "1", "-only", "git,bbolt,index", "-dir", dir}, small, &out, &talk); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out.Bytes(), []byte("\n| bbolt | ")) || bytes.Contains(out.Bytes(), []byte("| git")) {
		t.Errorf("printed %s", out.Bytes())
	}
	if n := bytes.Count(talk.Bytes(), []byte("git, the chat's files is omitted: ")); n != 1 {
		t.Errorf("said %s", talk.Bytes())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSame: a candidate that loses or changes a message fails.
func TestSame(t *testing.T) {
	want := []testchat.Message{{ID: "a", Raw: []byte(`{"id":"a"}`)}, {ID: "b", Raw: []byte(`{"id":"b"}`)}}
	for _, c := range []struct {
		name, document string
		same           bool
	}{
		{"the same", `{"messages":[{"id":"a"}, {"id":"b"}]}`, true},
		{"one is missing", `{"messages":[{"id":"a"}]}`, false},
		{"one too many", `{"messages":[{"id":"a"},{"id":"b"},{"id":"b"}]}`, false},
		{"another order", `{"messages":[{"id":"b"},{"id":"a"}]}`, false},
		{"other bytes", `{"messages":[{"id":"a"},{"id": "b"}]}`, false},
		{"torn", `{"messages":[{"id":"a"},{"id":"b"}`, false},
	} {
		if err := sameDocument([]byte(c.document), want); (err == nil) != c.same {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := sameRows([]testchat.Message{want[0], {ID: "c", Raw: want[1].Raw}}, want); err == nil {
		t.Error("another id passes")
	}
}

// TestChat: a chat that was truncated or extended equals the messages of its files.
func TestChat(t *testing.T) {
	w, err := newWork(t.TempDir(), small)
	if err != nil {
		t.Fatal(err)
	}
	whole := w.single.messages()
	for _, c := range []struct {
		name     string
		chat     chat
		messages int
	}{
		{"whole", w.single, 60},
		{"cut", w.single.cut(30), 30},
		{"grown", w.single.grown(), 61},
	} {
		got := c.chat.messages()
		if len(got) != c.messages || !bytes.Equal(got[29].Raw, whole[29].Raw) {
			t.Errorf("%s: %d messages, want the first %d", c.name, len(got), c.messages)
		}
		if err := sameDocument(c.chat.tail().Data, got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, n := range []int{25, 26} { // the last of a file, the first of the next
		if files, messages := len(w.chained.cut(n)), len(w.chained.cut(n).messages()); files != (n+24)/25 || messages != n {
			t.Errorf("cut at %d: %d files with %d messages", n, files, messages)
		}
	}
}

// TestTables: a ratio is the median of the ratios of the rounds.
func TestTables(t *testing.T) {
	ms := func(list ...time.Duration) []time.Duration {
		for i := range list {
			list[i] *= time.Millisecond
		}
		return list
	}
	r := &runner{
		candidates: []candidate{{key: "raw", name: "raw limit"}, {key: "bough", name: "bough"}, {key: "git", name: "git", peer: "bough"}},
		times: times{
			"raw":   {first: ms(10, 20, 40), load: ms(1, 1, 1)},
			"bough": {first: ms(11, 22, 80), load: ms(100, 100, 100)},
			"git":   {first: ms(110, 110, 800)},
		},
		footprints: []footprint{{"git, loose", 12_340_000, 5 * time.Millisecond}},
	}
	var out bytes.Buffer
	r.tables(&out)
	const want = `Times the raw limit:

| | checkpoint, never seen before | load |
|---|---:|---:|
| raw limit, ms | 20.0 | 1.00 |
| least and most, ms | 10.0, 40.0 | 1.00, 1.00 |
| bough | 1.10 | 100 |
| git | 11.0 | – |

Times bough, a library against the library and a process against the process:

| | checkpoint, never seen before | load |
|---|---:|---:|
| git | 10.0 | – |

Fifty checkpoints of one chat on disk, and the mean time of one:

| | MB | ms |
|---|---:|---:|
| git, loose | 12.3 | 5.00 |
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
