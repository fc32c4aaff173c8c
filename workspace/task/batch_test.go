package task_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/task"
)

// path parses a path: "-" is a message that is not pending, "o" a pending one, and "<"
// means that the message before it has more than one child.
func path(s string) (list []task.Message) {
	for _, c := range s {
		switch c {
		case '<':
			list[len(list)-1].Fork = true
		default:
			list = append(list, task.Message{Open: c == 'o'})
		}
	}
	return list
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		path       string
		most       int
		before     int
		new, shown string
	}{
		{"", 4, 3, "", ""},
		{"---", 4, 3, "", ""},
		{"o", 4, 3, "0", "0"},
		{"oo", 4, 3, "0 1", "0 1"},
		{"-----oo", 4, 3, "5 6", "2 3 4 | 5 6"},
		{"-----oo", 4, 0, "5 6", "5 6"},
		{"--oo", 4, 3, "2 3", "0 1 | 2 3"},
		{"oooooo", 4, 3, "0 1 2 3", "0 1 2 3"},
		{"o-oo--", 4, 3, "0 2 3", "0 1 2 3"},
		{"o-----o", 4, 2, "0 6", "0 4 5 6"},
		{"-o-----o", 4, 2, "1 7", "0 | 1 5 6 7"},
		{"oo<oo", 4, 3, "0 1", "0 1"},
		{"o-<oo", 4, 3, "0", "0"},
		{"--<oo", 4, 3, "2 3", "0 1 | 2 3"},
		{"o<o<o", 4, 3, "0", "0"},
		{"-<-<oo", 1, 1, "2", "1 | 2"},
	} {
		b := task.Next(path(c.path), task.Sizes{Max: c.most, Before: c.before})
		before, rest := b.Context()
		shown := numbers(rest)
		if len(before) > 0 {
			shown = numbers(before) + " | " + shown
		}
		if numbers(b.New) != c.new || shown != c.shown {
			t.Errorf("the next of %q, at most %d, are %q with %q, want %q with %q", c.path, c.most, numbers(b.New), shown, c.new, c.shown)
		}
	}
}

func numbers(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }

// FuzzNext: successive batches cover a path once, in order.
func FuzzNext(f *testing.F) {
	f.Add("oo<-o", uint8(3), uint8(2))
	f.Add("-o-----o<<oooooooooo", uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, s string, most, before uint8) {
		if strings.HasPrefix(s, "<") {
			return
		}
		messages := path(s)
		sizes := task.Sizes{Max: int(most) + 1, Before: int(before)}
		var want, got []int
		for i, m := range messages {
			if m.Open {
				want = append(want, i)
			}
		}
		for {
			b := task.Next(messages, sizes)
			if len(b.New) == 0 {
				break
			}
			if len(b.New) > sizes.Max {
				t.Fatalf("%d are new, of at most %d", len(b.New), sizes.Max)
			}
			if !slices.IsSorted(b.Shown) || len(slices.Compact(slices.Clone(b.Shown))) != len(b.Shown) {
				t.Fatalf("the shown messages are %v", b.Shown)
			}
			if len(b.Shown) > len(b.New)*(sizes.Before+1) {
				t.Fatalf("%d are shown with %d new ones", len(b.Shown), len(b.New))
			}
			for _, i := range b.New {
				if !slices.Contains(b.Shown, i) {
					t.Fatalf("%d is new and not shown", i)
				}
				messages[i].Open = false
			}
			for i := b.New[0]; i < b.New[len(b.New)-1]; i++ {
				if messages[i].Fork {
					t.Fatalf("the batch %v crosses the fork at %d", b.New, i)
				}
			}
			before, rest := b.Context()
			if rest[0] != b.New[0] || !slices.Equal(slices.Concat(before, rest), b.Shown) {
				t.Fatalf("%v is split into %v and %v", b.Shown, before, rest)
			}
			got = append(got, b.New...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v are covered, want %v", got, want)
		}
	})
}

// FuzzDecode: a decoded record encodes to an equal one.
func FuzzDecode(f *testing.F) {
	one := task.Record{Time: at(1), Session: "s", Messages: []string{"m1"}, Status: task.Success, Tasks: []task.Task{a("t1", "m1", 1)}}
	f.Add(one.Encode())
	f.Add([]byte(`{"time":"2026-03-14 09:30","session_id":"s","message_ids":["\ud800"],"status":"failed"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := task.Decode(line)
		if err != nil {
			return
		}
		once := r.Encode()
		again, err := task.Decode(once)
		if err != nil {
			t.Fatalf("%s is written as %s: %v", line, once, err)
		}
		if twice := again.Encode(); string(twice) != string(once) {
			t.Fatalf("%s encodes to %s, and that to %s", line, once, twice)
		}
	})
}
