package workspace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/task"
)

// BenchmarkTasks measures the task tracking per stored message, without the storing itself,
// in a line of 10,000 messages in twelve files, all tracked except for the last ten, and
// for comparison the reading of the path.
func BenchmarkTasks(b *testing.B) {
	const perFile, files = 834, 12
	s := openSpace(b, b.TempDir(), 0)
	var all []string
	for f := range files {
		var list []string
		metadata := `"continued_from":[]`
		if f > 0 {
			metadata = fmt.Sprintf(`"continued_from":["s%d"]`, f-1)
			list = append(list, fmt.Sprintf("s%d|%s", f-1, all[len(all)-1]))
		}
		for range perFile {
			id := fmt.Sprintf("5f0f9d3a-7c55-4d0c-9a31-%012d", len(all))
			all, list = append(all, id), append(list, id)
		}
		s.chat(fmt.Sprint("s", f), metadata, strings.Join(list, " "))
	}
	done := all[:len(all)-10]
	for len(done) > 0 {
		n := min(16, len(done))
		r := task.Record{Session: "s0", Messages: done[:n], Status: task.Success}
		if len(done)%5 == 0 {
			r.Tasks = []task.Task{found("x", done[n-1])}
		}
		if _, err := s.RecordTasks(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		done = done[n:]
	}
	s.new("so that there is an index")
	leaf := all[len(all)-1]
	b.Run("pending", func(b *testing.B) {
		for b.Loop() {
			if list, err := s.Line("s0").Pending(b.Context(), leaf); err != nil || list[0].Count != 10 {
				b.Fatal(list, err)
			}
		}
	})
	b.Run("batch", func(b *testing.B) {
		for b.Loop() {
			if batch, err := s.Line("s0").Batch(b.Context(), leaf, wide); err != nil || len(batch.New) != 10 {
				b.Fatal(batch, err)
			}
		}
	})
	b.Run("tracking", func(b *testing.B) {
		for b.Loop() {
			if far := s.tracking("s0"); far != "9998/0/10/0" {
				b.Fatal(far)
			}
		}
	})
	b.Run("show", func(b *testing.B) {
		for b.Loop() {
			if c := s.show("s0"); len(c.Messages) != len(all) || c.Entry.ID != "s0" {
				b.Fatal(len(c.Messages))
			}
		}
	})
}
