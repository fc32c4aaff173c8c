// Package modeltest tests the common behaviour of models behind an API: valid replies,
// retries, reports of failures, and that no error contains the key. Only tests import
// it.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/internal/turnwalk"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/internal/testmodel"
)

const key = "sk-test-0123456789abcdef"

// A Provider is the provider under test.
type Provider struct {
	Name   string // as errors have it
	KeyVar string
	URL    string // the default base URL
	Server func(t testing.TB, script ...testmodel.Reply) *testmodel.Server
	New    func(wire.Options) (model.Model, error)

	Stray    map[string]string // variables of the environment that libraries of the provider read
	Replies  []Reply           // beside those of all providers
	Failures []Failure
}

// A Reply is a valid reply.
type Reply struct {
	Name  string
	Reply testmodel.Reply
	Want  model.Reply
}

// A Failure is a response that is an error. HOST in it is the server's.
type Failure struct {
	Name    string
	Reply   testmodel.Reply
	Options wire.Options
	Want    string // the error begins with this
}

// Run runs the tests.
func Run(t *testing.T, p Provider) {
	for name, test := range map[string]func(*testing.T, *Provider){
		"reply":       replies,
		"failure":     failures,
		"retry":       retries,
		"unreachable": unreachable,
		"cancel":      cancels,
		"new":         news,
		"environment": environment,
		"turns":       turns,
	} {
		t.Run(name, func(t *testing.T) { test(t, &p) })
	}
}

// Model returns a model that asks a server.
func (p *Provider) Model(t *testing.T, s *testmodel.Server, o wire.Options) model.Model {
	t.Helper()
	o.BaseURL = s.URL() + "/v1"
	m, err := p.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Say returns a message.
func Say(role, text string) model.Message {
	content, _ := json.Marshal(text)
	return model.Message{ID: "m", Role: role, Content: content, Metadata: json.RawMessage(`{}`)}
}

// Hello returns a request.
func Hello() *model.Request {
	return &model.Request{Agent: "anna", ModelID: "m-1", System: "Be brief.", Messages: []model.Message{Say("user", "Hello")}}
}

// replies tests that the reply is the one of the server, and that the streamed
// text is its text.
func replies(t *testing.T, p *Provider) {
	calls := []testmodel.Call{
		{ID: "call_a", Name: "ls", Arguments: []string{`{"pa`, `th":"/"}`}},
		{ID: "call_b", Name: "ls"},
	}
	long := strings.Repeat("long ", 100_000)
	for _, c := range append([]Reply{
		{"a large event", testmodel.Reply{Text: []string{long}}, model.Reply{Text: long}},
		{"a text", testmodel.Reply{Text: []string{"Hel", "lo ", "✓\n"}}, model.Reply{Text: "Hello ✓\n"}},
		{"calls", testmodel.Reply{Text: []string{"Let me see."}, Calls: calls}, model.Reply{Text: "Let me see.", Calls: []model.Call{
			{ID: "call_a", Name: "ls", Arguments: `{"path":"/"}`}, {ID: "call_b", Name: "ls", Arguments: "{}"}}}},
		{"a call without an id", testmodel.Reply{Calls: []testmodel.Call{{Name: "ls"}}}, model.Reply{Calls: []model.Call{{ID: "call_0", Name: "ls", Arguments: "{}"}}}},
		{"no stream", testmodel.Reply{Plain: true, Text: []string{"Hello"}, Calls: calls[:1]},
			model.Reply{Text: "Hello", Calls: []model.Call{{ID: "call_a", Name: "ls", Arguments: `{"path":"/"}`}}}},
	}, p.Replies...) {
		s := p.Server(t, c.Reply)
		var streamed strings.Builder
		reply, err := p.Model(t, s, wire.Options{}).Ask(t.Context(), Hello(), func(piece string) {
			if !utf8.ValidString(piece) || piece == "" {
				t.Errorf("%s: a piece is %q", c.Name, piece)
			}
			streamed.WriteString(piece)
		})
		if err != nil || reply.Text != c.Want.Text || !slices.Equal(reply.Calls, c.Want.Calls) || streamed.String() != c.Want.Text {
			t.Errorf("%s: the reply is %+v, %v, streamed %q; %q", c.Name, reply, err, streamed.String(), s.Problems())
		}
	}
}

// failures tests that any other behaviour of a server is a readable error
// without the key.
func failures(t *testing.T, p *Provider) {
	for _, c := range append([]Failure{
		{"half", testmodel.Reply{Text: []string{"So"}, End: testmodel.Half}, wire.Options{}, "the server at HOST broke off its reply: unexpected EOF"},
		{"early", testmodel.Reply{Text: []string{"So"}, End: testmodel.Early}, wire.Options{}, "the server at HOST broke off its reply before the end of the message"},
		{"hang", testmodel.Reply{Text: []string{"So"}, End: testmodel.Hang}, wire.Options{Next: 50 * time.Millisecond}, "the server at HOST broke off its reply: no data for 50ms"},
		{"mute", testmodel.Reply{End: testmodel.Mute}, wire.Options{First: 50 * time.Millisecond}, "the server at HOST did not respond for 50ms"},
		{"other JSON", testmodel.Reply{Raw: "data: {\"a\":1}\n\n"}, wire.Options{}, "the server at HOST broke off its reply before the end of the message"},
		{"no stream and garbage", testmodel.Reply{Raw: "{so", Media: "application/json"}, wire.Options{}, "the server at HOST sent an invalid reply: invalid character 's'"},
		{"no stream and an error", testmodel.Reply{Raw: `{"error":"out of memory"}`, Media: "application/json"}, wire.Options{}, "the server at HOST rejects the request (200): out of memory"},
		{"half a message", testmodel.Reply{Raw: `{"id":"x",`, Media: "application/json", End: testmodel.Half}, wire.Options{}, "the server at HOST broke off its reply: unexpected EOF"},
		{"a null error", testmodel.Reply{Raw: "data: {\"error\":null}\n\ndata:\n\n"}, wire.Options{}, "the server at HOST broke off its reply before the end of the message"},
		{"an error without an end", testmodel.Reply{Raw: "data: {\"error\":{\"message\":\"out of memory\"}}\n\n", End: testmodel.Hang}, wire.Options{}, "the server at HOST broke off its reply: out of memory"},
		{"a page", testmodel.Reply{Raw: "<html>", Media: "text/html"}, wire.Options{}, "the server at HOST answers with a web page: is the base URL right?"},
		{"nothing", testmodel.Reply{}, wire.Options{}, "m-1 returned an empty reply"},
		{"blank", testmodel.Reply{Text: []string{" \n"}}, wire.Options{}, "m-1 returned an empty reply"},
		{"an error in the stream", testmodel.Reply{Text: []string{"So"}, Error: "The server had an error\nwhile it " + key}, wire.Options{},
			"the server at HOST broke off its reply: The server had an error while it (the key)"},
		{"no tool", testmodel.Reply{Calls: []testmodel.Call{{ID: "a"}}}, wire.Options{}, "the model made a call without the name of a tool"},
		{"one id", testmodel.Reply{Calls: []testmodel.Call{{ID: "a", Name: "ls"}, {ID: "a", Name: "ls"}}}, wire.Options{}, `the model made two calls with the id "a"`},
		{"400", testmodel.Reply{Status: 400, Error: "max_tokens: 16384 > 4096"}, wire.Options{}, "the server at HOST rejects the request (400): max_tokens: 16384 > 4096"},
		{"401", testmodel.Reply{Status: 401, Error: "Incorrect API key provided: " + key}, wire.Options{}, "the server at HOST rejects the key (401): check the variable " + p.KeyVar},
		{"403", testmodel.Reply{Status: 403, Error: "Not in your country"}, wire.Options{}, "the server at HOST denies the request with this key (403): Not in your country"},
		{"404", testmodel.Reply{Status: 404, Kind: "model_not_found", Error: "There is none."}, wire.Options{}, `the server at HOST has no model "m-1" (404): There is none.`},
		{"413", testmodel.Reply{Status: 413, Error: "Request exceeds the maximum size"}, wire.Options{}, "the conversation is larger than the server at HOST accepts (413)"},
		{"429", testmodel.Reply{Status: 429, Error: "You exceeded your current quota"}, wire.Options{Retries: -1}, "the server at HOST accepts no more requests for now (429): You exceeded your current quota"},
		{"429 for long", testmodel.Reply{Status: 429, RetryAfter: "86400"}, wire.Options{}, "the server at HOST accepts no more requests for now (429)"},
		{"429 until a day", testmodel.Reply{Status: 429, RetryAfter: "Fri, 31 Dec 2199 23:59:59 GMT"}, wire.Options{}, "the server at HOST accepts no more requests for now (429)"},
		{"500", testmodel.Reply{Status: 500, Error: key}, wire.Options{Retries: -1}, "the server at HOST failed (500): (the key)"},
		{"529", testmodel.Reply{Status: 529, Error: key}, wire.Options{Retries: -1}, "the server at HOST failed (529): (the key)"},
		{"elsewhere", testmodel.Reply{Status: 307, Location: "http://other.example/v1", Raw: "x"}, wire.Options{}, "the server at HOST redirects to other.example, where the key is not sent: correct the base URL"},
	}, p.Failures...) {
		t.Run(c.Name, func(t *testing.T) {
			s := p.Server(t, c.Reply)
			c.Options.Key = key
			var streamed strings.Builder
			reply, err := p.Model(t, s, c.Options).Ask(t.Context(), Hello(), func(piece string) { streamed.WriteString(piece) })
			want := strings.ReplaceAll(c.Want, "HOST", strings.TrimPrefix(s.URL(), "http://"))
			if reply != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("it says %+v, %v, want %q", reply, err, want)
			}
			if strings.Contains(err.Error(), key) || strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("it says %q", err)
			}
			if got := strings.Join(c.Reply.Text, ""); c.Reply.Status == 0 && c.Reply.Raw == "" && streamed.String() != got {
				t.Errorf("%q is streamed, want %q", streamed.String(), got)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("it is asked %d times", n)
			}
		})
	}
}

// retries tests that temporary failures are retried, and never after the first
// text.
func retries(t *testing.T, p *Provider) {
	hello := testmodel.Reply{Text: []string{"Hello"}}
	limited := testmodel.Reply{Status: 429, RetryAfter: "0"}
	busy := testmodel.Reply{Status: 503, RetryAfter: "0"}
	for _, c := range []struct {
		script  []testmodel.Reply
		retries int
		asked   int
		fails   string
	}{
		{[]testmodel.Reply{limited, busy, hello}, 0, 3, ""},
		{[]testmodel.Reply{limited, limited, limited, hello}, 0, 3, "accepts no more requests for now (429)"},
		{[]testmodel.Reply{limited, limited, limited, hello}, 3, 4, ""},
		{[]testmodel.Reply{limited, hello}, -1, 1, "accepts no more requests for now (429)"},
		{[]testmodel.Reply{{Status: 408, RetryAfter: "0"}, {Status: 409, RetryAfter: "0"}, hello}, 0, 3, ""},
		{[]testmodel.Reply{{End: testmodel.Early, Text: []string{"So"}}, hello}, 5, 1, "broke off"},
		{[]testmodel.Reply{{Status: 400}, hello}, 5, 1, "rejects"},
	} {
		s := p.Server(t, c.script...)
		reply, err := p.Model(t, s, wire.Options{Retries: c.retries}).Ask(t.Context(), Hello(), nil)
		if n := len(s.Requests()); n != c.asked {
			t.Errorf("%+v: it is asked %d times, want %d", c.script, n, c.asked)
		}
		if c.fails == "" && (err != nil || reply.Text != "Hello") || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%+v: it says %+v, %v, want %q", c.script, reply, err, c.fails)
		}
		for _, r := range s.Requests() {
			if string(r.Body) != string(s.Requests()[0].Body) {
				t.Errorf("%+v: another attempt sends %s", c.script, r.Body)
			}
		}
	}
}

// unreachable: no server listens.
func unreachable(t *testing.T, p *Provider) {
	m, err := p.New(wire.Options{BaseURL: "http://user:secret@127.0.0.1:1/v1?token=secret", Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Ask(t.Context(), Hello(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), p.Name+" cannot be reached at 127.0.0.1:1: dial tcp") || strings.Contains(err.Error(), "secret") {
		t.Errorf("it says %v", err)
	}
}

// cancels: the end of a context ends a request, with its cause.
func cancels(t *testing.T, p *Provider) {
	why := errors.New("the user wants so")
	for _, reply := range []testmodel.Reply{
		{End: testmodel.Mute},
		{Text: []string{"So"}, End: testmodel.Hang},
		{Status: 503, RetryAfter: "60"},
	} {
		s := p.Server(t, reply)
		ctx, cancel := context.WithCancelCause(t.Context())
		if len(reply.Text) == 0 {
			go func() {
				for len(s.Requests()) == 0 {
					time.Sleep(time.Millisecond)
				}
				cancel(why)
			}()
		}
		_, err := p.Model(t, s, wire.Options{}).Ask(ctx, Hello(), func(string) { cancel(why) })
		if err != why {
			t.Errorf("it ends with %v", err)
		}
	}
}

// news tests that New rejects invalid options.
func news(t *testing.T, p *Provider) {
	t.Setenv(p.KeyVar, key)
	for _, c := range []struct {
		o    wire.Options
		want string
	}{
		{wire.Options{}, "no key for " + p.Name + ": set the variable " + p.KeyVar},
		{wire.Options{BaseURL: p.URL}, "no key for " + p.Name},
		{wire.Options{Key: " " + key + "\n"}, ""},
		{wire.Options{Key: key + "\nsecret"}, "the key for " + p.Name + " has invalid characters"},
		{wire.Options{BaseURL: "localhost:11434"}, "the base URL for " + p.Name + " is not an http or https address"},
		{wire.Options{BaseURL: "http://:secret"}, "the base URL for " + p.Name + " is not an http or https address"},
		{wire.Options{BaseURL: "http://localhost:11434/v1"}, ""},
	} {
		m, err := p.New(c.o)
		if (err == nil) != (c.want == "") || err != nil && (!strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
		if (m == nil) != (err != nil) {
			t.Errorf("%+v: the model is %v with the error %v", c.o, m, err)
		}
	}
	m, err := p.New(wire.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%+v %#v", m, m); strings.Contains(s, key) {
		t.Errorf("it is printed as %s", s)
	}
	r := Hello()
	r.ModelID = ""
	if _, err := m.Ask(t.Context(), r, nil); err == nil || err.Error() != "no model of "+p.Name+" was selected" {
		t.Errorf("no model: %v", err)
	}
}

// environment: only the key that the caller gives is sent.
func environment(t *testing.T, p *Provider) {
	for name, value := range p.Stray {
		t.Setenv(name, value)
	}
	for _, given := range []string{"", key} {
		s := p.Server(t, testmodel.Reply{Text: []string{"Hello"}})
		s.Key = given
		if _, err := p.Model(t, s, wire.Options{Key: given}).Ask(t.Context(), Hello(), nil); err != nil {
			t.Fatal(err)
		}
		for name, values := range s.Requests()[0].Header {
			if all := strings.Join(values, " "); strings.Contains(all, "stray") || given == "" && (name == "Authorization" || name == "X-Api-Key") {
				t.Errorf("%s is %q", name, values)
			}
		}
	}
}

// turns tests that the API accepts each request of a random turn.
func turns(t *testing.T, p *Provider) {
	s := p.Server(t)
	s.Answer = func(*testmodel.Request) testmodel.Reply { return testmodel.Reply{Text: []string{"Hello"}} }
	m := p.Model(t, s, wire.Options{})
	asked := 0
	for seed := range uint64(12) {
		turnwalk.Walk(seed, 60, func(r *model.Request) {
			_, err := m.Ask(t.Context(), r, nil)
			if err == nil {
				asked++
				return
			}
			if !strings.Contains(err.Error(), "to answer") { // an empty prompt
				all, _ := json.Marshal(r.Messages)
				t.Fatalf("%v\n%s", err, all)
			}
		})
	}
	if asked < 100 || len(s.Problems()) > 0 {
		t.Errorf("it is asked %d times, %q", asked, s.Problems())
	}
}
