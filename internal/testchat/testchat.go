// Package testchat generates long conversations in the form of the Penguin
// assistant: a chain of session files, each beginning with a copy of the headers.
// Only tests use it. Equal Chats generate equal bytes.
package testchat

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"
)

// A Chat describes a conversation to generate.
type Chat struct {
	Messages int    // in all files, without repeated headers and markers
	PerFile  int    // of those in one file
	Text     int    // approximate size of a message's content in bytes
	Odd      bool   // with NaN, numbers no float64 holds, and lone surrogates
	Seed     uint64 // also part of every id
	From     string // the session that the first file continues, "" for none
}

// A File is one session file.
type File struct {
	ID       string
	Data     []byte
	Messages []Message // without repeated headers and markers
}

// A Message is a message with its bytes in its file.
type Message struct {
	ID  string
	Raw []byte
}

// Files generates the conversation.
func (c Chat) Files() []File {
	w := &writer{Chat: c, random: rand.New(rand.NewPCG(c.Seed, 7)), now: time.Date(2026, 5, 25, 15, 32, 0, 0, time.UTC)}
	var files []File
	for from, left := c.From, c.Messages; left > 0; {
		n := min(left, c.PerFile)
		f := w.file(len(files), from, n, left == n)
		files = append(files, f)
		left -= n
		from = f.ID
	}
	return files
}

// All returns the messages of files, one after the other.
func All(files []File) []Message {
	var all []Message
	for _, f := range files {
		all = append(all, f.Messages...)
	}
	return all
}

// Write puts files into the folder conversations of the workspace dir.
func Write(dir string, files []File) error {
	dir = filepath.Join(dir, "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.ID+".json"), f.Data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

type writer struct {
	Chat
	random  *rand.Rand
	now     time.Time
	made    int // number of messages of the conversation so far
	ids     int
	markers []string // bodies of the markers so far, which headers repeat
}

func (w *writer) sessionID(file int) string {
	return fmt.Sprintf("session_20260525_153200_%04x%04x", w.Seed&0xffff, file)
}

func (w *writer) file(number int, from string, n int, last bool) File {
	f := File{ID: w.sessionID(number)}
	var header, body bytes.Buffer
	put := func(b *bytes.Buffer, raw []byte) {
		if header.Len()+body.Len() > 0 {
			b.WriteString(",\n    ")
		}
		b.Write(raw)
	}
	if from != "" {
		put(&header, w.message(prompt))
		for _, marker := range w.markers {
			put(&header, w.message(marker))
		}
		put(&header, w.message(notes))
		marker := fmt.Sprintf(transition, from, from)
		put(&header, w.message(marker))
		w.markers = append(w.markers, marker)
	}
	for range n {
		body := w.body()
		if from == "" && w.made < 2 {
			body = [...]string{prompt, notes}[w.made]
		}
		w.made++
		raw := w.message(body)
		f.Messages = append(f.Messages, Message{fmt.Sprintf("msg_%04x%06x", w.Seed&0xffff, w.ids), raw})
	}
	for _, m := range f.Messages {
		put(&body, m.Raw)
	}
	var links string
	if from != "" {
		links += fmt.Sprintf("\n    \"continued_from\": %s,\n    \"continuation_index\": 1,", quote(from))
	}
	if !last {
		links += fmt.Sprintf("\n    \"continued_to\": %s,", quote(w.sessionID(number+1)))
	}
	at := w.now.Format("2006-01-02T15:04:05.000000")
	f.Data = fmt.Appendf(nil, session, quote(f.ID), at, at, links, w.ids, header.Bytes(), body.Bytes())
	return f
}

const session = `{
  "id": %s,
  "created_at": "%s",
  "last_active": "%s",
  "metadata": {%s
    "agent_id": "default",
    "token_count": %d
  },
  "messages": [
    %s%s
  ],
  "llm_request_lifecycles": [],
  "tool_call_records": [],
  "tool_result_records": []
}`

// Bodies of messages: role, content and category, and the metadata.
const (
	prompt     = "\"role\": \"system\",\n      \"content\": \"You are a careful assistant.\",\n      \"category\": \"SYSTEM\"|{\n        \"type\": \"system_prompt\"\n      }"
	notes      = "\"role\": \"system\",\n      \"content\": \"Notes on the project.\",\n      \"category\": \"CONTEXT\"|{\n        \"source\": \"notes.md\"\n      }"
	transition = "\"role\": \"system\",\n      \"content\": \"Continuing from session %s\",\n      \"category\": \"SYSTEM\"|{\n        \"type\": \"session_transition\",\n        \"previous_session\": \"%s\",\n        \"previous_session_tokens\": 0\n      }"
)

// message formats a body with a new id and time.
func (w *writer) message(body string) []byte {
	w.ids++
	w.now = w.now.Add(time.Second + 17*time.Microsecond)
	front, metadata, _ := strings.Cut(body, "|")
	return fmt.Appendf(nil, `{
      %s,
      "id": "msg_%04x%06x",
      "timestamp": "%s",
      "metadata": %s,
      "tokens": 0,
      "agent_id": null,
      "recipient_id": null,
      "message_type": "message"
    }`, front, w.Seed&0xffff, w.ids, w.now.Format("2006-01-02T15:04:05.000000"), metadata)
}

// body generates the next message of the conversation. In every twenty, two are a
// tool call and its result.
func (w *writer) body() string {
	role, category, metadata := "user", "DIALOG", "{}"
	switch {
	case w.made%20 == 7:
		role = "assistant"
		metadata = fmt.Sprintf("{\n        \"tool_calls\": [\n          {\n            \"id\": \"call_%d\",\n            \"type\": \"function\"\n          }\n        ]\n      }", w.made)
	case w.made%20 == 8:
		role, category = "tool", "SYSTEM_OUTPUT"
		metadata = fmt.Sprintf("{\n        \"tool_call_id\": \"call_%d\"\n      }", w.made-1)
	case w.made%2 == 1:
		role = "assistant"
	}
	if w.Odd && w.made%10 == 5 {
		metadata = "{\n        \"score\": NaN, \"least\": -Infinity,\n        \"seed\": 123456789012345678901, \"rate\": 1e-07, \"text\": \"\\ud83d \"\n      }"
	}
	return fmt.Sprintf("\"role\": \"%s\",\n      \"content\": %s,\n      \"category\": \"%s\"|%s", role, quote(w.text()), category, metadata)
}

var (
	words  = strings.Fields("the branch of a conversation <b>holds</b> what came before it & nothing after, so that \"going back\" costs no more than reading on; a path is found from its leaf")
	beyond = []string{"分岐点を保存する", "保存对话的分支", "🌿🌳 👩‍💻", "line one\u2028line two", "Ünïcödé", "대화의 가지"}
)

// text generates the content of a message. One in six has non-ASCII characters.
func (w *writer) text() string {
	var b strings.Builder
	for length := w.Text/2 + w.random.IntN(w.Text+1); b.Len() < length; {
		b.WriteString(words[w.random.IntN(len(words))])
		b.WriteByte(' ')
		if w.made%6 == 0 && w.random.IntN(24) == 0 {
			b.WriteString(beyond[w.random.IntN(len(beyond))])
		}
	}
	if w.made%6 == 0 {
		b.WriteString(beyond[w.made/6%len(beyond)])
	}
	return b.String()
}

// quote returns s as a JSON string in ASCII, as Python writes it.
func quote(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r >= 0x10000:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		case r < ' ' || r > '~':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, byte(r))
		}
	}
	return string(append(b, '"'))
}
