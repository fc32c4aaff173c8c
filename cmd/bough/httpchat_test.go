package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testmodel"
	"github.com/tidwall/gjson"
)

// post calls a verb of a server, and returns the status and the document.
func (s *serving) post(ctx context.Context, verb, in string) (int, gjson.Result, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.told.Get("url").String()+"/v1/"+verb, strings.NewReader(in))
	if err != nil {
		return 0, gjson.Result{}, err
	}
	r.Header.Set("Authorization", "Bearer "+s.told.Get("token").String())
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, gjson.Result{}, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	return a.StatusCode, gjson.ParseBytes(body), err
}

// must calls a verb, which must answer with 200.
func (s *serving) must(t *testing.T, verb, in string) gjson.Result {
	t.Helper()
	status, got, err := s.post(t.Context(), verb, in)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s %s: %d %s, %v; %s", verb, in, status, got.Raw, err, s.errs)
	}
	return got
}

// TestHTTPChat: clients chat with an agent over HTTP, steer it meanwhile and queue messages,
// and a turn ends when its client disconnects. A model that is a program is refused.
func TestHTTPChat(t *testing.T) {
	asked, may := make(chan string), make(chan struct{})
	m := testmodel.OpenAI(t)
	m.Answer = func(r *testmodel.Request) testmodel.Reply {
		last := gjson.GetBytes(r.Body, "messages.@reverse.0.content").String()
		if strings.HasPrefix(last, "wait") {
			asked <- last
			<-may
		}
		return testmodel.Reply{Text: []string{"Answer to ", last}}
	}
	t.Setenv("OPENAI_BASE_URL", m.URL()+"/v1")
	t.Setenv("OPENAI_API_KEY", "key")
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_BASE_URL", "")
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	s.must(t, "agent/create", `{"name":"ada","model":"openai:m"}`)
	if got := s.must(t, "agent/chat", `{"agent":"ada","prompt":"Where?"}`).Get("reply").Str; got != "Answer to Where?" {
		t.Errorf("the reply is %q", got)
	}

	for verb, in := range map[string]string{
		"agent/chat": `{"agent":"ada","prompt":"And how?","model":"anthropic:m"}`,
		"explore":    `{"ref":"ada","strategies":[{"name":"a"}],"model":"anthropic:m"}`,
	} {
		in = strings.Replace(in, `"ref":"ada"`, `"ref":"`+s.must(t, "agent/show", `{"agent":"ada"}`).Get("head.tree_id").Str+`"`, 1)
		status, got, err := s.post(t.Context(), verb, in)
		if e := got.Get("error"); err != nil || status != http.StatusConflict || e.Get("code").Str != "refused" || !strings.Contains(e.Get("message").Str, "ANTHROPIC_API_KEY") {
			t.Errorf("%s without a key: %d %s, %v", verb, status, got.Raw, err)
		}
	}

	done := make(chan string, 1)
	go func() {
		_, got, err := s.post(context.Background(), "agent/chat", `{"agent":"ada","prompt":"wait for me"}`)
		if err != nil {
			done <- err.Error()
			return
		}
		done <- got.Get("reply").Str
	}()
	<-asked
	if status, got, err := s.post(t.Context(), "agent/chat", `{"agent":"ada","prompt":"Too soon"}`); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("a second chat: %d %s, %v", status, got.Raw, err)
	}
	s.must(t, "steer", `{"agent":"ada","text":"Not by plane!"}`)
	if got := s.must(t, "follow-up", `{"agent":"ada","text":"And back?"}`).Get("queue.#.delivery_mode").Raw; got != `["steer","follow_up"]` {
		t.Errorf("the queue is %s", got)
	}
	may <- struct{}{}
	if got := <-done; got != "Answer to And back?" {
		t.Errorf("the last reply is %q", got)
	}
	contents := func() (list []string) {
		ref := s.must(t, "agent/show", `{"agent":"ada"}`).Get("head.tree_id").Str
		for _, e := range s.must(t, "show", `{"ref":"`+ref+`"}`).Get("messages").Array() {
			list = append(list, e.Get("content").String())
		}
		return list
	}
	want := []string{"Where?", "Answer to Where?", "wait for me", "Answer to wait for me", "Not by plane!", "Answer to Not by plane!", "And back?", "Answer to And back?"}
	if got := contents(); !slices.Equal(got, want) {
		t.Errorf("the messages are %q", got)
	}

	ctx, leave := context.WithCancel(t.Context())
	go func() {
		s.post(ctx, "agent/chat", `{"agent":"ada","prompt":"wait again"}`)
		done <- ""
	}()
	<-asked
	s.must(t, "follow-up", `{"agent":"ada","text":"Later"}`)
	leave()
	<-done
	for s.must(t, "queue", `{"agent":"ada"}`).Get("queue.0.state").Str != "held" {
	}
	may <- struct{}{} // not before the server has aborted the turn
	resumed := s.must(t, "queue/resume", `{"agent":"ada"}`)
	for resumed.Get("queue.0").Exists() { // the aborted turn had not released the agent
		resumed = s.must(t, "queue/resume", `{"agent":"ada"}`)
	}
	if got := resumed.Get("reply").Str; got != "Answer to Later" || resumed.Get("queue.#").Int() != 0 {
		t.Errorf("queue/resume: %s", resumed.Raw)
	}
	if got := s.must(t, "steer", `{"agent":"ada","text":"Idle"}`).Get("reply").Str; got != "Answer to Idle" {
		t.Errorf("the reply to a steer of an idle agent is %q", got)
	}

	before := contents()
	for _, in := range []string{`"model":"command:touch ran"`, `"fallback":"command:touch ran"`} {
		status, got, err := s.post(t.Context(), "agent/chat", `{"agent":"ada","prompt":"Run","`+in[1:]+`}`)
		if err != nil || status != http.StatusConflict || got.Get("error.code").Str != "refused" || !strings.Contains(got.Raw, "program") {
			t.Errorf("%s: %d %s, %v", in, status, got.Raw, err)
		}
	}
	s.must(t, "agent/set", `{"agent":"ada","model":"command:touch ran"}`)
	tree := s.must(t, "agent/show", `{"agent":"ada"}`).Get("head.tree_id").Str
	for verb, in := range map[string]string{
		"agent/chat": `{"agent":"ada","prompt":"Run"}`, "steer": `{"agent":"ada","text":"Run"}`,
		"explore": `{"ref":"` + tree + `","strategies":[{"name":"a"}]}`,
	} {
		if status, got, err := s.post(t.Context(), verb, in); err != nil || status != http.StatusConflict {
			t.Errorf("%s with a program: %d %s, %v", verb, status, got.Raw, err)
		}
	}
	if status, got, err := s.post(t.Context(), "agent/chat", `{"agent":"ada","prompt":"Run","model":"nobody"}`); err != nil || status != http.StatusBadRequest || strings.Contains(got.Raw, "command") {
		t.Errorf("an unknown model: %d %s, %v", status, got.Raw, err)
	}
	if after := contents(); !slices.Equal(after, before) {
		t.Errorf("the messages are %q, were %q", after, before)
	}

	m.Add(testmodel.Reply{Status: 400, Kind: "bad", Error: "no such luck"})
	status, got, err := s.post(t.Context(), "agent/chat", `{"agent":"ada","prompt":"Once","model":"openai:m"}`)
	if err != nil || status != http.StatusInternalServerError || !strings.Contains(got.Raw, "no such luck") || !strings.Contains(got.Get("error.hint").Str, "/v1/agent/chat") {
		t.Errorf("a model that fails: %d %s, %v", status, got.Raw, err)
	}
	if got := s.must(t, "agent/chat", `{"agent":"ada","retry":true,"model":"openai:m"}`).Get("reply").Str; got != "Answer to Once" {
		t.Errorf("the reply to a retry is %q", got)
	}
	for _, r := range m.Requests() {
		if !bytes.Contains(r.Body, []byte(`"model":"m"`)) {
			t.Errorf("a request for another model: %s", r.Body)
		}
	}
}
