package testmodel

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// post returns the status and the body of an answer.
func post(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL()+s.form.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(data)
}

// TestRefuses: requests that the providers refuse are refused with a reason.
func TestRefuses(t *testing.T) {
	const (
		call   = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
		result = `{"role":"tool","tool_call_id":"a","content":""}`
		use    = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}`
		used   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`
		say    = `{"role":"user","content":"Hi"}`
	)
	open := func(messages string) string { return `{"model":"m","stream":true,"messages":[` + messages + `]}` }
	anth := func(messages string) string {
		return `{"model":"m","max_tokens":1,"stream":true,"tools":[],"messages":[` + messages + `]}`
	}
	for _, c := range []struct{ body, want string }{
		{open(say), ""},
		{open(call + "," + result), ""},
		{open(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`), ""},
		{`{"messages":[` + say + `]}`, "you must provide a model"},
		{`{"model":"m","messages":[],"stream":true}`, "empty array"},
		{`{"model":"m","messages":[` + say + `],"odd":1}`, "Unrecognized request argument supplied: odd"},
		{open(`{"role":"user","content":""},{"role":"odd","content":""}`), "Invalid value: 'odd'"},
		{open(`{"role":"user"}`), "expected a string, got null"},
		{open(`{"role":"assistant"}`), "expected a string, got null"},
		{open(`{"role":"user","content":[]}`), "empty array"},
		{open(`{"role":"user","content":"x","id":"m"}`), "messages.id: Extra inputs"},
		{open(`{"role":"user","content":"x","name":"a b"}`), "does not match pattern"},
		{open(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///x"}}]}`), "valid URL"},
		{open(`{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"http://x"}}]}`), "Invalid value: 'image_url'"},
		{open(call), "did not have response messages: a"},
		{open(call + "," + say), "did not have response messages: a"},
		{open(result), "must be a response to a preceeding message"},
		{open(call + "," + result + "," + result), "must be a response to a preceeding message"},
		{open(strings.Replace(call, `"a"`, `""`, 1) + "," + result), "tool_calls[].id"},
		{open(strings.Replace(call, `"{}"`, `"{"`, 1) + "," + result), "function.arguments"},
		{open(strings.Replace(call, `"ls"`, `"l.s"`, 1) + "," + result), "function.name"},
		{open(`{"role":"assistant","content":"x","tool_calls":[]}`), "empty array"},
		{`{"model":"m","messages":[` + say + `],"tools":[]}`, "Invalid 'tools'"},
		{`{"model":"m","messages":[` + say + `],"tools":[{"type":"function","function":{"name":"l.s"}}]}`, "function.name"},
		{`{"model":"m","messages":[` + say + `],"tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}}]}`, "object schema missing properties"},

		{anth(say), ""},
		{anth(say + "," + use + "," + used), ""},
		{anth(say + "," + use + "," + used + "," + say), ""},
		{anth(""), "at least one message"},
		{`{"model":"m","messages":[` + say + `]}`, "max_tokens: Field required"},
		{`{"max_tokens":1,"messages":[` + say + `]}`, "model: Field required"},
		{`{"model":"m","max_tokens":1,"messages":[` + say + `],"odd":1}`, "odd: Extra inputs"},
		{`{"model":"m","max_tokens":1,"messages":[` + say + `],"system":" "}`, "non-whitespace"},
		{`{"model":"m","max_tokens":1,"messages":[` + say + `],"system":[{"type":"text","text":""}]}`, "non-empty"},
		{`{"model":"m","max_tokens":1,"messages":[` + say + `],"tools":[{"name":"ls"}]}`, "input_schema.type"},
		{`{"model":"m","max_tokens":1,"messages":[` + say + `],"tools":[{"name":"l.s","input_schema":{"type":"object"}}]}`, "should match pattern"},
		{`{"model":"m","max_tokens":1,"messages":[` + say + "," + use + "," + used + `]}`, "must define tools"},
		{anth(`{"role":"system","content":"x"}`), "Input should be 'user' or 'assistant'"},
		{anth(`{"role":"assistant","content":"x"}`), "first message must use"},
		{anth(say + `,{"role":"assistant","content":"x "}`), "trailing whitespace"},
		{anth(`{"role":"user","content":""}`), "non-empty content"},
		{anth(`{"role":"user","content":[]}`), "non-empty content"},
		{anth(`{"role":"user","content":[{"type":"text","text":""}]}`), "must be non-empty"},
		{anth(`{"role":"user","content":[{"type":"text","text":" "}]}`), "non-whitespace"},
		{anth(`{"role":"user","content":"x","name":"a"}`), "messages.0.name: Extra inputs"},
		{anth(say + "," + use), "without `tool_result` blocks immediately after: a"},
		{anth(say + "," + use + "," + say), "without `tool_result` blocks immediately after: a"},
		{anth(say + "," + use + "," + say + "," + used), "immediately after"},
		{anth(say + "," + use + "," + strings.Replace(used, `[{`, `[{"type":"text","text":"x"},{`, 1)), "immediately after"},
		{anth(used), "unexpected `tool_use_id`"},
		{anth(say + "," + use + "," + used + "," + used), "Found multiple"},
		{anth(say + "," + use + "," + used + "," + use + "," + used), "ids must be unique"},
		{anth(say + "," + strings.ReplaceAll(use+","+used, `"a"`, `"a:b"`)), "should match pattern"},
		{anth(say + "," + strings.Replace(use, `{}`, `"x"`, 1) + "," + used), "valid dictionary"},
		{anth(say + `,{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]},` + say), "signature: Field required"},
		{anth(`{"role":"user","content":[{"type":"odd"}]}`), "Input tag 'odd'"},
	} {
		s := OpenAI(t, Reply{Text: []string{"Hello"}})
		if strings.Contains(c.body, "max_tokens") || strings.HasPrefix(c.want, "max_tokens") {
			s = Anthropic(t, Reply{Text: []string{"Hello"}})
		}
		status, said := post(t, s, c.body)
		problems := strings.Join(s.Problems(), ";")
		if c.want == "" && (status != 200 || problems != "" || !strings.Contains(said, "Hello")) {
			t.Errorf("%s: it says %d %s", c.body, status, said)
		}
		if c.want != "" && (status != 400 || !strings.Contains(problems, c.want) || !strings.Contains(said, `"message":`)) {
			t.Errorf("%s: it says %d %s, want %q", c.body, status, said, c.want)
		}
	}
}

// TestScript: replies are sent in order, until the script ends.
func TestScript(t *testing.T) {
	s := OpenAI(t, Reply{Text: []string{"one"}}, Reply{Status: 503})
	s.Add(Reply{Plain: true, Text: []string{"three"}})
	const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`
	for _, want := range []struct {
		status int
		text   string
	}{{200, `"content":"one"`}, {503, "error"}, {200, `"content":"three"`}, {400, "the script of the test is over"}} {
		if status, said := post(t, s, body); status != want.status || !strings.Contains(said, want.text) {
			t.Errorf("it says %d %s, want %+v", status, said, want)
		}
	}
	s.Key, s.Answer = "k", func(*Request) Reply { return Reply{Text: []string{"more"}} }
	if status, _ := post(t, s, body); status != 401 {
		t.Errorf("without a key the status is %d", status)
	}
	s.Key, s.Model = "", "other"
	if status, _ := post(t, s, body); status != 404 {
		t.Errorf("for another model the status is %d", status)
	}
	s.Model = "m"
	if _, said := post(t, s, body); !strings.Contains(said, "more") || len(s.Requests()) != 7 {
		t.Errorf("the answer is %s after %d requests", said, len(s.Requests()))
	}
}
