package content_test

import (
	"testing"

	"github.com/bough-dev/bough/convert/content"
)

// parsed returns messages in a format.
func parsed(t *testing.T, f content.Format, blobs ...string) (list []*content.Message) {
	t.Helper()
	for _, blob := range blobs {
		m, err := content.Parse(f, []byte(blob), digits())
		if err != nil {
			t.Fatalf("%v: %s", err, blob)
		}
		list = append(list, m)
	}
	return list
}

func TestMatch(t *testing.T) {
	calls := `{"role":"model","parts":[{"functionCall":{"id":"a1","name":"a"}},{"functionCall":{"id":"b1","name":"b"}},{"functionCall":{"id":"a2","name":"a"}}]}`
	for _, c := range []struct {
		name string
		path []string
		in   string
		want string // the item, or the error
	}{
		{"by name", []string{calls}, `{"functionResponse":{"name":"b"}}`, `{"functionResponse":{"id":"b1","name":"b","response":{}}}`},
		{"the oldest", []string{calls}, `{"functionResponse":{"name":"a"}}`, `{"functionResponse":{"id":"a1","name":"a","response":{}}}`},
		{"each once", []string{calls}, `{"functionResponse":{"name":"a"}},{"functionResponse":{"name":"a"}}`,
			`{"functionResponse":{"id":"a1","name":"a","response":{}}},{"functionResponse":{"id":"a2","name":"a","response":{}}}`},
		{"no more than once", []string{calls}, `{"functionResponse":{"name":"b"}},{"text":"x"},{"functionResponse":{"name":"b"}}`,
			`parts[2].functionResponse: no call of "b" is without a result`},
		{"after an answer", []string{calls, `{"role":"user","parts":[{"functionResponse":{"id":"a1","name":"a"}}]}`}, `{"functionResponse":{"name":"a"}}`,
			`{"functionResponse":{"id":"a2","name":"a","response":{}}}`},
		{"by id", []string{calls}, `{"functionResponse":{"id":"a2","name":"a"}}`, `{"functionResponse":{"id":"a2","name":"a","response":{}}}`},
		{"an id, then a name", []string{calls}, `{"functionResponse":{"id":"a1","name":"a"}},{"functionResponse":{"name":"a"}}`,
			`{"functionResponse":{"id":"a1","name":"a","response":{}}},{"functionResponse":{"id":"a2","name":"a","response":{}}}`},
		{"another tool", []string{calls}, `{"functionResponse":{"id":"a1","name":"b"}}`, `parts[0].functionResponse.name: the call with the id "a1" is of "a", not of "b"`},
		{"an unknown id", []string{calls}, `{"functionResponse":{"id":"z","name":"a"}}`, `parts[0].functionResponse.id: no call with the id "z" is without a result`},
		{"no call before", nil, `{"functionResponse":{"name":"a"}}`, `parts[0].functionResponse: no call of "a" is without a result`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := parsed(t, content.Gemini, c.path...)
			m := parsed(t, content.Gemini, `{"role":"user","parts":[`+c.in+`]}`)[0]
			before := asItem(m)
			matched, err := content.Match(m, path)
			got := ""
			if err != nil {
				_ = err.(*content.Error)
				got = err.Error()
			} else {
				got = string(content.Items(content.Gemini, []*content.Message{matched}, nil)[0])
				got = got[len(`{"role":"user","parts":[`) : len(got)-len(`]}`)]
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if after := asItem(m); after != before {
				t.Errorf("the message changed: %s", after)
			}
		})
	}
}

// TestMatchForms: a result of Gemini may answer a call in any format; results in
// other formats have ids.
func TestMatchForms(t *testing.T) {
	path := parsed(t, content.OpenAI, `{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"f"}}]}`)
	m := parsed(t, content.Gemini, `{"role":"user","parts":[{"functionResponse":{"name":"f"}}]}`)[0]
	if !m.Unmatched() {
		t.Error("it is reported as matched")
	}
	if matched, err := content.Match(m, path); err != nil || asItem(matched) != `{"role":"user","parts":[{"type":"tool-result","meta":{"tool_call_id":"c1","name":"f"}}],"meta":{"source_format":"gemini"}}` {
		t.Errorf("%v, %v", matched, err)
	}
	for f, blob := range map[content.Format]string{
		content.OpenAI: `{"role":"tool","tool_call_id":"c1","content":"x"}`,
		content.Gemini: `{"role":"user","parts":[{"text":"x"}]}`,
	} {
		if parsed(t, f, blob)[0].Unmatched() {
			t.Errorf("%s is reported as unmatched", blob)
		}
	}
}
