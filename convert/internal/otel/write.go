// Package otel writes traces of OpenTelemetry, in the JSON of its protocol, by which programs
// that observe and measure agents receive them: a span for the conversation, and in it one for
// each answer of a model, with the messages since the answer before, and one for each tool that
// was called.
//
// The attributes are those of the semantic conventions for generative AI, version 1.41.0:
// docs/gen-ai/gen-ai-spans.md, gen-ai-agent-spans.md, gen-ai-input-messages.json and
// gen-ai-output-messages.json in the repository open-telemetry/semantic-conventions. The form of
// a trace is that of opentelemetry/proto/trace/v1/trace.proto in open-telemetry/opentelemetry-proto.
package otel

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/provider"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
)

const schema = "https://opentelemetry.io/schemas/1.41.0"

type traces struct {
	Resources []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource resource     `json:"resource"`
	Scopes   []scopeSpans `json:"scopeSpans"`
	Schema   string       `json:"schemaUrl"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope  scope   `json:"scope"`
	Spans  []*span `json:"spans"`
	Schema string  `json:"schemaUrl"`
}

type scope struct {
	Name string `json:"name"`
}

// A span is something that took time. The kinds are internal and client, of a request.
type span struct {
	Trace      string      `json:"traceId"`
	ID         string      `json:"spanId"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     *status     `json:"status,omitempty"`
}

const (
	internal = 1
	client   = 3
)

type status struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const failed = 2

type attribute struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

// A value is a text or a list of texts.
type value struct {
	Text *string `json:"stringValue,omitempty"`
	List *list   `json:"arrayValue,omitempty"`
}

type list struct {
	Values []value `json:"values"`
}

// set adds an attribute, unless it is empty.
func (s *span) set(key, text string) {
	if text != "" {
		s.Attributes = append(s.Attributes, attribute{key, value{Text: &text}})
	}
}

// A message is one of the input or, with the reason for its end, of the output.
type message struct {
	Role   string `json:"role"`
	Name   string `json:"name,omitempty"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

// A part is a part of a message of any type.
type part struct {
	Type      string          `json:"type"`
	Content   *string         `json:"content,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Response  *string         `json:"response,omitempty"`
	MIME      string          `json:"mime_type,omitempty"`
	Modality  string          `json:"modality,omitempty"`
	URI       string          `json:"uri,omitempty"`
}

// Write writes a path as a trace.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, "otel")
	lost.Conversation(t, report.LostTitles, report.LostDirs)
	s := newWriter(t, o, lost)
	for _, m := range t.Messages {
		s.message(m)
	}
	if s.input != nil {
		s.request(s.at, s.model, "", nil)
	}
	s.root.Start, s.root.End = nanoseconds(s.began), nanoseconds(s.at)
	about := &span{}
	about.set("service.name", s.agent)
	about.set("service.version", t.Version)
	about.set("process.working_directory", t.Dir)
	_, err := out.Write(append(rawjson.Compact(traces{[]resourceSpans{{
		resource{about.Attributes}, []scopeSpans{{scope{"bough"}, s.spans, schema}}, schema,
	}}}), '\n'))
	return err
}

// A call is a call of a tool without a result.
type call struct {
	name string
	at   time.Time
}

type writer struct {
	lost         *report.Report
	spans        []*span
	root         *span
	conversation string
	agent, model string
	input        []message // since the last answer
	inputAt      time.Time // of the first of these
	began, at    time.Time // of the conversation and of the last message
	calls        map[string]call
}

func newWriter(t *transcript.Transcript, o transcript.Options, lost *report.Report) *writer {
	s := &writer{lost: lost, conversation: cmp.Or(o.ID, t.ID), agent: cmp.Or(t.Format, "bough"), model: t.Model, calls: map[string]call{}}
	s.began = t.Created
	for _, m := range t.Messages { // a copy of a conversation may be younger than its messages
		if !m.Time.IsZero() && (s.began.IsZero() || m.Time.Before(s.began)) {
			s.began = m.Time
		}
	}
	if s.began.IsZero() {
		s.began = o.Now
	}
	s.at, s.inputAt = s.began, s.began
	s.root = s.span("invoke_agent "+s.agent, internal, s.began)
	s.root.set("gen_ai.operation.name", "invoke_agent")
	s.root.set("gen_ai.provider.name", providerOf(t.Model))
	s.root.set("gen_ai.agent.name", s.agent)
	s.root.set("gen_ai.agent.version", t.Version)
	s.root.set("gen_ai.conversation.id", s.conversation)
	s.root.set("gen_ai.request.model", t.Model)
	s.root.set("bough.title", t.Title)
	return s
}

// providerOf returns the name of a model's provider.
func providerOf(model string) string {
	of := provider.Of(model)
	if of == "google" {
		return "gcp.gen_ai"
	}
	return cmp.Or(of, "unknown")
}

// nanoseconds returns a time as a trace has it, in nanoseconds since 1970 with 64 bits: the nearest
// one from 1970 to 2554.
func nanoseconds(t time.Time) string {
	const last = math.MaxUint64/uint64(time.Second) - 1
	return strconv.FormatUint(min(uint64(max(t.Unix(), 0)), last)*uint64(time.Second)+uint64(t.Nanosecond()), 10)
}

// span adds a span that ends now.
func (s *writer) span(name string, kind int, began time.Time) *span {
	hash := func(n int, of string) string {
		sum := sha256.Sum256([]byte(of))
		return hex.EncodeToString(sum[:n])
	}
	n := &span{
		Trace: hash(16, s.conversation), ID: hash(8, s.conversation+" "+strconv.Itoa(len(s.spans))),
		Name: name, Kind: kind, Start: nanoseconds(began), End: nanoseconds(s.at),
	}
	if s.root != nil {
		n.Parent = s.root.ID
	}
	s.spans = append(s.spans, n)
	return n
}

// request adds the span of a request to a model, with the messages before it and the answer, if
// there is one.
func (s *writer) request(began time.Time, model, finish string, answer *message) {
	n := s.span(strings.TrimSpace("chat "+model), client, began)
	n.set("gen_ai.operation.name", "chat")
	n.set("gen_ai.provider.name", providerOf(model))
	n.set("gen_ai.conversation.id", s.conversation)
	n.set("gen_ai.request.model", model)
	if s.input != nil {
		n.set("gen_ai.input.messages", string(rawjson.Compact(s.input)))
		s.input = nil
	}
	if answer != nil {
		n.set("gen_ai.output.messages", string(rawjson.Compact([]message{*answer})))
		n.Attributes = append(n.Attributes, attribute{"gen_ai.response.finish_reasons", value{List: &list{[]value{{Text: &finish}}}}})
	}
}

// message adds the spans of a message of a model, or of its results, and keeps any other message
// for the next request.
func (s *writer) message(m *transcript.Message) {
	s.lost.Message(m, report.LostTimes, report.LostModels, report.LostNames, report.LostSystem)
	before := s.at
	if m.Time.After(s.at) {
		s.at = m.Time
	}
	said, results := message{Role: "user", Name: m.Own.Name}, message{Role: "tool"}
	switch {
	case m.Role == "assistant":
		said.Role, said.Finish = "assistant", "stop"
	case m.Own.Role != "":
		said.Role = "system"
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		if p.Type == content.TypeToolResult {
			s.lost.Extras(p)
			s.result(c)
			results.Parts = append(results.Parts, part{Type: "tool_call_response", ID: c.ID, Response: &p.Text})
			continue
		}
		if p.Type == content.TypeToolCall && c.Name != "" {
			s.calls[c.ID] = call{c.Name, s.at}
			said.Finish = "tool_call"
		}
		if list := s.part(p, m.Role == "assistant"); list != nil {
			said.Parts = append(said.Parts, *list)
		}
	}
	if len(results.Parts) > 0 {
		s.keep(results)
	}
	switch {
	case len(said.Parts) == 0:
		s.lost.Count(report.LostMessages, len(results.Parts) == 0)
	case m.Role == "assistant":
		model := cmp.Or(m.Model, s.model)
		began := before
		if s.input != nil {
			began = s.inputAt
		}
		s.request(began, model, said.Finish, &said)
		return
	default:
		said.Finish = ""
		s.keep(said)
	}
	s.lost.Count(report.LostModels, m.Model != "")
}

// keep keeps a message for the next request.
func (s *writer) keep(m message) {
	if s.input == nil {
		s.inputAt = s.at
	}
	s.input = append(s.input, m)
}

// result adds the span of a tool that was called, if the call is known.
func (s *writer) result(c content.Call) {
	of, known := s.calls[c.ID]
	if !known {
		s.lost.Count(report.LostFailures, c.Failed)
		return
	}
	delete(s.calls, c.ID)
	n := s.span("execute_tool "+of.name, internal, of.at)
	n.set("gen_ai.operation.name", "execute_tool")
	n.set("gen_ai.tool.name", of.name)
	n.set("gen_ai.tool.call.id", c.ID)
	n.set("gen_ai.conversation.id", s.conversation)
	if c.Failed {
		n.set("error.type", "_OTHER")
		n.Status = &status{failed, "the tool failed"}
	}
}

// part returns a part of a message, nil if nothing of it can be written.
func (s *writer) part(p *content.Part, answer bool) *part {
	c := p.Call()
	mime, data, url := p.File()
	text, isText := parts.TextFile(p)
	switch {
	case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
		return &part{Type: "text", Content: &p.Text}
	case p.Type == content.TypeThinking && answer:
		s.lost.Signature(p)
		return &part{Type: "reasoning", Content: &p.Text}
	case p.Type == content.TypeToolCall && c.Name != "":
		return &part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: parts.Arguments(c.Arguments)}
	case p.Type == content.TypeFile && isText:
		return &part{Type: "text", Content: &text}
	case isMedia(p) && data != "":
		return &part{Type: "blob", MIME: mime, Modality: p.Type, Content: &data}
	case isMedia(p) && strings.HasPrefix(url, "http"):
		return &part{Type: "uri", MIME: mime, Modality: p.Type, URI: url}
	}
	s.lost.Part(p)
	if text = parts.Text(p); text == "" {
		return nil
	}
	return &part{Type: "text", Content: &text}
}

// isMedia reports whether a part is a file, of which the type names the modality.
func isMedia(p *content.Part) bool {
	switch p.Type {
	case content.TypeImage, content.TypeAudio, content.TypeVideo, content.TypeFile:
		return true
	}
	return false
}
