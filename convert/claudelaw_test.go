package convert

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A talk writes a transcript as Claude Code does.
type talk struct {
	*rand.Rand
	out   strings.Builder
	n     int
	at    string   // the record that the next one follows
	known []string // the records of the main chain
	later []string // records that others name already
}

func (s *talk) one(list ...string) string { return list[s.IntN(len(list))] }

func (s *talk) uuid() string {
	if len(s.later) > 0 && s.IntN(3) == 0 {
		id := s.later[0]
		s.later = s.later[1:]
		return id
	}
	s.n++
	return fmt.Sprintf("r%03d", s.n)
}

func link(id string) string {
	if id == "" {
		return "null"
	}
	return fmt.Sprintf("%q", id)
}

// put writes a record of the tree, and goes on after it.
func (s *talk) put(kind, more string) {
	id := s.uuid()
	if s.IntN(40) == 0 && len(s.known) > 0 {
		id = s.known[s.IntN(len(s.known))] // the same uuid twice
	}
	s.line(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":"s"%s}`, link(s.at), kind, id, more))
	s.at = id
	s.known = append(s.known, id)
}

// line writes a record, now and then on the line of the next one, or behind a torn one.
func (s *talk) line(record string) {
	if s.IntN(30) == 0 {
		s.out.WriteString(`{"type":"user","uuid":"to`)
	}
	s.out.WriteString(record)
	if s.IntN(15) > 0 {
		s.out.WriteString("\n")
	}
}

func (s *talk) prompt(text string) {
	s.put("user", fmt.Sprintf(`,"message":{"role":"user","content":%q}`, text))
}

// answer writes an answer of the model in pieces, with calls at once and their results.
func (s *talk) answer() {
	s.n++
	id := fmt.Sprintf("msg_%03d", s.n)
	piece := func(block, stop string) {
		s.put("assistant", fmt.Sprintf(`,"message":{"id":%q,"role":"assistant","model":"claude-x","content":[%s],"stop_reason":%s}`, id, block, stop))
	}
	stop := s.one("null", "null", `"end_turn"`)
	if s.IntN(2) == 0 {
		piece(`{"type":"thinking","thinking":"hm","signature":"s"}`, stop)
	}
	calls := s.IntN(4)
	if calls == 0 || s.IntN(2) == 0 {
		if calls > 0 {
			stop = s.one("null", `"tool_use"`)
		}
		piece(fmt.Sprintf(`{"type":"text","text":"says %d"}`, s.n), stop)
	}
	type call struct{ id, record string }
	var open []call
	result := func(i int) {
		s.at = open[i].record
		s.put("user", fmt.Sprintf(`,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]}`, open[i].id))
		open = slices.Delete(open, i, i+1)
	}
	last := ""
	for range calls {
		s.n++
		if last != "" {
			s.at = last
		}
		c := fmt.Sprintf("toolu_%03d", s.n)
		piece(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"f","input":{"a":[1,{}]}}`, c), s.one("null", "null", `"tool_use"`))
		open = append(open, call{c, s.at})
		last = s.at
		if s.IntN(3) == 0 {
			result(s.IntN(len(open)))
		}
	}
	for len(open) > 0 && s.IntN(12) > 0 {
		result(s.IntN(len(open)))
	}
}

// turn writes something that happens in a session.
func (s *talk) turn() {
	switch s.IntN(16) {
	case 0:
		s.put("system", `,"subtype":"turn_duration"`)
	case 1:
		s.line(`{"type":"file-history-snapshot","messageId":"m","snapshot":{"a":{}}}`)
	case 2:
		s.line(`{"type":"queue-operation","operation":"enqueue","sessionId":"s"}`)
	case 3: // a compaction
		before := s.at
		s.n++
		logical := s.one(link(before), `"lost"`, "null")
		s.at = ""
		s.put("system", `,"subtype":"compact_boundary","logicalParentUuid":`+logical+s.one("", fmt.Sprintf(`,"compactMetadata":{"preservedSegment":{"tailUuid":%q}}`, before)))
		s.put("user", `,"isCompactSummary":true,"message":{"role":"user","content":"Summary"}`)
	case 4: // a resume
		s.put("user", `,"isMeta":true,"message":{"role":"user","content":"`+claudeCaveat+` DO NOT respond."}`)
		s.prompt("<command-name>/exit</command-name>\n  <command-message>exit</command-message>\n <command-args></command-args>")
		s.prompt("<local-command-stdout>See ya!</local-command-stdout>")
		if s.IntN(2) == 0 {
			s.at = s.known[max(0, len(s.known)-4)]
		}
		s.put("assistant", `,"message":{"id":"synth","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"`+claudeNoAnswer+`"}],"stop_reason":"stop_sequence"}`)
	case 5: // a gap
		s.at = "gone"
		if s.IntN(3) == 0 {
			s.n++
			s.at = fmt.Sprintf("late%03d", s.n)
			s.later = append(s.later, s.at)
		}
		if s.IntN(2) == 0 {
			s.put("progress", `,"data":{"type":"hook_progress","hookEvent":"Stop"}`)
		}
	case 6: // a context that the program begins
		s.at = ""
		s.put("progress", `,"data":{"type":"hook_progress","hookEvent":"`+s.one("SessionStart", "Stop")+`"}`)
	case 7: // a rewind
		s.at = ""
		if len(s.known) > 0 && s.IntN(3) > 0 {
			s.at = s.known[s.IntN(len(s.known))]
		}
	case 8: // another agent
		s.n++
		s.line(fmt.Sprintf(`{"parentUuid":%s,"isSidechain":true,"agentId":"a%d","type":"assistant","uuid":"s%d","message":{"id":"side","role":"assistant","content":[{"type":"text","text":"aside"}],"stop_reason":null}}`,
			s.one("null", `"nobody"`, fmt.Sprintf(`"s%d"`, s.n-1)), s.IntN(2), s.n))
	}
	if s.IntN(3) > 0 {
		s.prompt(s.one("Do it", "<command-message>review</command-message>\n<command-name>/review</command-name>", "Do that"))
	}
	if s.IntN(5) > 0 {
		s.answer()
	}
}

// read returns the messages of a transcript by their ids, and the last one.
func (s *talk) read(t *testing.T, in string) (all map[string]*Message, last string, conv *Conversation) {
	m := &memory{}
	_ = claudeCode.Read(strings.NewReader(in), m)
	all = map[string]*Message{}
	for _, tr := range m.list {
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

func sayings(m *Message) string {
	var b strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		fmt.Fprintf(&b, "%s %s %s|", p.Type, p.Text, p.Meta)
	}
	return fmt.Sprintf("%s %s %s", m.Role, m.Kind, b.String())
}

// TestClaudeGrows: every message of the beginning of a transcript is the same in all of
// it, but for the last one if that is open. Only a parent that is named before its record
// stands there may become known later.
func TestClaudeGrows(t *testing.T) {
	for seed := range uint64(50) {
		s := &talk{Rand: rand.New(rand.NewPCG(seed, 1))}
		for range 2 + s.IntN(6) {
			s.turn()
		}
		in := s.out.String()
		whole, _, conv := s.read(t, in)
		cuts := []int{}
		for i := range in {
			if in[i] == '\n' || s.IntN(30) == 0 || in[i] == '}' && s.IntN(5) == 0 {
				cuts = append(cuts, i, i+1)
			}
		}
		for _, cut := range cuts {
			part, last, early := s.read(t, in[:cut])
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

// late reports whether the parent of a message became known only after the beginning of a
// transcript.
func late(whole, part *Conversation, id string, all map[string]*Message) bool {
	now, ok := whole.Parents[id]
	before, known := part.Parents[id]
	return ok && (!known || before != now) && (all[all[id].Parent] == nil || before != now)
}
