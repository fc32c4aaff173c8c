package replay_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/replay"
	"github.com/bough-dev/bough/workspace/rewrite"
)

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "Yes.": false, "Which month?": true, "Which month? ": true, "**Which month?**\n": true, "(Which one?)": true,
		"Why? Because.": false, "哪个月？": true, "أي شهر؟": true, "“In May?”": true, "a ? b": false, "`x?`": true, "?": true,
	} {
		if got := replay.Asks(turn.KindAssistant, text); got != want {
			t.Errorf("%q asks: %v", text, got)
		}
	}
	if !replay.Asks(turn.KindClarificationOpened, "Tell me more.") {
		t.Error("a message that opens clarifications asks nothing")
	}
}

// steps returns the path that a text names: "u1" is a message of the user, "u1=a" one that says a
// again, "u1=a!" one that begins a replay, "a1" a complete answer, "c1" an answer with calls, "p1" a
// partial one, "t1" a result of a tool.
func steps(t *testing.T, text string) (list []replay.Step) {
	for _, word := range strings.Fields(text) {
		word, plan := strings.CutSuffix(word, "!")
		id, of, again := strings.Cut(word, "=")
		role := map[byte]string{'u': "user", 't': "tool"}[id[0]]
		if role == "" {
			role = "assistant"
		}
		own := `{}`
		switch {
		case plan:
			own = `{"replayed":{"session_id":"s","message_id":"` + of + `","plan":{"of":{"session_id":"s","message_id":"z"},"first":"` + of + `","agent":"ada"}}}`
		case again:
			own = `{"replayed":{"session_id":"s","message_id":"` + of + `"}}`
		case id[0] == 'p':
			own = `{"partial":true}`
		}
		m := session.Message{ID: id, Raw: []byte(`{"id":"` + id + `","role":"` + role + `","content":"x","metadata":{"bough":` + own + `}}`)}
		s, err := replay.StepOf(m, id[0] == 'c')
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// TestFar: the last message that was said again is answered if a complete answer ends the path.
func TestFar(t *testing.T) {
	for _, c := range []struct {
		path, first, of, prompt string
		answered, ok            bool
	}{
		{"", "", "", "", false, false},
		{"u1 a1", "", "", "", true, false},
		{"u1=a", "", "", "", false, false}, // a copy without its plan
		{"u1 a1 u2=a!", "a", "a", "u2", false, true},
		{"u2=a! a2", "a", "a", "u2", true, true},
		{"u2=a! a2 u3=b c3", "a", "b", "u3", false, true},
		{"u2=a! a2 u3=b c3 t3", "a", "b", "u3", false, true},
		{"u2=a! a2 u3=b c3 t3 a3", "a", "b", "u3", true, true},
		{"u2=a! a2 u3=b p3", "a", "b", "u3", false, true},
		{"u2=a! a2 u3 a3", "a", "a", "u2", true, true},            // a question was answered by hand
		{"u2=a! a2 u3", "a", "a", "u2", false, true},              // and has no reply
		{"u2=a! a2 u3=b a3 u4=c! a4", "c", "c", "u4", true, true}, // a replay of a replay
	} {
		p, ok := replay.Far(steps(t, c.path))
		if ok != c.ok || ok && (p.Plan.First != c.first || p.Of != c.of || p.Prompt != c.prompt || p.Answered != c.answered) {
			t.Errorf("%q: %+v, %v; want %+v", c.path, p, ok, c)
		}
	}
	p, _ := replay.Far(steps(t, "u2=a! a2 u3=b c3 t3 a3 u4=c"))
	if want := []replay.Said{{"a", "u2", "a2"}, {"b", "u3", "a3"}, {"c", "u4", ""}}; !slices.Equal(p.Said, want) {
		t.Errorf("what was said is %v, want %v", p.Said, want)
	}
	if _, err := replay.StepOf(session.Message{Raw: []byte(`{"metadata":{"bough":{"replayed":{"plan":{"of":1}}}}}`)}, false); err == nil {
		t.Error("a damaged plan is no error")
	}
}

func TestEstimate(t *testing.T) {
	again, answer, other := replay.Size{Tokens: 10, Again: true}, replay.Size{Tokens: 5, Answer: true}, replay.Size{Tokens: 100}
	for _, c := range []struct {
		name   string
		before int
		path   []replay.Size
		want   rewrite.ModelTokens
	}{
		{"nothing", 7, nil, rewrite.ModelTokens{}},
		{"one turn", 7, []replay.Size{again, answer}, rewrite.ModelTokens{Input: 17, Output: 5}},
		{"two turns read the first again", 0, []replay.Size{again, answer, again, answer}, rewrite.ModelTokens{Input: 10 + 25, Output: 10}},
		{"a tool asks twice", 0, []replay.Size{again, answer, other, answer}, rewrite.ModelTokens{Input: 10 + 115, Output: 10}},
		{"without an answer", 0, []replay.Size{again, again}, rewrite.ModelTokens{Input: 10 + 20}},
	} {
		if got := replay.Estimate(c.before, c.path); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
