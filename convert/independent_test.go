package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestIndependentCounts compares the results of the readers for each file of testdata, and
// of the folder $BOUGH_SAMPLES, with those of a second reader. The second reader uses only
// encoding/json and maps, derives the format from the name of the folder, and applies the
// rules in the comments of its functions.
//
// It compares the messages, the leaves and the texts of users and models: no text is lost
// and none is invented. For a truncated document it only verifies that no text is invented.
func TestIndependentCounts(t *testing.T) {
	files := map[string]int{}
	for _, dir := range []string{"testdata", os.Getenv("BOUGH_SAMPLES")} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			name := filepath.Base(filepath.Dir(path))
			if strings.HasPrefix(d.Name(), "claudeai-") {
				name = "claude-ai"
			}
			name = strings.TrimSuffix(name, "-messages")
			ext := filepath.Ext(path)
			count := rawCounters[name]
			if err != nil || d.IsDir() || count == nil || ext != ".json" && ext != ".jsonl" && ext != ".txtar" {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if ext == ".txtar" {
				data = txtar.Parse(data).Files[0].Data
			}
			files[name]++
			t.Run(name+"/"+d.Name(), func(t *testing.T) { compareRaw(t, name, data, count) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range rawCounters {
		if files[name] == 0 {
			t.Errorf("no file of %s", name)
		}
	}
	t.Logf("files: %v", files)
}

func compareRaw(t *testing.T, name string, data []byte, count func([]byte) *rawCount) {
	f, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := f.ReadAll(bytes.NewReader(data))
	if err != nil && !errors.Is(err, ErrNothing) {
		t.Fatal(err)
	}
	want := count(bytes.TrimPrefix(data, []byte("\ufeff")))
	messages, ends := 0, 0
	texts := map[string]int{}
	for _, conversation := range list {
		messages += len(conversation.Messages)
		known, followed := map[string]bool{}, map[string]bool{}
		for _, m := range conversation.Messages {
			known[m.ID] = true
		}
		for _, m := range conversation.Messages {
			parent := m.Parent
			if !known[parent] {
				parent = m.Joined
			}
			followed[parent] = true
			for _, p := range m.Parts {
				if p.Type == "text" && strings.TrimSpace(p.Text) != "" {
					texts[p.Text]++
				}
			}
		}
		for _, m := range conversation.Messages {
			if !followed[m.ID] && !want.aside[m.ID] {
				ends++
			}
		}
	}
	t.Logf("%d messages, %d ends, %d texts", messages, ends, len(texts))
	if want.torn {
		for text := range texts {
			quoted, _ := json.Marshal(text)
			if !bytes.Contains(data, quoted[1:len(quoted)-1]) {
				t.Errorf("the reader invents %.80q", text)
			}
		}
		return
	}
	if want.messages >= 0 && messages != want.messages {
		t.Errorf("the reader returns %d messages, the file has %d", messages, want.messages)
	}
	if want.ends >= 0 && ends != want.ends {
		t.Errorf("the reader returns %d leaves, the file has %d", ends, want.ends)
	}
	for text, n := range want.texts {
		if got := texts[text]; got != n && (!want.once || got == 0) {
			t.Errorf("the reader returns it %d times, the file has it %d times: %.80q", got, n, text)
		}
	}
	for text, n := range texts {
		if want.texts[text] == 0 && !(want.derived != nil && want.derived(text)) {
			t.Errorf("the reader invents, %d times: %.80q", n, text)
		}
	}
}

// rawCounters are the second readers, by the names of the formats.
var rawCounters = map[string]func([]byte) *rawCount{
	"pi": rawPi, "claude-code": rawClaude, "codex": rawCodex, "gemini": rawGemini, "opencode": rawOpenCode,
	"chatgpt": rawChatGPT, "claude-ai": rawClaudeAI, "oasst": rawOasst, "openai": rawRequests, "anthropic": rawRequests,
	"open-webui": rawOpenWebUI, "copilot-cli": rawCopilot, "cline": rawCline, "librechat": rawLibreChat,
	"messages": rawRequests, "sharegpt": rawShareGPT, "ai-sdk": rawAISDK, "qwen-code": rawQwen, "sillytavern": rawSillyTavern, "amp": rawAmp,
	"copilot-chat": rawCopilotChat, "goose": rawGoose, "antigravity": rawAntigravity,
}

// A rawCount is the result of the second reader for a file.
type rawCount struct {
	messages, ends int // -1 if only the texts count
	texts          map[string]int
	once           bool // texts count once
	torn           bool
	aside          map[string]bool   // the ids of messages whose leaves do not count
	derived        func(string) bool // texts that a reader may derive from others, nil for none
}

func newRawCount() *rawCount {
	return &rawCount{texts: map[string]int{}, aside: map[string]bool{}}
}

func (c *rawCount) says(texts ...string) {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			c.texts[s]++
		}
	}
}

// A rawNode is a record of a tree. Messages is the number of messages that it becomes, one
// after the other; a record with none is skipped.
type rawNode struct {
	id, parent string
	messages   int
}

// tree adds the messages and leaves of nodes. The first node with an id counts. A cycle
// begins at its first node in the file.
func (c *rawCount) tree(nodes []rawNode) {
	at := map[string]int{}
	for i, n := range nodes {
		c.messages += n.messages
		if _, taken := at[n.id]; !taken && n.id != "" {
			at[n.id] = i
		}
	}
	up := make([]int, len(nodes))
	for i, n := range nodes {
		up[i] = -1
		if p, known := at[n.parent]; known && n.parent != "" {
			up[i] = p
		}
	}
	for i := range nodes {
		for p, n := up[i], 0; p >= 0 && n <= len(nodes); p, n = up[p], n+1 {
			if p == i {
				up[i] = -1
				break
			}
		}
	}
	followed := map[int]bool{}
	for i := range nodes {
		if nodes[i].messages == 0 {
			continue
		}
		p := up[i]
		for p >= 0 && nodes[p].messages == 0 {
			p = up[p]
		}
		followed[p] = true
	}
	for i, n := range nodes {
		if n.messages > 0 && !followed[i] {
			c.ends++
		}
	}
}

func rawGet(v any, names ...string) any {
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func rawString(v any, names ...string) string {
	s, _ := rawGet(v, names...).(string)
	return s
}

func rawList(v any, names ...string) []any {
	list, _ := rawGet(v, names...).([]any)
	return list
}

// rawLines returns the objects of a file with one object per line.
func rawLines(data []byte) (list []map[string]any) {
	for _, line := range bytes.Split(data, []byte("\n")) {
		var v map[string]any
		if json.Unmarshal(line, &v) == nil && v != nil {
			list = append(list, v)
		}
	}
	return list
}

// rawTexts returns content that is a string, or the texts of its blocks.
func rawTexts(said any) (texts []string) {
	if s, ok := said.(string); ok {
		return []string{s}
	}
	list, _ := said.([]any)
	for _, b := range list {
		switch kind := rawString(b, "type"); kind {
		case "text", "input_text", "output_text":
			texts = append(texts, rawString(b, "text"))
		}
	}
	return texts
}
