package claude

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
)

// readClaudeText returns the messages of a transcript by their ids, and the last one.
func readClaudeText(t *testing.T, in string) (all map[string]*transcript.Message, last string, conv *transcript.Conversation) {
	list, _, _ := sink.ReadAll("claude-code", Read, strings.NewReader(in))
	all = map[string]*transcript.Message{}
	for _, tr := range list {
		conv = &tr.Conversation
		for _, msg := range tr.Messages {
			if all[msg.ID] != nil {
				t.Fatalf("two messages have the id %s in\n%s", msg.ID, in)
			}
			all[msg.ID], last = msg, msg.ID
		}
	}
	return all, last, conv
}

func sayings(m *transcript.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		fmt.Fprintf(&b, "%s %s %s|", p.Type, p.Text, p.Meta)
	}
	return fmt.Sprintf("%s %s %s", m.Role, m.Kind, b.String())
}

// TestClaudeGrows: every message of a prefix of a transcript is the same in the whole,
// except for the last one if that is open. Only a parent that is named before its record
// may become known later.
func TestClaudeGrows(t *testing.T) {
	for seed := range testsize.Of[uint64](1, 7, 50) {
		s := rand.New(rand.NewPCG(seed, 1))
		in := string(testtranscript.ClaudeCode(s))
		whole, _, conv := readClaudeText(t, in)
		cuts := []int{}
		for i := range in {
			if in[i] == '\n' || s.IntN(30) == 0 || in[i] == '}' && s.IntN(5) == 0 {
				cuts = append(cuts, i, i+1)
			}
		}
		for _, cut := range cuts {
			part, last, early := readClaudeText(t, in[:cut])
			for id, m := range part {
				now := whole[id]
				switch {
				case now != nil && now.Joined == m.Joined && sayings(now) == sayings(m) && now.Parent == m.Parent:
				case id == last && m.Open:
				case now != nil && now.Joined == m.Joined && sayings(now) == sayings(m) && late(conv, early, id, part):
				default:
					t.Fatalf("seed %d: cut at %d, %s (the last is %s, open %v) was\n%s < %s joined %s\nand is\n%+v\nin\n%s", seed, cut, id, last, m.Open, sayings(m), m.Parent, m.Joined, now, in[:cut])
				}
			}
		}
	}
}

// late reports whether the parent of a message became known only after the prefix of a
// transcript.
func late(whole, part *transcript.Conversation, id string, all map[string]*transcript.Message) bool {
	now, ok := whole.Parents[id]
	before, known := part.Parents[id]
	return ok && (!known || before != now) && (all[all[id].Parent] == nil || before != now)
}
