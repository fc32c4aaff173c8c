package workspace_test

import (
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
)

// BenchmarkChat measures a turn (a prompt and the answer of an instant model) as a ratio to
// two appends of the same texts, x-append, in lines of 1,000 messages and more.
func BenchmarkChat(b *testing.B) {
	s := openSpace(b, b.TempDir(), 0)
	s.agent("ada")
	o := with(nil, map[string]model.Model{"m": &script{}})
	plain := s.new("Plain")
	for range 1000 {
		for _, id := range []string{plain, s.head("ada").Tree} {
			s.append(workspace.Append{Session: id, Text: "a message of some words, as people write them"})
		}
	}
	h := s.head("ada")
	if _, err := s.Agent("ada").Switch(b.Context(), h.Tree, checkpoint.CutOptions{}); err != nil {
		b.Fatal(err)
	}
	chat, raw := b.Elapsed(), b.Elapsed()
	for b.Loop() {
		at := b.Elapsed()
		s.tell("ada", "what now?", o)
		mid := b.Elapsed()
		s.append(workspace.Append{Session: plain, Text: "what now?"})
		s.append(workspace.Append{Session: plain, Text: "answer 1"})
		chat, raw = chat+mid-at, raw+b.Elapsed()-mid
	}
	b.ReportMetric(float64(chat)/float64(raw), "x-append")
}
