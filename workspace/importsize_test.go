package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
)

// A scribe generates transcripts with realistic records: texts, tool calls, results, and
// additional fields. Each run generates the same ones.
type scribe struct {
	random *rand.Rand
	bytes.Buffer
	n int
}

func newScribe() *scribe { return &scribe{random: rand.New(rand.NewPCG(7, 11))} }

// text returns a random text of about from to to bytes, as JSON.
func (s *scribe) text(from, to int) string {
	words := strings.Fields("the parser reads a line and returns its key with the value \"quoted\" or not; über naïve\tfunc main() { return nil } /home/dev/project/internal/ini/parse.go error: 3 != 4")
	var b strings.Builder
	for most := from + s.random.IntN(to-from); b.Len() < most; {
		b.WriteString(words[s.random.IntN(len(words))])
		b.WriteByte(" \n"[min(s.random.IntN(9)/8, 1)])
	}
	quoted, err := json.Marshal(b.String())
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

func (s *scribe) id() string {
	s.n++
	return fmt.Sprintf("%08x-%04x-4000-8000-%012x", s.random.Uint32(), s.n, s.random.Uint64()>>16)
}

func (s *scribe) at() string {
	return fmt.Sprintf("2026-01-01T%02d:%02d:%02d.%03dZ", s.n/3600%24, s.n/60%60, s.n%60, s.random.IntN(1000))
}

func (s *scribe) print(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// claudeCode writes turns with two tool calls. The result of a call is in the message and
// beside it.
func (s *scribe) claudeCode(turns int) {
	parent := "null"
	begin := func() string {
		id := s.id()
		s.print(`{"parentUuid":%s,"isSidechain":false,"userType":"external","cwd":"/home/dev/project","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.0","gitBranch":"main",`, parent)
		parent = `"` + id + `"`
		return id
	}
	answer := func(block string) {
		id := begin()
		s.print(`"message":{"model":"claude-sonnet-4-20250514","id":"msg_%.24s","type":"message","role":"assistant","content":[%s],"stop_reason":"tool_use","stop_sequence":null,`+
			`"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation":{"ephemeral_5m_input_tokens":304,"ephemeral_1h_input_tokens":0},"output_tokens":30,"service_tier":"standard"}},`+
			`"requestId":"req_%.24s","type":"assistant","uuid":"%s","timestamp":"%s"}`+"\n", id, block, s.n, 100*s.n, 1000*s.n, id, id, s.at())
	}
	for range turns {
		id := begin()
		s.print(`"type":"user","message":{"role":"user","content":%s},"uuid":"%s","timestamp":"%s"}`+"\n", s.text(100, 800), id, s.at())
		for range 2 {
			call := "toolu_" + s.id()[:24]
			answer(fmt.Sprintf(`{"type":"text","text":%s}`, s.text(200, 1500)))
			answer(fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"Bash","input":{"command":%s,"description":%s}}`, call, s.text(60, 400), s.text(30, 60)))
			result := s.text(400, 4000)
			id := begin()
			s.print(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s,"is_error":false}]},"uuid":"%s","timestamp":"%s","toolUseResult":{"stdout":%s,"stderr":"","interrupted":false,"isImage":false}}`+"\n",
				call, result, id, s.at(), result)
		}
		answer(fmt.Sprintf(`{"type":"text","text":%s}`, s.text(400, 2500)))
	}
}

// codex writes turns whose texts are in an event and in an item.
func (s *scribe) codex(turns int) {
	line := func(kind, payload string) {
		s.print(`{"timestamp":"%s","type":"%s","payload":%s}`+"\n", s.at(), kind, payload)
	}
	line("session_meta", `{"id":"019b7000-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/dev/project","originator":"codex_cli_rs","cli_version":"0.60.0"}`)
	for range turns {
		s.id()
		prompt := s.text(100, 800)
		line("turn_context", `{"cwd":"/home/dev/project","approval_policy":"on-request","sandbox_policy":{"mode":"workspace-write","network_access":false},"model":"gpt-5.1-codex","effort":"medium","summary":"auto"}`)
		line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+prompt+`}]}`)
		line("event_msg", `{"type":"user_message","message":`+prompt+`,"images":[]}`)
		for range 2 {
			call := "call_" + s.id()[:24]
			thought := s.text(60, 300)
			line("event_msg", `{"type":"agent_reasoning","text":`+thought+`}`)
			line("response_item", `{"type":"reasoning","summary":[{"type":"summary_text","text":`+thought+`}],"content":null,"encrypted_content":"gAAAA`+strings.Repeat(s.id(), 12)+`"}`)
			arguments, _ := json.Marshal(`{"command":["bash","-lc",` + s.text(60, 400) + `],"workdir":"/home/dev/project"}`)
			line("response_item", fmt.Sprintf(`{"type":"function_call","name":"shell","arguments":%s,"call_id":"%s"}`, arguments, call))
			line("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"%s","output":%s}`, call, s.text(400, 4000)))
			line("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":120,"reasoning_output_tokens":64,"total_tokens":%[1]d},"last_token_usage":{"input_tokens":%[1]d,"cached_input_tokens":%[2]d,"output_tokens":120,"reasoning_output_tokens":64,"total_tokens":%[1]d},"model_context_window":272000},"rate_limits":{"primary":{"used_percent":4.0,"window_minutes":300,"resets_at":1763702400},"secondary":null}}`, 1000*s.n, 900*s.n))
		}
		said := s.text(400, 2500)
		line("event_msg", `{"type":"agent_message","message":`+said+`}`)
		line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":`+said+`}]}`)
	}
}

// gemini writes turns in which one record has the calls with their results.
func (s *scribe) gemini(turns int) {
	s.print(`{"sessionId":"11111111-2222-4333-8444-555555555555","projectHash":"7e8989f71805c3147f6be9b7a71de2a156f8face69f9380beeeb8a777414f21c","startTime":"2026-01-01T00:00:00.000Z","lastUpdated":"2026-01-01T00:00:00.000Z","kind":"main"}` + "\n")
	for range turns {
		s.print(`{"id":"%s","timestamp":"%s","type":"user","content":[{"text":%s}]}`+"\n", s.id(), s.at(), s.text(100, 800))
		for range 2 {
			call := "run_shell_command-" + s.id()[:24]
			result := s.text(400, 4000)
			s.print(`{"id":"%s","timestamp":"%s","type":"gemini","content":%s,"thoughts":[{"subject":"Reading","description":%s,"timestamp":"%[2]s"}],"tokens":{"input":%[5]d,"output":105,"cached":2558,"thoughts":153,"tool":0,"total":%[5]d},"model":"gemini-2.5-pro",`,
				s.id(), s.at(), s.text(200, 1500), s.text(100, 400), 1000*s.n)
			s.print(`"toolCalls":[{"id":"%s","name":"run_shell_command","args":{"command":%s},"result":[{"functionResponse":{"id":"%[1]s","name":"run_shell_command","response":{"output":%[3]s}}}],"status":"success","timestamp":"%[4]s","resultDisplay":%[3]s,"displayName":"Shell","description":%[5]s}]}`+"\n",
				call, s.text(60, 400), result, s.at(), s.text(60, 300))
		}
		s.print(`{"id":"%s","timestamp":"%s","type":"gemini","content":%s,"thoughts":[],"tokens":null,"model":"gemini-2.5-pro"}`+"\n", s.id(), s.at(), s.text(400, 2500))
	}
}

// chatGPT writes an export of ChatGPT's web service, with characters beyond ASCII escaped.
func (s *scribe) chatGPT(turns int) {
	s.print(`[{"title": "Parser", "create_time": 1767225600.0, "update_time": 1767225900.0, "mapping": {"root": {"id": "root", "message": null, "parent": null, "children": []}`)
	parent := "root"
	ascii := func(quoted string) string {
		var b strings.Builder
		for _, r := range quoted {
			if r < 0x80 {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
		return b.String()
	}
	for n := range 2 * turns {
		id, role, text, metadata := s.id(), "user", s.text(100, 1200), `{"serialization_metadata": {"custom_symbol_offsets": []}, "request_id": "`+s.id()+`", "message_source": null, "turn_exchange_id": "`+s.id()+`"}`
		if n%2 == 1 {
			role, text = "assistant", s.text(800, 5000)
			metadata = `{"citations": [], "content_references": [], "message_type": "next", "model_slug": "gpt-5-1", "default_model_slug": "gpt-5-1", "parent_id": "` + parent + `", "finish_details": {"type": "stop", "stop_tokens": [200002]}, "is_complete": true, "request_id": "` + s.id() + `"}`
		}
		s.print(`, "%s": {"id": "%[1]s", "message": {"id": "%[1]s", "author": {"role": "%[2]s", "name": null, "metadata": {}}, "create_time": %[3]d.25, "update_time": null, "content": {"content_type": "text", "parts": [%[4]s]}, "status": "finished_successfully", "end_turn": true, "weight": 1.0, "metadata": %[5]s, "recipient": "all", "channel": null}, "parent": "%[6]s", "children": []}`,
			id, role, 1767225600+s.n, ascii(text), metadata, parent)
		parent = id
	}
	s.print(`}, "moderation_results": [], "current_node": "%s", "plugin_ids": null, "conversation_id": "11111111-2222-4333-8444-555555555555", "id": "11111111-2222-4333-8444-555555555555"}]`, parent)
}

// pi writes turns with two calls.
func (s *scribe) pi(turns int) {
	s.print(`{"type":"session","version":3,"id":"01a1f7db-8659-7469-ac47-c17ebe901e94","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/dev/project"}` + "\n")
	parent := "null"
	message := func(text string) {
		id := s.id()[:8]
		s.print(`{"type":"message","id":"%s","parentId":%s,"timestamp":"%s","message":%s}`+"\n", id, parent, s.at(), text)
		parent = `"` + id + `"`
	}
	answer := func(parts string) {
		message(`{"role":"assistant","content":[` + parts + fmt.Sprintf(`],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":%d,"output":191,"cacheRead":%d,"cacheWrite":1684,"totalTokens":%[1]d,"cost":{"input":0.000009,"output":0.002865,"cacheRead":0,"cacheWrite":0.006315,"total":0.009189}},"stopReason":"toolUse","timestamp":1763681630793}`, s.n, 10*s.n))
	}
	for range turns {
		message(`{"role":"user","content":[{"type":"text","text":` + s.text(100, 800) + `}],"timestamp":1763681630791}`)
		for range 2 {
			call := "toolu_" + s.id()[:24]
			answer(fmt.Sprintf(`{"type":"thinking","thinking":%s,"thinkingSignature":"%s"},{"type":"text","text":%s},{"type":"toolCall","id":"%s","name":"bash","arguments":{"command":%s}}`,
				s.text(100, 600), strings.Repeat(s.id(), 8), s.text(200, 1500), call, s.text(60, 400)))
			message(fmt.Sprintf(`{"role":"toolResult","toolCallId":"%s","toolName":"bash","content":[{"type":"text","text":%s}],"isError":false,"timestamp":1763681634589}`, call, s.text(400, 4000)))
		}
		answer(`{"type":"text","text":` + s.text(400, 2500) + `}`)
	}
}

// TestImportSize: an imported history is little larger than its transcript, with all its
// records.
func TestImportSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		write  func(s *scribe, turns int)
		most   float64
	}{
		{"claude-code", (*scribe).claudeCode, 1.2},
		{"codex", (*scribe).codex, 1.2},
		{"gemini", (*scribe).gemini, 1.2},
		{"chatgpt", (*scribe).chatGPT, 1.2},
		{"pi", (*scribe).pi, 1.2},
	} {
		t.Run(c.format, func(t *testing.T) {
			s := newScribe()
			c.write(s, testsize.Of(12, 60, 60))
			w := openSpace(t, t.TempDir(), 0)
			list, err := w.Import(t.Context(), []string{"-"}, imports.Options{Stdin: bytes.NewReader(s.Bytes())})
			if err != nil || len(list.Imported) != 1 || list.Imported[0].Format != c.format || len(list.Imported[0].Problems) > 0 {
				t.Fatalf("import: %+v, %v", list, err)
			}
			size := len(w.read(session.FileName(string(list.Imported[0].Session))))
			ratio := float64(size) / float64(s.Len())
			t.Logf("%d bytes in %d messages become %d: %.3f", s.Len(), list.Imported[0].Messages, size, ratio)
			if ratio > c.most {
				t.Errorf("%d bytes of a transcript become %d: %.3f times as many, want at most %g", s.Len(), size, ratio, c.most)
			}
		})
	}
}
