// Package testmodel is a model provider for tests: a server with the wire format of
// OpenAI's chat completions or of Anthropic's messages, including streams, that
// returns scripted replies. Only tests use it.
//
// It accepts only requests that the provider accepts, and answers others with the
// provider's error: each call has one result, directly after it, ids match, texts
// are not empty, roles and members are known, tools have schemas. The rules come
// from the providers' references and error messages.
//
//	s := testmodel.OpenAI(t, testmodel.Reply{Text: []string{"Hel", "lo"}})
//	... ask s.URL() ...
//	s.Requests()
package testmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A Reply is a server's reply to one request.
type Reply struct {
	Text   []string  // in pieces
	Before func(int) // if not nil, OpenAI's server calls it before it sends a piece of Text
	Calls  []Call
	Refuse string // OpenAI: the model's refusal; Anthropic: the reply ends in one
	Stop   string // the provider's stop reason, "" for the default

	Status     int    // not 0: an error with this status
	Kind       string // of the error: its code (OpenAI), its type (Anthropic)
	Error      string // its message; with Status 0 an error in the stream, after the fields above
	RetryAfter string // header, in seconds
	Location   string // header

	Raw   string // if not "", the raw body in place of all other fields
	Media string // of the body, "" for the default
	Plain bool   // a complete message, although a stream was requested
	End   End    // how the stream ends
}

// A Call is a tool call in a reply.
type Call struct {
	ID        string
	Name      string
	Arguments []string // in pieces
}

// An End is the way in which a stream ends.
type End int

const (
	Whole End = iota
	Half      // the connection breaks off
	Early     // the stream ends before the message does
	Hang      // the server sends nothing more until the client disconnects
	Mute      // the server sends nothing, not even a status, until the client disconnects
)

// A Request is a received request.
type Request struct {
	Path    string
	Header  http.Header
	Body    []byte
	Problem string // why the provider would refuse it, "" if it would not
}

// A Server is a provider. It is an [http.Handler] and safe for concurrent use.
type Server struct {
	Key    string                 // the required key, "" for none
	Model  string                 // the only known model, "" for any
	Answer func(r *Request) Reply // if not nil, replies after the end of the script

	form   form
	mu     sync.Mutex
	script []Reply
	asked  []*Request
	url    string
}

// A form is the wire format of a provider.
type form struct {
	path    string
	allowed func(s *Server, r *Request, body map[string]json.RawMessage) *problem
	fail    func(status int, kind, message string) any
	reply   func(w *stream, r Reply, model string)
	plain   func(r Reply, model string) any
}

// A problem is the reason why a request is refused.
type problem struct {
	status        int
	kind, message string
}

func invalid(format string, a ...any) *problem {
	return &problem{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, a...)}
}

// NewOpenAI returns a server of chat completions, at /v1/chat/completions, that
// sends the scripted replies in order.
func NewOpenAI(script ...Reply) *Server { return &Server{form: openAI, script: script} }

// NewAnthropic returns a server of messages, at /v1/messages.
func NewAnthropic(script ...Reply) *Server { return &Server{form: anthropic, script: script} }

// OpenAI starts a [NewOpenAI] server for the duration of a test.
func OpenAI(t testing.TB, script ...Reply) *Server { return NewOpenAI(script...).start(t) }

// Anthropic starts a [NewAnthropic] server for the duration of a test.
func Anthropic(t testing.TB, script ...Reply) *Server { return NewAnthropic(script...).start(t) }

func (s *Server) start(t testing.TB) *Server {
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// URL returns the address of a started server, without a path.
func (s *Server) URL() string { return s.url }

// Add appends to the script.
func (s *Server) Add(script ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

// Requests returns the requests so far, oldest first.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.asked...)
}

// Problems returns why requests were refused, in order.
func (s *Server) Problems() []string {
	var list []string
	for _, r := range s.Requests() {
		if r.Problem != "" {
			list = append(list, r.Problem)
		}
	}
	return list
}

// next records r and returns the reply to it.
func (s *Server) next(r *Request, p *problem) Reply {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	if p == nil && len(s.script) == 0 && s.Answer != nil {
		s.mu.Unlock()
		return s.Answer(r) // Answer may call Requests
	}
	defer s.mu.Unlock()
	switch {
	case p != nil:
		r.Problem = p.message
		return Reply{Status: p.status, Kind: p.kind, Error: p.message}
	case len(s.script) > 0:
		next := s.script[0]
		s.script = s.script[1:]
		return next
	}
	r.Problem = "the script of the test is over"
	return Reply{Status: http.StatusBadRequest, Kind: "invalid_request_error", Error: r.Problem}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	data, err := io.ReadAll(h.Body)
	if err != nil {
		return
	}
	r := &Request{Path: h.URL.Path, Header: h.Header.Clone(), Body: data}
	var body map[string]json.RawMessage
	var p *problem
	switch {
	case h.URL.Path != s.form.path || h.Method != http.MethodPost:
		p = &problem{http.StatusNotFound, "not_found_error", fmt.Sprintf("Invalid URL (%s %s)", h.Method, h.URL.Path)}
	case !strings.HasPrefix(h.Header.Get("Content-Type"), "application/json"):
		p = invalid("the content type is %q", h.Header.Get("Content-Type"))
	case json.Unmarshal(data, &body) != nil:
		p = invalid("We could not parse the JSON body of your request.")
	default:
		p = s.form.allowed(s, r, body)
	}
	reply := s.next(r, p)
	var model string
	json.Unmarshal(body["model"], &model)
	if reply.RetryAfter != "" {
		w.Header().Set("Retry-After", reply.RetryAfter)
	}
	if reply.Location != "" {
		w.Header().Set("Location", reply.Location)
	}
	out := &stream{w: w}
	media := func(fits string) {
		if reply.Media != "" {
			fits = reply.Media
		}
		w.Header().Set("Content-Type", fits)
	}
	switch {
	case reply.End == Mute:
		<-h.Context().Done()
		return
	case reply.Raw != "":
		media("text/event-stream")
		if reply.Status != 0 {
			w.WriteHeader(reply.Status)
		}
		out.raw(reply.Raw)
	case reply.Status != 0:
		media("application/json")
		w.WriteHeader(reply.Status)
		json.NewEncoder(w).Encode(s.form.fail(reply.Status, reply.Kind, reply.Error))
	case reply.Plain || string(body["stream"]) != "true":
		media("application/json")
		json.NewEncoder(w).Encode(s.form.plain(reply, model))
	default:
		media("text/event-stream; charset=utf-8")
		s.form.reply(out, reply, model)
	}
	switch reply.End {
	case Half:
		panic(http.ErrAbortHandler)
	case Hang:
		<-h.Context().Done()
	}
}

// A stream is a stream of server-sent events.
type stream struct{ w http.ResponseWriter }

func (s *stream) raw(text string) {
	io.WriteString(s.w, text)
	s.w.(http.Flusher).Flush()
}

// event sends an event, unnamed if name is "".
func (s *stream) event(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	s.raw(name + "data: " + string(data) + "\n\n")
}

// An object is a JSON object.
type object = map[string]any

// members returns the members of an object, and a problem if raw is not an object
// or has members that are not allowed.
func members(at string, raw json.RawMessage, allowed ...string) (map[string]json.RawMessage, *problem) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, invalid("%s: Input should be an object", at)
	}
	for name := range m {
		ok := false
		for _, a := range allowed {
			ok = ok || a == name
		}
		if !ok {
			return nil, invalid("%s.%s: Extra inputs are not permitted", at, name)
		}
	}
	return m, nil
}

// text returns the value of a string, and whether raw is one.
func text(raw json.RawMessage) (string, bool) {
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// array returns the elements of an array, and whether raw is one.
func array(raw json.RawMessage) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err == nil && list != nil
}

// isSchema reports whether a value is a JSON Schema of an object.
func isSchema(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return false
	}
	kind, _ := text(m["type"])
	return kind == "object"
}

var _ http.Handler = (*Server)(nil)
