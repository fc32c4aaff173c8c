package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// A standIn answers in place of the providers of the assistants, in the wire formats of
// Anthropic (messages), OpenAI (responses) and Gemini, always with the same text, and
// records the requests. It accepts any request, because each release of an assistant adds
// other members. ([testmodel] has providers that reject what the real ones reject.)
type standIn struct {
	mu    sync.Mutex
	asked []asked
	other []string // other requests than for a reply, "GET /path"
	calls int      // the number of next replies that call an unknown tool
}

// An asked is a request for a reply of a model.
type asked struct {
	path string
	body string
}

// standInSays is the reply of a standIn.
const standInSays = "Said by the stand-in."

// A wire is the request and reply format of one provider.
type wire struct {
	is    func(path string) bool
	reply []string // the events: a name or "", and the data
	call  []string // the same for a call
	said  func(body string) []string
}

func wires(n int) []wire {
	id := fmt.Sprintf("standin_%d", n) // no provider gives two answers one id
	usage := `"usage":{"input_tokens":9,"output_tokens":4,"total_tokens":13}`
	text := string(must(json.Marshal(standInSays)))
	gemini := `{"candidates":[{"content":{"role":"model","parts":[{"text":` + text + `}]},"finishReason":"STOP","index":0}],` +
		`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13},"modelVersion":"stand-in"}`
	callItem := `{"type":"function_call","id":"fc_` + id + `","call_id":"call_` + id + `","name":"guess","arguments":"{\"of\":1}","status":"completed"}`
	item := `{"type":"message","id":"msg_` + id + `","role":"assistant","status":"completed","content":[{"type":"output_text","text":` + text + `,"annotations":[]}]}`
	return []wire{
		{
			is: func(path string) bool { return strings.HasSuffix(path, "/messages") },
			reply: []string{
				"message_start", `{"type":"message_start","message":{"id":"msg_` + id + `","type":"message","role":"assistant","model":"stand-in","content":[],"stop_reason":null,"stop_sequence":null,` + usage + `}}`,
				"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + text + `}}`,
				"content_block_stop", `{"type":"content_block_stop","index":0}`,
				"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},` + usage + `}`,
				"message_stop", `{"type":"message_stop"}`,
			},
			call: []string{
				"message_start", `{"type":"message_start","message":{"id":"msg_` + id + `","type":"message","role":"assistant","model":"stand-in","content":[],"stop_reason":null,"stop_sequence":null,` + usage + `}}`,
				"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_` + id + `","name":"guess","input":{}}}`,
				"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"of\":1}"}}`,
				"content_block_stop", `{"type":"content_block_stop","index":0}`,
				"message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},` + usage + `}`,
				"message_stop", `{"type":"message_stop"}`,
			},
			said: saidToAnthropic,
		},
		{
			is: func(path string) bool { return strings.HasSuffix(path, "/responses") },
			reply: []string{
				"response.created", `{"type":"response.created","response":{"id":"resp_` + id + `"}}`,
				"response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
				"response.completed", `{"type":"response.completed","response":{"id":"resp_` + id + `","status":"completed","output":[` + item + `],` + usage + `}}`,
			},
			call: []string{
				"response.created", `{"type":"response.created","response":{"id":"resp_` + id + `"}}`,
				"response.output_item.done", `{"type":"response.output_item.done","output_index":0,"item":` + callItem + `}`,
				"response.completed", `{"type":"response.completed","response":{"id":"resp_` + id + `","status":"completed","output":[` + callItem + `],` + usage + `}}`,
			},
			said: saidToOpenAI,
		},
		{
			is:    func(path string) bool { return strings.HasSuffix(path, ":streamGenerateContent") },
			reply: []string{"", gemini},
			call:  []string{"", strings.Replace(gemini, `{"text":`+text+`}`, `{"functionCall":{"id":"`+id+`","name":"guess","args":{"of":1}}}`, 1)},
			said:  saidToGemini,
		},
		{
			is:    func(path string) bool { return strings.HasSuffix(path, ":generateContent") },
			reply: []string{gemini},
			said:  saidToGemini,
		},
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// ServeHTTP implements [http.Handler].
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range wires(len(s.asked)) {
		if r.Method != http.MethodPost || !f.is(r.URL.Path) {
			continue
		}
		s.asked = append(s.asked, asked{r.URL.Path, string(body)})
		reply := f.reply
		if s.calls > 0 && f.call != nil {
			s.calls--
			reply = f.call
		}
		if len(reply) == 1 {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, reply[0])
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; i < len(reply); i += 2 {
			if reply[i] != "" {
				fmt.Fprintf(w, "event: %s\n", reply[i])
			}
			fmt.Fprintf(w, "data: %s\n\n", reply[i+1])
		}
		return
	}
	s.other = append(s.other, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, `{"error":{"type":"not_found_error","message":"the stand-in knows no such address"}}`)
}

// said returns the lines of the conversation in each request, as the judges of
// testdata/readers print them, the last request last.
func (s *standIn) said() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all [][]string
	for _, a := range s.asked {
		for _, f := range wires(0) {
			if f.is(a.path) {
				all = append(all, f.said(a.body))
				break
			}
		}
	}
	return all
}

// A spoken is a conversation as lines of text: see testdata/readers/said.mjs.
type spoken struct {
	lines []string
	calls map[string]int
}

// text adds a message unless the program itself generated it.
func (s *spoken) text(role, text string) {
	for _, own := range []string{
		"<system-reminder>",                                                                           // Claude Code
		"<environment_context>", "<permissions instructions>", "# AGENTS.md", "<skills_instructions>", // Codex
		"<session_context>", // Gemini
	} {
		if strings.HasPrefix(text, own) {
			return
		}
	}
	if text != "" {
		s.lines = append(s.lines, role+": "+text)
	}
}

func (s *spoken) image(role, media, data string) {
	s.lines = append(s.lines, role+" "+media+" "+data)
}

func (s *spoken) call(id, name, input string) {
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[id] = len(s.calls) + 1
	s.lines = append(s.lines, fmt.Sprintf("call %d %s %s", s.calls[id], name, input))
}

func (s *spoken) result(id, text string, failed bool) {
	word, call := "result", "?"
	if failed {
		word = "failed"
	}
	if n := s.calls[id]; n > 0 {
		call = fmt.Sprint(n)
	}
	s.lines = append(s.lines, fmt.Sprintf("%s %s: %s", word, call, text))
}

// blocks returns content that is a string or an array of blocks as an array.
func blocks(content gjson.Result, text string) []gjson.Result {
	if content.Type != gjson.String {
		return content.Array()
	}
	return []gjson.Result{gjson.Parse(`{"type":"` + text + `","text":` + content.Raw + `}`)}
}

func textOf(content gjson.Result) string {
	var texts []string
	for _, b := range blocks(content, "text") {
		switch {
		case b.Get("source.data").Exists():
			texts = append(texts, b.Get("source.media_type").String()+" "+b.Get("source.data").String())
		case b.Get("image_url").Exists():
			texts = append(texts, dataURL(b.Get("image_url").String()))
		default:
			texts = append(texts, b.Get("text").String())
		}
	}
	return strings.Join(texts, "\n")
}

// dataURL returns the media type and the data of a data URL.
func dataURL(url string) string {
	return strings.Replace(strings.TrimPrefix(url, "data:"), ";base64,", " ", 1)
}

func saidToAnthropic(body string) []string {
	var s spoken
	for _, m := range gjson.Get(body, "messages").Array() {
		role := m.Get("role").String()
		if role == "system" { // Claude Code's description of its environment
			continue
		}
		for _, b := range blocks(m.Get("content"), "text") {
			switch kind := b.Get("type").String(); kind {
			case "text":
				s.text(role, b.Get("text").String())
			case "thinking":
				s.text(role+" thinks", b.Get("thinking").String())
			case "image":
				s.image(role, b.Get("source.media_type").String(), b.Get("source.data").String())
			case "tool_use":
				s.call(b.Get("id").String(), b.Get("name").String(), b.Get("input").Raw)
			case "tool_result":
				s.result(b.Get("tool_use_id").String(), textOf(b.Get("content")), b.Get("is_error").Bool())
			default:
				s.lines = append(s.lines, "a block of type "+kind)
			}
		}
	}
	return s.lines
}

func saidToOpenAI(body string) []string {
	var s spoken
	for _, m := range gjson.Get(body, "input").Array() {
		switch kind := m.Get("type").String(); kind {
		case "message", "":
			role := m.Get("role").String()
			if role == "developer" || role == "system" {
				continue
			}
			for _, b := range blocks(m.Get("content"), "input_text") {
				switch kind := b.Get("type").String(); kind {
				case "input_text", "output_text":
					s.text(role, b.Get("text").String())
				case "input_image":
					s.lines = append(s.lines, role+" "+dataURL(b.Get("image_url").String()))
				default:
					s.lines = append(s.lines, "a block of type "+kind)
				}
			}
		case "reasoning":
			for _, b := range m.Get("summary").Array() {
				s.text("assistant thinks", b.Get("text").String())
			}
		case "function_call":
			s.call(m.Get("call_id").String(), m.Get("name").String(), m.Get("arguments").String())
		case "custom_tool_call":
			s.call(m.Get("call_id").String(), m.Get("name").String(), m.Get("input").String())
		case "function_call_output", "custom_tool_call_output":
			s.result(m.Get("call_id").String(), textOf(m.Get("output")), false)
		default:
			s.lines = append(s.lines, "an item of type "+kind)
		}
	}
	return s.lines
}

func saidToGemini(body string) []string {
	var s spoken
	for _, m := range gjson.Get(body, "contents").Array() {
		role := m.Get("role").String()
		if role == "model" {
			role = "assistant"
		}
		for i, p := range m.Get("parts").Array() {
			switch call, result := p.Get("functionCall"), p.Get("functionResponse"); {
			case call.Exists():
				s.call(call.Get("id").String(), call.Get("name").String(), call.Get("args").Raw)
			case result.Exists():
				s.result(result.Get("id").String(), result.Get("response.output").String()+result.Get("response.error").String(), result.Get("response.error").Exists())
			case p.Get("inlineData").Exists():
				s.image(role, p.Get("inlineData.mimeType").String(), p.Get("inlineData.data").String())
			case p.Get("thought").Bool():
				s.text(role+" thinks", p.Get("text").String())
			case p.Get("text").Exists():
				s.text(role, p.Get("text").String())
			default:
				s.lines = append(s.lines, fmt.Sprintf("part %d: %s", i, p.Raw))
			}
		}
	}
	return s.lines
}
