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

// A leakyDatabase makes a database of a program that has a secret wherever the program keeps text: the
// statements once, then those of each secret. In both, $s is the text, $j and $jj are the text in
// JSON and in JSON in JSON, and $n is its number; $list is what one has for each secret, joined by commas.
type leakyDatabase struct{ name, once, list, each string }

func leakyDatabases() []leakyDatabase {
	return []leakyDatabase{
		{"opencode", `CREATE TABLE session(id, title, directory, summary_diffs, metadata, time_created); CREATE TABLE message(id, session_id, time_created, data); CREATE TABLE part(id, message_id, session_id, data);
			INSERT INTO session VALUES('s', '', '/w', NULL, NULL, 1)`, "", `UPDATE session SET title = '$s', summary_diffs = '[{"patch":$j}]', metadata = '{"note":$j}';
			INSERT INTO message VALUES('m$n1', 's', $n, '{"role":"user","time":{"created":1},"system":$j,"summary":{"title":$j}}'), ('m$n2', 's', $n, '{"role":"assistant","time":{"created":1,"completed":2},"error":{"data":{"message":$j}}}');
			INSERT INTO part VALUES('p$n1', 'm$n1', 's', '{"type":"text","text":$j}'), ('p$n2', 'm$n2', 's', '{"type":"reasoning","text":$j,"metadata":{"a":$j}}'), ('p$n3', 'm$n2', 's', '{"type":"tool","callID":"c$n","tool":"write","state":{"status":"completed","input":{"content":$j},"output":$j,"title":$j,"metadata":{"diff":$j}}}'),
			('p$n4', 'm$n2', 's', '{"type":"tool","callID":"d$n","tool":"write","state":{"status":"error","input":{"content":$j},"error":$j}}'), ('p$n5', 'm$n2', 's', '{"type":"snapshot","snapshot":$j}')`},
		{"cursor", `CREATE TABLE ItemTable(key, value); CREATE TABLE cursorDiskKV(key, value);
			INSERT INTO cursorDiskKV VALUES('composerData:a', '{"composerId":"a","createdAt":1766691308486,"fullConversationHeadersOnly":[$list]}')`, `{"bubbleId":"u$n","type":1},{"bubbleId":"t$n","type":2},{"bubbleId":"c$n","type":2}`,
			`UPDATE cursorDiskKV SET value = json_set(value, '$.name', '$s', '$.text', '$s') WHERE key = 'composerData:a';
			INSERT INTO cursorDiskKV VALUES('bubbleId:a:u$n', '{"type":1,"bubbleId":"u$n","text":$j,"richText":$jj}'), ('bubbleId:a:t$n', CAST('{"type":2,"bubbleId":"t$n","text":$j,"thinking":{"text":$j,"signature":"s"},"codeBlocks":[{"content":$j}]}' AS BLOB)),
			('bubbleId:a:c$n', '{"type":2,"bubbleId":"c$n","text":"","toolFormerData":{"name":"write","toolCallId":"k$n","status":"completed","rawArgs":$jj,"params":$jj,"result":$jj,"error":$j}}')`},
		{"cursor", `CREATE TABLE blobs(id, data); CREATE TABLE meta(key, value); INSERT INTO blobs VALUES('ff', x'');
			INSERT INTO meta VALUES('0', hex('{"agentId":"a","latestRootBlobId":"ff"}'))`, "", `UPDATE meta SET value = hex(json_set(CAST(unhex(value) AS TEXT), '$.name', '$s'));
			INSERT INTO blobs VALUES(printf('a1%04d', $n), '{"role":"user","content":[{"type":"text","text":"<rules>" },{"type":"text","text":$j}]}'), (printf('a2%04d', $n), '{"role":"user","content":"<user_info>\n</user_info>","providerOptions":{"cursor":{"note":$j}}}'),
			(printf('a3%04d', $n), CAST('{"role":"assistant","content":[{"type":"reasoning","text":$j,"signature":"s"},{"type":"text","text":$j},{"type":"dance","a":$j},{"type":"tool-call","toolCallId":"k$n","toolName":"Write","args":{"content":$j}}]}' AS BLOB)),
			(printf('a4%04d', $n), '{"role":"tool","content":[{"type":"tool-result","toolCallId":"k$n","toolName":"Write","result":$j,"experimental_content":[{"type":"text","text":$j}]}],"providerOptions":{"cursor":{"highLevelToolCallResult":{"output":{"content":$j}}}}}');
			UPDATE blobs SET data = unhex(hex(data) || printf('0a03a1%04d0a03a2%04d0a03a3%04d0a03a4%04d', $n, $n, $n, $n)) WHERE id = 'ff'`},
		{"llm", `CREATE TABLE conversations(id, name, model); CREATE TABLE responses(id, model, prompt, system, prompt_json, options_json, response, response_json, conversation_id, datetime_utc, reasoning);
			CREATE TABLE tool_calls(id INTEGER PRIMARY KEY, response_id, name, arguments, tool_call_id); CREATE TABLE tool_results(id INTEGER PRIMARY KEY, response_id, name, output, tool_call_id, exception);
			CREATE TABLE fragments(id INTEGER PRIMARY KEY, content, source); CREATE TABLE prompt_fragments(response_id, fragment_id, "order"); CREATE TABLE system_fragments(response_id, fragment_id, "order");
			INSERT INTO conversations VALUES('c', '', 'm')`, "", `UPDATE conversations SET name = '$s';
			INSERT INTO responses VALUES('r$n', 'm', '$s', '$s', '{"messages":[$j]}', '{"stop":$j}', '$s', '{"content":$j}', 'c', '2026-01-01T00:00:00', '$s');
			INSERT INTO tool_calls(response_id, name, arguments, tool_call_id) VALUES('r$n', 'write', '{"content":$j}', 'k$n'); INSERT INTO tool_results(response_id, name, output, tool_call_id, exception) VALUES('r$n', 'write', '$s', 'k$n', '$s');
			INSERT INTO fragments VALUES($n + 1, '$s', '$s'); INSERT INTO prompt_fragments VALUES('r$n', $n + 1, 0); INSERT INTO system_fragments VALUES('r$n', $n + 1, 0)`},
		{"llm", `CREATE TABLE threads(id, name, tip_message_hash, forked_from); CREATE TABLE turns(id, thread_id, parent_message_hash, tip_message_hash, model, options_json, response_json);
			CREATE TABLE messages(hash, parent_hash, role, provider_metadata); CREATE TABLE parts(message_hash, position, type, tool_name, text, payload); CREATE TABLE fragments(id INTEGER PRIMARY KEY, content, source);
			INSERT INTO threads VALUES('t', '', NULL, NULL)`, "", `UPDATE threads SET name = '$s', tip_message_hash = 'b$n';
			INSERT INTO turns VALUES('u$n', 't', 'a$n', 'b$n', 'm', '{"stop":$j}', '{"content":$j}'); INSERT INTO messages VALUES('a$n', nullif('b' || ($n - 1), 'b-1'), 'user', NULL), ('b$n', 'a$n', 'assistant', '{"a":$j}');
			INSERT INTO fragments VALUES($n + 1, '$s', '$s');
			INSERT INTO parts VALUES('a$n', 0, 'text', NULL, '$s', NULL), ('a$n', 1, 'text', NULL, NULL, '{"text_ref":[{"literal":$j},{"literal":"\n"},{"fragment":' || ($n + 1) || '}]}'), ('a$n', 2, 'tool_result', 'write', NULL, '{"output":$j,"exception":$j,"tool_call_id":"x$n"}'),
			('b$n', 0, 'reasoning', NULL, '$s', '{"provider_metadata":{"a":$j}}'), ('b$n', 1, 'tool_call', 'write', NULL, '{"name":"write","arguments":{"content":$j},"tool_call_id":"k$n"}'), ('b$n', 2, 'dance', NULL, '$s', '{"a":$j}')`},
		{"llm", `CREATE TABLE logs(id INTEGER PRIMARY KEY, model, prompt, system, prompt_json, options_json, response, response_json, chat_id, datetime_utc)`, "",
			`INSERT INTO logs VALUES($n + 1, 'm', '$s', '$s', '{"messages":[$j]}', '{"stop":$j}', '$s', '{"content":$j}', 1, '2023-06-20 08:00:00')`},
		{"goose", `CREATE TABLE sessions(id, name, description, working_dir, extension_data, recipe_json, user_recipe_values_json); CREATE TABLE messages(id INTEGER PRIMARY KEY, message_id, session_id, role, content_json, created_timestamp, metadata_json);
			INSERT INTO sessions VALUES('20260101_1', '', '', '/w', NULL, NULL, NULL)`, "", `UPDATE sessions SET name = '$s', description = '$s', extension_data = '{"todo.v0":{"content":$j}}', recipe_json = '{"prompt":$j}', user_recipe_values_json = '{"key":$j}';
			INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, metadata_json) VALUES
			('a$n', '20260101_1', 'user', '[{"type":"text","text":$j},{"type":"actionRequired","data":{"actionType":"elicitationResponse","id":"e","user_data":{"key":$j}}}]', $n, '{"operations":{"a":{"b":$j}}}'),
			('b$n', '20260101_1', 'assistant', '[{"type":"thinking","thinking":$j,"signature":"s"},{"type":"text","text":$j},{"type":"toolRequest","id":"k$n","_meta":{"title":$j},"toolCall":{"status":"success","value":{"name":"write","arguments":{"content":$j}}}},{"type":"toolRequest","id":"l$n","toolCall":{"status":"error","error":$j}}]', $n, NULL),
			('c$n', '20260101_1', 'user', '[{"type":"toolResponse","id":"k$n","toolResult":{"status":"success","value":{"structuredContent":{"a":$j},"content":[{"type":"text","text":$j},{"type":"text","text":$j,"annotations":{"audience":["user"]}},{"type":"resource","resource":{"uri":"file:///x","text":$j}},{"type":"resource_link","uri":"file:///x","description":$j}]}}},{"type":"toolResponse","id":"l$n","toolResult":{"status":"error","error":$j}}]', $n, NULL),
			('d$n', '20260101_1', 'assistant', '[{"type":"error","kind":"other","message":$j}]', $n, NULL), ('e$n', '20260101_1', 'assistant', '[{"type":"systemNotification","notificationType":"inlineMessage","msg":$j,"data":{"a":$j}}]', $n, NULL),
			('f$n', '20260101_1', 'user', '[{"type":"text","text":$j}]', $n, '{"turnContext":true}')`},
		{"zed", `CREATE TABLE threads(id, summary, updated_at, data_type, data); INSERT INTO threads VALUES('t', 'Secrets', '', 'json', '{"title":"Secrets","messages":[$list]}')`,
			`{"User":{"id":"u$n","content":[{"Text":$j},{"Mention":{"uri":{"File":{"abs_path":"/x"}},"content":$j}}]}},
			{"Agent":{"content":[{"Thinking":{"text":$j,"signature":"s"}},{"ToolUse":{"id":"c$n","name":"write","raw_input":$j,"input":{"content":$j}}}],
			"tool_results":{"c$n":{"tool_use_id":"c$n","tool_name":"write","is_error":false,"content":[{"Text":$j}],"output":$j}}}},{"Compaction":{"Summary":$j}}`, ""},
	}
}

// statements returns the statements that make the database with secrets.
func (d *leakyDatabase) statements(t *testing.T, leaks []leak) string {
	t.Helper()
	var list, each []string
	for i, c := range leaks {
		once, err := json.Marshal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(string(once))
		if err != nil {
			t.Fatal(err)
		}
		quoted := func(s string) string { return strings.ReplaceAll(s, "'", "''") }
		fill := strings.NewReplacer("$jj", quoted(string(twice)), "$j", quoted(string(once)), "$s", quoted(c.text), "$n", fmt.Sprint(i))
		list, each = append(list, fill.Replace(d.list)), append(each, fill.Replace(d.each))
	}
	return strings.Replace(d.once, "$list", strings.Join(list, ","), 1) + ";" + strings.Join(each, ";")
}

// TestRedactDatabase holds that a redacted export has no secret of a conversation that was read from
// a database, whose rows are records, for each format that is read from one.
func TestRedactDatabase(t *testing.T) {
	leaks := testsize.Sample(t, "secrets", leakable(), testsize.Of(2, 4, 12))
	tested := map[string]bool{}
	for _, d := range leakyDatabases() {
		tested[d.name] = true
		ws := filepath.Join(t.TempDir(), "ws")
		session := importedOne(t, ws, testdatabase.Make(t, d.statements(t, leaks)))
		for _, format := range []string{"penguin", "claude-code", "markdown"} {
			out, _ := boughIn(t, ws, "export", session, "--to", format)
			for _, c := range leaks {
				if format == "claude-code" && strings.Count(out, c.secret) < 3 {
					t.Errorf("%s of %s has %q %d times without --redact", format, d.name, c.secret, strings.Count(out, c.secret))
				}
			}
			out, _ = boughIn(t, ws, "export", session, "--to", format, "--redact")
			leaksIn(t, format+" of "+d.name, out, leaks)
			if !strings.Contains(out, "[redacted: ") {
				t.Errorf("%s of %s has nothing redacted", format, d.name)
			}
		}
	}
	formats, err := filepath.Glob(filepath.Join("..", "..", "convert", "testdata", "databases", "*"))
	if err != nil || len(formats) < 5 {
		t.Fatal(formats, err)
	}
	for _, dir := range formats {
		if name := filepath.Base(dir); !tested[name] {
			t.Errorf("no database of %s has secrets", name)
		}
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
