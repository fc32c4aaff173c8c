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

// A text is a conversation of a transcript with its messages by their ids.
type text struct {
	*transcript.Transcript
	all  map[string]*transcript.Message
	last string
}

// readClaudeText returns the conversations of a transcript by their ids.
func readClaudeText(t *testing.T, in string) map[string]*text {
	list, _, _ := sink.ReadAll("claude-code", Read, strings.NewReader(in))
	all := map[string]*text{}
	for _, tr := range list {
		if all[tr.ID] != nil {
			t.Fatalf("two conversations have the id %s in\n%s", tr.ID, in)
		}
		c := &text{tr, map[string]*transcript.Message{}, ""}
		all[tr.ID] = c
		for _, msg := range tr.Messages {
			if c.all[msg.ID] != nil {
				t.Fatalf("two messages have the id %s in\n%s", msg.ID, in)
			}
			c.all[msg.ID], c.last = msg, msg.ID
		}
	}
	return all
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
		whole := readClaudeText(t, in)
		cuts := []int{}
		for i := range in {
			if in[i] == '\n' || s.IntN(30) == 0 || in[i] == '}' && s.IntN(5) == 0 {
				cuts = append(cuts, i, i+1)
			}
		}
		for _, cut := range cuts {
			for conv, part := range readClaudeText(t, in[:cut]) {
				is := whole[conv]
				if is == nil {
					if !part.Side || part.Inline {
						t.Fatalf("seed %d: cut at %d, there is the conversation %s in\n%s", seed, cut, conv, in[:cut])
					}
					for _, other := range whole { // a file that begins with sub-agents has one conversation
						is = other
					}
					if len(whole) != 1 {
						t.Fatalf("seed %d: %d conversations in\n%s", seed, len(whole), in)
					}
				}
				for id, m := range part.all {
					now := is.all[id]
					switch {
					case now != nil && now.Joined == m.Joined && sayings(now) == sayings(m) && now.Parent == m.Parent:
					case id == part.last && m.Open:
					case now != nil && now.Joined == m.Joined && sayings(now) == sayings(m) && late(&is.Conversation, &part.Conversation, id, part.all):
					default:
						t.Fatalf("seed %d: cut at %d, %s (the last is %s, open %v) was\n%s < %s joined %s\nand is\n%+v\nin\n%s", seed, cut, id, part.last, m.Open, sayings(m), m.Parent, m.Joined, now, in[:cut])
					}
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
