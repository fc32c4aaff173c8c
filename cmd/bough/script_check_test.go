package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

func cmdJSONIs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsonis FILE PATH VALUE")
	}
	doc := ts.ReadFile(args[0])
	if strings.TrimSpace(doc) == "" {
		ts.Fatalf("%s is empty", args[0])
	}
	v := gjson.Get(doc, args[1])
	is := v.Type == gjson.String && v.Str == args[2] || v.Exists() && compact(v.Raw) == compact(args[2])
	if is == neg {
		ts.Fatalf("%s of %s is %s", args[1], args[0], v.Raw)
	}
}

// compact removes the white space between the tokens of JSON.
func compact(s string) string {
	var buf bytes.Buffer
	if json.Compact(&buf, []byte(s)) != nil {
		return s
	}
	return buf.String()
}

func cmdJSONSame(ts *testscript.TestScript, args []string) {
	a, b := gjson.Get(ts.ReadFile(args[0]), args[1]), gjson.Get(ts.ReadFile(args[2]), args[3])
	if !a.Exists() || a.Raw != b.Raw {
		ts.Fatalf("%s of %s is\n%s\n%s of %s is\n%s", args[1], args[0], a.Raw, args[3], args[2], b.Raw)
	}
}

func cmdMessages(ts *testscript.TestScript, args []string) {
	got := []string{}
	for _, m := range gjson.Get(ts.ReadFile(args[0]), "messages").Array() {
		got = append(got, m.Get("id").String())
	}
	if want := args[1:]; !slices.Equal(got, want) {
		ts.Fatalf("%s holds %q, want %q", args[0], got, want)
	}
}

func cmdSameBytes(ts *testscript.TestScript, args []string) {
	layout := func(raw string) string { return raw }
	if args[0] == "stdout" {
		layout = func(raw string) string { return string(rawjson.Dense([]byte(raw))) }
	}
	known := map[string]bool{}
	for _, name := range args[1:] {
		for _, m := range gjson.Get(ts.ReadFile(name), "messages").Array() {
			known[layout(m.Raw)] = true
		}
	}
	list := gjson.Get(ts.ReadFile(args[0]), "messages").Array()
	if len(list) == 0 {
		ts.Fatalf("no messages in %s", args[0])
	}
	for _, m := range list {
		if !known[layout(m.Raw)] {
			ts.Fatalf("no file has this message of %s:\n%s", args[0], m.Raw)
		}
	}
}

func cmdRemember(ts *testscript.TestScript, args []string) {
	memoryOf(ts).folders[args[1]] = folder(ts, args[0])
}

func cmdUnchanged(ts *testscript.TestScript, args []string) {
	was, ok := memoryOf(ts).folders[args[1]]
	if !ok {
		ts.Fatalf("no state is stored as %s", args[1])
	}
	is := folder(ts, args[0])
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, ok := is[name]; !ok {
			ts.Fatalf("%s is gone", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		switch before, ok := was[name]; {
		case !ok:
			ts.Fatalf("%s is new", name)
		case before != is[name]:
			ts.Fatalf("%s changed from\n%s\nto\n%s", name, before, is[name])
		}
	}
}

// folder returns mode and content of everything in a folder, except for the lock and
// bough's own folders.
func folder(ts *testscript.TestScript, dir string) map[string]string {
	all := map[string]string{}
	root := ts.MkAbs(dir)
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if err != nil || name == ".bough" || d.IsDir() && strings.HasPrefix(name, ".bough/") || strings.HasPrefix(name, ".bough/lock") || strings.HasPrefix(name, ".bough/agents/") || strings.HasPrefix(name, ".bough/explorations/") || strings.HasPrefix(name, ".bough/cache/") || name == ".bough/imports.jsonl" || name == ".bough/exports.jsonl" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := []byte{}
		switch {
		case d.Type().IsRegular():
			content, err = os.ReadFile(path)
		case d.Type() == fs.ModeSymlink:
			var to string
			to, err = os.Readlink(path)
			content = []byte(to)
		}
		all[name] = fmt.Sprintf("%v %q", info.Mode(), content)
		return err
	}))
	if len(all) < 2 {
		ts.Fatalf("nothing in %s", dir)
	}
	return all
}

// Penguin's keys: it treats a file with a missing or additional key as damaged.
var (
	sessionKeys = []string{"created_at", "id", "last_active", "llm_request_lifecycles", "messages", "metadata",
		"tool_call_records", "tool_result_records"}
	messageKeys = []string{"agent_id", "category", "content", "id", "message_type", "metadata", "recipient_id",
		"role", "timestamp", "tokens"}
	naiveTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$`)
)

// cmdPenguinFresh checks a workspace against Penguin's rules: the index has one entry for
// every session file and is no older than any of them, files and messages have exactly
// their keys, links to a parent are strings, times have no zone.
func cmdPenguinFresh(ts *testscript.TestScript, args []string) {
	dir := filepath.Join(ts.MkAbs(args[0]), "conversations")
	var entries map[string]map[string]any
	indexPath := filepath.Join(dir, "session_index.json")
	readJSON(ts, indexPath, &entries)
	about, err := os.Stat(indexPath)
	ts.Check(err)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	ts.Check(err)
	if len(files) != len(entries)+1 || len(entries) == 0 {
		ts.Fatalf("the index has %d entries for %d session files", len(entries), len(files)-1)
	}
	for _, path := range files {
		if path == indexPath {
			continue
		}
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		info, err := os.Stat(path)
		ts.Check(err)
		if info.ModTime().After(about.ModTime()) {
			ts.Fatalf("the index is older than %s", id)
		}
		entry := entries[id]
		if entry == nil {
			ts.Fatalf("the index has no entry for %s", id)
		}
		penguinLinks(ts, id+" in the index", entry)
		penguinSession(ts, id, path)
	}
}

func penguinSession(ts *testscript.TestScript, id, path string) {
	var s map[string]any
	readJSON(ts, path, &s)
	if got := slices.Sorted(maps.Keys(s)); !slices.Equal(got, sessionKeys) {
		ts.Fatalf("%s has the keys %q", id, got)
	}
	penguinLinks(ts, id, s["metadata"].(map[string]any))
	times := []any{s["created_at"], s["last_active"]}
	for i, m := range s["messages"].([]any) {
		m := m.(map[string]any)
		if got := slices.Sorted(maps.Keys(m)); !slices.Equal(got, messageKeys) {
			ts.Fatalf("message %d of %s has the keys %q", i, id, got)
		}
		times = append(times, m["timestamp"])
	}
	for _, t := range times {
		if s, ok := t.(string); !ok || !naiveTime.MatchString(s) {
			ts.Fatalf("%s has the time %v", id, t)
		}
	}
}

func penguinLinks(ts *testscript.TestScript, what string, metadata map[string]any) {
	if v, ok := metadata["continued_from"]; ok {
		if _, ok := v.(string); !ok {
			ts.Fatalf("%s is continued_from %v", what, v)
		}
	}
}

func readJSON(ts *testscript.TestScript, path string, v any) {
	data, err := os.ReadFile(path)
	ts.Check(err)
	if err := json.Unmarshal(data, v); err != nil {
		ts.Fatalf("%s: %v", path, err)
	}
}

// cmdSession writes a session file as Penguin does. METADATA is a JSON object. A message is
// its id, which begins with a letter for its role (user, assistant, tool, system, context)
// and a number for its time in seconds; then "=" and its metadata, if any. u1..9 is nine
// messages. after:P is the message that marks a continuation of P.
func cmdSession(ts *testscript.TestScript, args []string) {
	var list []string
	first, last := -1, 0
	for _, arg := range args[3:] {
		if previous, ok := strings.CutPrefix(arg, "after:"); ok {
			transition := fmt.Sprintf(`{"type": "session_transition", "previous_session": %q}`, previous)
			list = append(list, penguinMessage("system-after-"+previous, last, transition))
			first = -1
			continue
		}
		id, metadata, ok := strings.Cut(arg, "=")
		if !ok {
			metadata = "{}"
		}
		from, to := 0, 0
		_, err := fmt.Sscanf(id[1:], "%d..%d", &from, &to)
		if err != nil {
			to = from
		}
		for last = from; last <= to; last++ {
			if from < to {
				id = fmt.Sprintf("%c%d", arg[0], last)
			}
			list = append(list, penguinMessage(id, last, metadata))
		}
		last = to
		if first < 0 {
			first = from
		}
	}
	counts := fmt.Sprintf(`{"message_count": %d, "token_count": 0, `, len(list))
	metadata := strings.Replace(counts+args[2][1:], ", }", "}", 1)
	doc := fmt.Sprintf(`{"id": %q, "created_at": %q, "last_active": %q, "metadata": %s, "messages": [%s],
		"llm_request_lifecycles": [], "tool_call_records": [], "tool_result_records": []}`,
		args[1], penguinTime(max(first, 0)), penguinTime(last), metadata, strings.Join(list, ", "))
	writePenguin(ts, filepath.Join(args[0], "conversations", args[1]+".json"), doc)
}

func penguinMessage(id string, second int, metadata string) string {
	who := map[byte][2]string{
		'u': {"user", "DIALOG"}, 'a': {"assistant", "DIALOG"}, 't': {"tool", "SYSTEM_OUTPUT"},
		's': {"system", "SYSTEM"}, 'c': {"system", "CONTEXT"},
	}[id[0]]
	return fmt.Sprintf(`{"role": %q, "content": "text of %s", "category": %q, "id": %q, "timestamp": %q,
		"metadata": %s, "tokens": 0, "agent_id": null, "recipient_id": null, "message_type": "message"}`,
		who[0], id, who[1], id, penguinTime(second), metadata)
}

func penguinTime(second int) string {
	t := time.Date(2020, 5, 25, 15, 0, second, 0, time.UTC)
	return t.Format("2006-01-02T15:04:05.000000")
}

func writePenguin(ts *testscript.TestScript, name, doc string) {
	var buf bytes.Buffer
	ts.Check(json.Indent(&buf, []byte(doc), "", "  "))
	path := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	ts.Check(os.WriteFile(path, buf.Bytes(), 0o666))
}

// cmdIndex writes the index as Penguin does when it saves each session.
func cmdIndex(ts *testscript.TestScript, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "conversations", "*.json"))
	ts.Check(err)
	var entries []string
	for _, path := range files {
		id := strings.TrimSuffix(filepath.Base(path), ".json")
		if id == "session_index" {
			continue
		}
		data, err := os.ReadFile(path)
		ts.Check(err)
		s := gjson.ParseBytes(data)
		title := s.Get("metadata.title").String()
		if title == "" {
			title = "Session " + id[max(0, len(id)-8):]
		}
		entry := fmt.Sprintf(`%q: {"created_at": %s, "last_active": %s, "message_count": %d, "token_count": 0, "title": %q`,
			id, s.Get("created_at").Raw, s.Get("last_active").Raw, s.Get("messages.#").Int(), title)
		for _, link := range []string{"continued_from", "continued_to"} {
			if v := s.Get("metadata." + link); v.Exists() {
				entry += fmt.Sprintf(", %q: %s", link, v.Raw)
			}
		}
		entries = append(entries, entry+"}")
	}
	writePenguin(ts, filepath.Join(args[0], "conversations", "session_index.json"), "{"+strings.Join(entries, ", ")+"}")
}
