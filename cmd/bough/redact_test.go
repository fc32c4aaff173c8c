package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testdatabase"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/tidwall/gjson"
)

// leakable are texts with secrets, each with parts of the secret that occur nowhere else.
// They are concatenated, so that a secret scanner finds none in this file.
func leakable() []leak {
	encode := base64.StdEncoding.EncodeToString
	line := strings.Repeat("Qm9Zk3xT7pLw2VnRs5Yc", 4)[:64]
	pem := "-----BEGIN " + "RSA PRIVATE KEY-----\n" + line + "\n" + line[7:] + line[:7] + "\n-----END " + "RSA PRIVATE KEY-----"
	return []leak{
		{pem, "Zk3xT7pLw2Vn"},
		{"     1→" + strings.ReplaceAll(strings.ReplaceAll(pem, "\n", "\n    12→"), "Zk3x", "Wj4q"), "Wj4qT7pLw2Vn"},
		{`{"auths":{"registry.example":{"auth":"` + encode([]byte("ada:0pen-sesame-now")) + `"}}}`, encode([]byte("ada:0pen-sesame-now"))[:20]},
		{"client.login('" + encode([]byte("312345678901234567")) + ".Gh3k_x." + line[:38] + "')", ".Gh3k_x."},
		{"curl https://api.telegram.org/bot712345678:" + "AA" + line[3:36] + "/getMe", "712345678:AA"},
		{"https://x.blob.example/c?sv=2024-11-04&se=2026-01-01&sig=" + line[:43] + "%3D", line[:20]},
		{"SECRET_KEY = 'django-" + "insecure-^@9x$k!q(7w&z*3e_r=t+u8#v5b2n'", "q(7w"},
		{"machine api.example login ada password 0pen-netrc-7", "0pen-netrc-7"},
		{"db.internal:5432:shop:ada:0pen-pgpass-7", "0pen-pgpass-7"},
		{"mysql -u root -p0pen-mysql-7 shop", "0pen-mysql-7"},
		{"tls.key: " + encode([]byte(strings.ReplaceAll(pem, "Zk3x", "Ha5n"))), "LS0tLS1CRUdJTi"},
		{"my password is 0pen-prose-7, and yours?", "0pen-prose-7"},
	}
}

// TestRedactFormats holds that a redacted export has no secret in any format, in text,
// thinking, tool arguments or results. Only a full run tries all secrets in each format; the
// others do so in half of them, or in one with -short, and some secrets in the rest.
func TestRedactFormats(t *testing.T) {
	list := slices.DeleteFunc(formats(), func(f *convert.Format) bool { return !f.Writes() })
	all := testsize.Of(1, len(list)/4, len(list))
	redactFormats(t, list[:all], leakable())
	if all < len(list) {
		redactFormats(t, list[all:], testsize.Sample(t, "secrets", leakable(), 3))
	}
}

// A leak is text with a secret.
type leak struct{ text, secret string }

// planted returns a workspace with a conversation that has secrets, and its id.
func planted(t *testing.T, leaks []leak) (ws, session string) {
	t.Helper()
	dir := t.TempDir()
	var lines []string
	add := func(kind string, message map[string]any) {
		n := len(lines)
		record := map[string]any{
			"parentUuid": nil, "type": kind, "uuid": fmt.Sprintf("%08d-0000-4000-8000-000000000000", n+1), "message": message,
			"isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "5e550000-0000-4000-8000-00000000000d", "version": "2.1.0",
			"timestamp": fmt.Sprintf("2026-01-01T00:%02d:%02d.000Z", n/60, n%60),
		}
		if n > 0 {
			record["parentUuid"] = fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
		}
		b, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b))
	}
	for i, c := range leaks {
		call := fmt.Sprintf("t%d", i)
		add("user", map[string]any{"role": "user", "content": "Here: " + c.text})
		add("assistant", map[string]any{"id": fmt.Sprintf("m%d", i), "type": "message", "role": "assistant", "model": "claude-x", "content": []any{
			map[string]any{"type": "thinking", "thinking": "Hm.\n" + c.text, "signature": fmt.Sprintf("c2lnbmVk%04d", i)},
			map[string]any{"type": "tool_use", "id": call, "name": "Write", "input": map[string]any{"content": c.text, "lines": strings.Split(c.text, "\n")}},
		}})
		add("user", map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": c.text}}})
	}
	file := filepath.Join(dir, "talk.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws = filepath.Join(dir, "ws")
	return ws, importedOne(t, ws, file)
}

// importedOne imports the conversation of a file and returns its session.
func importedOne(t *testing.T, ws, file string) string {
	t.Helper()
	out, _ := boughIn(t, ws, "import", file, "--json")
	list := gjson.Get(out, "imported.#.session_id").Array()
	if len(list) != 1 || list[0].Str == "" {
		t.Fatalf("%s: %s", file, out)
	}
	return list[0].Str
}

// boughIn runs a command line in a workspace.
func boughIn(t *testing.T, ws string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	if code := run(append([]string{"-w", ws}, args...), strings.NewReader(""), &out, &talk); code != 0 {
		t.Fatalf("bough %s: exit code %d: %s", args, code, talk.String())
	}
	return out.String(), talk.String()
}

// leaksIn reports the secrets in an export.
func leaksIn(t *testing.T, what, out string, leaks []leak) {
	t.Helper()
	for _, c := range leaks {
		if at := strings.Index(out, c.secret); at >= 0 {
			t.Errorf("%s has %q: %.200q", what, c.secret, out[max(0, at-100):])
		}
	}
}

// TestRedactRecords holds that a redacted export has no secret if the conversation was
// imported from a file of the same format, whose records are otherwise kept byte for byte.
func TestRedactRecords(t *testing.T) {
	leaks := testsize.Sample(t, "secrets", leakable(), testsize.Of(2, 4, 12))
	ws, session := planted(t, leaks)
	for _, f := range formats() {
		if !f.Writes() || !f.Reads() {
			continue
		}
		out, _ := boughIn(t, ws, "export", session, "--to", f.Name)
		for _, c := range leaks {
			if !strings.Contains(out, c.secret) {
				t.Errorf("%s has no %q without --redact", f.Name, c.secret)
			}
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "5e550000-0000-4000-8000-00000000000e"+f.Ext)
		if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(dir, "ws")
		out, _ = boughIn(t, other, "export", importedOne(t, other, file), "--to", f.Name, "--redact")
		leaksIn(t, f.Name, out, leaks)
		if !strings.Contains(out, "[redacted: ") {
			t.Errorf("%s has nothing redacted", f.Name)
		}
	}
}

// TestRedactDatabase holds that a redacted export has no secret of a conversation that was read from
// a database, whose rows are records.
func TestRedactDatabase(t *testing.T) {
	leaks := testsize.Sample(t, "secrets", leakable(), testsize.Of(2, 4, 12))
	var list []string
	for i, c := range leaks {
		text, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf(`{"User":{"id":"u%[1]d","content":[{"Text":%[2]s},{"Mention":{"uri":{"File":{"abs_path":"/x"}},"content":%[2]s}}]}},
			{"Agent":{"content":[{"Thinking":{"text":%[2]s,"signature":"s"}},{"ToolUse":{"id":"c%[1]d","name":"write","raw_input":%[2]s,"input":{"content":%[2]s}}}],
			"tool_results":{"c%[1]d":{"tool_use_id":"c%[1]d","tool_name":"write","is_error":false,"content":[{"Text":%[2]s}],"output":%[2]s}}}},{"Compaction":{"Summary":%[2]s}}`, i, text))
	}
	document := strings.ReplaceAll(`{"title":"Secrets","messages":[`+strings.Join(list, ",")+`]}`, "'", "''")
	file := testdatabase.Make(t, `CREATE TABLE threads(id, summary, updated_at, data_type, data); INSERT INTO threads VALUES('t1', 'Secrets', '', 'json', '`+document+`')`)
	ws := filepath.Join(t.TempDir(), "ws")
	session := importedOne(t, ws, file)
	for _, format := range []string{"penguin", "claude-code", "markdown"} {
		out, _ := boughIn(t, ws, "export", session, "--to", format)
		for _, c := range leaks {
			if format == "claude-code" && !strings.Contains(out, c.secret) {
				t.Errorf("%s has no %q without --redact", format, c.secret)
			}
		}
		out, _ = boughIn(t, ws, "export", session, "--to", format, "--redact")
		leaksIn(t, format, out, leaks)
	}
}

func redactFormats(t *testing.T, list []*convert.Format, leaks []leak) {
	t.Helper()
	ws, session := planted(t, leaks)
	bough := func(args ...string) (stdout, stderr string) { return boughIn(t, ws, args...) }
	for _, f := range list {
		out, talk := bough("export", session, "--to", f.Name, "--redact")
		leaksIn(t, f.Name, out, leaks)
		if strings.Contains(out, "c2lnbmVk") {
			t.Errorf("%s has a signature of thinking that was redacted", f.Name)
		}
		if !strings.Contains(talk, "redacted: signatures of what was redacted (") {
			t.Errorf("%s: lost signatures are not reported: %s", f.Name, talk)
		}
	}
	if out, _ := bough("export", session, "--to", "claude-code"); !strings.Contains(out, `"signature":"c2lnbmVk0002"`) {
		t.Error("without --redact a signature is lost")
	}
}
