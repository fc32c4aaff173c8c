package content_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/testsize"
)

func decodedMeta(p content.Part, name string) string {
	var meta map[string]any
	if json.Unmarshal(p.Meta, &meta) != nil {
		return "?"
	}
	s, _ := meta[name].(string)
	return s
}

// said makes messages of words: "x" is the text x, "!id(args)" a call of the tool
// that is id without digits, "=id:x" a result; a word may have several of them,
// separated by commas.
func said(words ...string) (list []*content.Message) {
	for i, word := range words {
		m := &content.Message{Role: []string{"user", "assistant"}[i%2]}
		for _, piece := range strings.Split(word, ",") {
			id, text, _ := strings.Cut(strings.TrimLeft(piece, "!="), ":")
			switch piece[0] {
			case '!':
				id, args, _ := strings.Cut(strings.TrimSuffix(piece[1:], ")"), "(")
				m.Parts = append(m.Parts, content.Part{Type: "tool-call", Meta: fmt.Appendf(nil, `{"id":%q,"name":%q,"arguments":%q}`, id, strings.TrimRight(id, "0123456789"), args)})
			case '=':
				m.Parts = append(m.Parts, content.Part{Type: "tool-result", Text: text, Meta: fmt.Appendf(nil, `{"tool_call_id":%q,"content":[]}`, id)})
			default:
				m.Parts = append(m.Parts, content.Part{Type: "text", Text: piece})
			}
		}
		list = append(list, m)
	}
	return list
}

func TestEdit(t *testing.T) {
	tools := said("hi", "!a1(aaaa)", "=a1:AAAA", "!b1(bb),!a2(aa)", "=b1:BB,=a2:AA", "!a3(a)", "=a3:A", "ok")
	for _, c := range []struct {
		name       string
		list       []*content.Message
		n          int
		strategies string
		want       string
	}{
		{"nothing", tools, 8, `[]`, "0hi 1!a1(aaaa) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"results", tools, 8, `[{"type":"remove_tool_result"}]`, "0hi 1!a1(aaaa) 2=a1:Done 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"all results", tools, 8, `[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":0,"tool_result_placeholder":" gone "}}]`,
			"0hi 1!a1(aaaa) 2=a1:gone 3!b1(bb)!a2(aa) 4=b1:gone=a2:gone 5!a3(a) 6=a3:gone 7ok"},
		{"results but of a tool", tools, 8, `[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":1,"keep_tools":["b"]}}]`,
			"0hi 1!a1(aaaa) 2=a1:Done 3!b1(bb)!a2(aa) 4=b1:BB=a2:Done 5!a3(a) 6=a3:A 7ok"},
		{"large results", tools, 8, `[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":0,"gt_token":2}}]`,
			"0hi 1!a1(aaaa) 2=a1:Done 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"results to a pin", tools, 5, `[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":1}}]`,
			"0hi 1!a1(aaaa) 2=a1:Done 3!b1(bb)!a2(aa) 4=b1:Done=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"arguments", tools, 8, `[{"type":"remove_tool_call_params"}]`, "0hi 1!a1({}) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"arguments but of a tool", tools, 8, `[{"type":"remove_tool_call_params","params":{"keep_recent_n_tool_calls":0,"keep_tools":["a"]}}]`,
			"0hi 1!a1(aaaa) 2=a1:AAAA 3!b1({})!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"long arguments", tools, 8, `[{"type":"remove_tool_call_params","params":{"keep_recent_n_tool_calls":1,"gt_token":3}}]`,
			"0hi 1!a1({}) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		// tokens: 2, 1+4, 4, 1+2+1+2, 4, 1+1, 1, 2
		{"a limit that holds", tools, 8, `[{"type":"token_limit","params":{"limit_tokens":26}}]`, "0hi 1!a1(aaaa) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"a limit", tools, 8, `[{"type":"token_limit","params":{"limit_tokens":25}}]`, "1!a1(aaaa) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"a call and its result", tools, 8, `[{"type":"token_limit","params":{"limit_tokens":23}}]`, "3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"nothing fits", tools, 8, `[{"type":"token_limit","params":{"limit_tokens":1}}]`, ""},
		{"the limit comes last", tools, 8, `[{"type":"token_limit","params":{"limit_tokens":25}},{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":0,"tool_result_placeholder":"-"}}]`,
			"0hi 1!a1(aaaa) 2=a1:- 3!b1(bb)!a2(aa) 4=b1:-=a2:- 5!a3(a) 6=a3:- 7ok"},
		{"a limit to a pin", tools, 3, `[{"type":"token_limit","params":{"limit_tokens":10}}]`, "1!a1(aaaa) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"a pin between a call and its result", tools, 2, `[{"type":"token_limit","params":{"limit_tokens":1}}]`, "1!a1(aaaa) 2=a1:AAAA 3!b1(bb)!a2(aa) 4=b1:BB=a2:AA 5!a3(a) 6=a3:A 7ok"},
		{"the middle", said("a", "b", "c", "d", "e"), 5, `[{"type":"middle_out","params":{"token_reduce_to":3}}]`, "0a 1b 4e"},
		{"the middle, to the end", said("a", "b", "c", "d", "e"), 5, `[{"type":"middle_out","params":{"token_reduce_to":1}}]`, "4e"},
		{"the middle with its calls and results", tools, 8, `[{"type":"middle_out","params":{"token_reduce_to":25}}]`, "0hi 1!a1(aaaa) 2=a1:AAAA 5!a3(a) 6=a3:A 7ok"},
		{"a chain", said("!a1()", "=a1:x,!a2()", "=a2:y,!a3()", "=a3:z", "ok"), 5, `[{"type":"token_limit","params":{"limit_tokens":7}}]`, "4ok"},
		{"twice", said("a", "b", "c", "d", "e"), 4, `[{"type":"middle_out","params":{"token_reduce_to":3}},{"type":"token_limit","params":{"limit_tokens":1}}]`, "3d 4e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := edited(t, c.list, c.n, c.strategies); got != c.want {
				t.Errorf("left %q, want %q", got, c.want)
			}
		})
	}
}

// TestEditContent: removing a result also removes its complete content.
func TestEditContent(t *testing.T) {
	list := parsed(t, content.Anthropic, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"x"}}]}]}`)
	strategies, err := content.ParseStrategies([]byte(`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":0}}]`))
	if err != nil {
		t.Fatal(err)
	}
	left, _ := content.Edit(list, 1, strategies, nil)
	want := `{"role":"user","parts":[{"type":"tool-result","text":"Done","meta":{"tool_call_id":"t","is_error":false}}],"meta":{"source_format":"anthropic"}}`
	if got := asItem(left[0]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestMiddleOut: the message in the middle is removed each time, as in a naive
// implementation.
func TestMiddleOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range testsize.Of(100, 200, 500) {
		var words []string
		for i := range random.IntN(30) {
			word := strings.Repeat("x", 1+random.IntN(5))
			if id := random.IntN(8); id < 5 && i > 0 {
				word += fmt.Sprintf(",=a%d:y", id)
			} else if id == 5 {
				word += fmt.Sprintf(",!a%d()", random.IntN(5))
			}
			words = append(words, word)
		}
		list, most := said(words...), 1+random.IntN(60)
		strategies, err := content.ParseStrategies(fmt.Appendf(nil, `[{"type":"middle_out","params":{"token_reduce_to":%d}}]`, most))
		if err != nil {
			t.Fatal(err)
		}
		count := func(s string) int { return len(s) }
		_, places := content.Edit(list, len(list), strategies, count)
		if want := middleOut(list, most, count); len(places)+len(want) > 0 && !reflect.DeepEqual(places, want) {
			t.Fatalf("%q reduced to %d tokens is %v, want %v", words, most, places, want)
		}
	}
}

func middleOut(list []*content.Message, most int, count func(string) int) (places []int) {
	total := 0
	for i, m := range list {
		places = append(places, i)
		total += m.Tokens(count)
	}
	for total > most && len(places) > 0 {
		at := len(places) / 2
		if len(places) <= 2 {
			at = 0
		}
		gone := map[int]bool{places[at]: true}
		for more := true; more; {
			more = false
			ids := map[string]bool{}
			for _, i := range places {
				for _, p := range list[i].Parts {
					ids[decodedMeta(p, "id")+decodedMeta(p, "tool_call_id")] = ids[decodedMeta(p, "id")+decodedMeta(p, "tool_call_id")] || gone[i] && p.Type != "text"
				}
			}
			for _, i := range places {
				for _, p := range list[i].Parts {
					if p.Type != "text" && !gone[i] && ids[decodedMeta(p, "id")+decodedMeta(p, "tool_call_id")] {
						gone[i], more = true, true
					}
				}
			}
		}
		var left []int
		for _, i := range places {
			if gone[i] {
				total -= list[i].Tokens(count)
			} else {
				left = append(left, i)
			}
		}
		places = left
	}
	return places
}

// FuzzEdit: no result is left without its call, messages after the pin are
// unchanged, and limits are kept.
func FuzzEdit(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0}, 4, 0, 3)
	f.Add([]byte{1, 132, 2, 5, 1, 2}, 3, 1, 2)
	f.Add([]byte{1, 2, 132, 5, 135, 8, 0}, 2, 2, 1)
	f.Add([]byte{1, 2, 2, 2}, 4, 3, 1)
	f.Fuzz(func(t *testing.T, pieces []byte, n, kind, number int) {
		var words []string
		for i, b := range pieces {
			id := b / 3 % 8
			word := [...]string{"x", fmt.Sprintf("!a%d(yy)", id), fmt.Sprintf("=a%d:z", id)}[b%3]
			if b >= 128 && i > 0 {
				words[len(words)-1] += "," + word
			} else {
				words = append(words, word)
			}
		}
		if n < 0 || n > len(words) || kind < 0 || kind > 3 || number < 1 || number > 1000 {
			return
		}
		list := said(words...)
		strategies, err := content.ParseStrategies(fmt.Appendf(nil, [...]string{
			`[{"type":"token_limit","params":{"limit_tokens":%d}}]`,
			`[{"type":"middle_out","params":{"token_reduce_to":%d}}]`,
			`[{"type":"middle_out","params":{"token_reduce_to":%d}},{"type":"token_limit","params":{"limit_tokens":1}},{"type":"remove_tool_result"}]`,
			`[{"type":"remove_tool_call_params","params":{"keep_recent_n_tool_calls":%d}}]`,
		}[kind], number))
		if err != nil {
			t.Fatal(err)
		}
		count := func(s string) int { return len(s) }
		left, places := content.Edit(list, n, strategies, count)
		calls, kept, total := callsOf(list), callsOf(left), 0
		for i, m := range left {
			if i > 0 && places[i] <= places[i-1] {
				t.Fatalf("the places are %v", places)
			}
			for _, p := range m.Parts {
				if id := decodedMeta(p, "tool_call_id"); p.Type == "tool-result" && calls[id] && !kept[id] {
					t.Errorf("%q keeps the result of %s without its call", id, words)
				}
			}
			total += m.Tokens(count)
		}
		if n == len(list) && kind < 2 && total > number {
			t.Errorf("%d tokens are left of %q, more than %d", total, words, number)
		}
		for i := n; i < len(list); i++ {
			if at := len(left) - (len(list) - i); at < 0 || places[at] != i || left[at] != list[i] {
				t.Fatalf("message %d is after the pin, but was removed: %v", i, places)
			}
		}
		if !reflect.DeepEqual(list, said(words...)) {
			t.Error("the list changed")
		}
	})
}

// callsOf returns the ids of the tool calls in messages.
func callsOf(list []*content.Message) map[string]bool {
	ids := map[string]bool{}
	for _, m := range list {
		for _, p := range m.Parts {
			if p.Type == "tool-call" {
				ids[decodedMeta(p, "id")] = true
			}
		}
	}
	return ids
}
