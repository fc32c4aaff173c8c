package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testsize"
)

// A leakyFile makes a file of a program that has a secret wherever the program keeps text: what is
// there once, and what each secret has in it, divided by sep. There, $j is the text in JSON, $s the text,
// $p the text as lines of a prompt of Aider, and $n its number.
type leakyFile struct{ name, begin, each, sep, end string }

var leakyFiles = []leakyFile{
	{"amp", `{"v":9,"id":"T-019b9d03-62e3-772f-9780-3e637f90eaec","created":1767865803494,"title":"Secrets","messages":[`,
		`{"role":"user","messageId":$n0,"content":[{"type":"text","text":$j}],"meta":{"sentAt":1767865803500},"userState":{"note":$j}},
		{"role":"assistant","messageId":$n1,"content":[{"type":"thinking","thinking":$j,"signature":"s","provider":"anthropic"},{"type":"text","text":$j},{"type":"tool_use","complete":true,"id":"toolu_$n","name":"Write","input":{"content":$j}}],"state":{"type":"complete","stopReason":"tool_use"}},
		{"role":"user","messageId":$n2,"content":[{"type":"tool_result","toolUseID":"toolu_$n","run":{"status":"done","result":$j}}]}`, ",", `],"env":{"initial":{"trees":[]}}}`},
	{"antigravity", "", `{"step_index":$n0,"source":"USER_EXPLICIT","type":"USER_INPUT","status":"DONE","created_at":"2026-03-04T05:00:01Z","content":$j}
{"step_index":$n1,"source":"SYSTEM","type":"EPHEMERAL_MESSAGE","status":"DONE","created_at":"2026-03-04T05:00:01Z","content":$j}
{"step_index":$n2,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","created_at":"2026-03-04T05:00:02Z","content":$j,"thinking":$j,"tool_calls":[{"name":"write_to_file","args":{"CodeContent":$j}}]}
{"step_index":$n3,"source":"MODEL","type":"CODE_ACTION","status":"ERROR","created_at":"2026-03-04T05:00:03Z","content":$j,"error":$j}`, "\n", "\n"},
	{"qwen-code", "", `{"uuid":"a$n","parentUuid":null,"sessionId":"s","timestamp":"2026-03-04T05:00:01.000Z","type":"user","cwd":"/w","version":"0.24.7","message":{"role":"user","parts":[{"text":$j}]}}
{"uuid":"b$n","parentUuid":"a$n","sessionId":"s","timestamp":"2026-03-04T05:00:02.000Z","type":"assistant","cwd":"/w","version":"0.24.7","message":{"role":"model","parts":[{"text":$j,"thought":true},{"text":$j},{"functionCall":{"id":"c$n","name":"write","args":{"content":$j}}}]}}
{"uuid":"d$n","parentUuid":"b$n","sessionId":"s","timestamp":"2026-03-04T05:00:03.000Z","type":"tool_result","cwd":"/w","version":"0.24.7","message":{"role":"user","parts":[{"functionResponse":{"id":"c$n","name":"write","response":{"output":$j}}}]},"toolCallResult":{"callId":"c$n","status":"success","resultDisplay":$j}}`, "\n", "\n"},
	{"sillytavern", `{"user_name":"Ada","character_name":"Bess","create_date":"2024-6-5 @14h 56m 50s 682ms","chat_metadata":{"note_prompt":""}}` + "\n",
		`{"name":"Ada","is_user":true,"is_system":false,"send_date":"June 5, 2024 2:57pm","mes":$j,"extra":{}}
{"name":"Bess","is_user":false,"is_system":false,"send_date":"June 5, 2024 2:58pm","mes":$j,"extra":{"reasoning":$j,"note":$j},"swipe_id":0,"swipes":[$j,"No."],"swipe_info":[{"send_date":"June 5, 2024 2:58pm","extra":{"reasoning":$j}},{"send_date":"June 5, 2024 2:58pm","extra":{}}]}`, "\n", "\n"},
	{"aider", "\n# aider chat started at 2025-03-04 05:06:07\n\n> Aider v0.82.0  \n> Main model: gpt-4o with diff edit format  \n\n", "$p\n\n$s\n\n> Tokens: 1k sent, $n received.  \n", "\n", ""},
	{"cursor", "", `{"role":"user","message":{"content":[{"type":"text","text":$j}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":$j},{"type":"tool_use","name":"Write","input":{"content":$j}}]}}`, "\n", "\n"},
}

// file returns the file with secrets.
func (f *leakyFile) file(t *testing.T, leaks []leak) string {
	t.Helper()
	var each []string
	for i, c := range leaks {
		encoded, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		prompt := "#### " + strings.ReplaceAll(c.text, "\n", "  \n#### ") + "  "
		each = append(each, strings.NewReplacer("$j", string(encoded), "$s", c.text, "$p", prompt, "$n", fmt.Sprint(i+1)).Replace(f.each))
	}
	return f.begin + strings.Join(each, f.sep) + f.end
}

// TestRedactFiles holds that a redacted export has no secret of a conversation that was read from
// a file, for each format that bough reads from files and does not write.
func TestRedactFiles(t *testing.T) {
	leaks := testsize.Sample(t, "secrets", leakable(), testsize.Of(2, 4, 12))
	tested := map[string]bool{}
	for _, d := range leakyDatabases() {
		tested[d.name] = true
	}
	for _, f := range leakyFiles {
		tested[f.name] = true
		dir := t.TempDir()
		file, ws := filepath.Join(dir, "secrets"), filepath.Join(dir, "ws")
		if err := os.WriteFile(file, []byte(f.file(t, leaks)), 0o600); err != nil {
			t.Fatal(err)
		}
		session := importedOne(t, ws, file)
		if out, _ := boughIn(t, ws, "show", session, "--json"); !strings.Contains(out, `"format":"`+f.name+`"`) {
			t.Errorf("the file of %s was read as another format: %.300s", f.name, out)
		}
		for _, format := range []string{"penguin", "claude-code", "markdown"} {
			out, _ := boughIn(t, ws, "export", session, "--tree", "--to", format)
			for _, c := range leaks {
				if format == "claude-code" && strings.Count(out, c.secret) < 2 {
					t.Errorf("%s of %s has %q %d times without --redact", format, f.name, c.secret, strings.Count(out, c.secret))
				}
			}
			out, _ = boughIn(t, ws, "export", session, "--tree", "--to", format, "--redact")
			leaksIn(t, format+" of "+f.name, out, leaks)
			if !strings.Contains(out, "[redacted: ") {
				t.Errorf("%s of %s has nothing redacted", format, f.name)
			}
		}
	}
	for _, f := range convert.Formats {
		if f.Reads() && !f.Writes() && !tested[f.Name] {
			t.Errorf("no file of %s has secrets", f.Name)
		}
	}
}
