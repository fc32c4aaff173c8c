package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// attack is text that controls a terminal: escape sequences that begin with ESC and with
// U+009B, and every other character that must not be printed on one.
const attack = "zq\x1b[2J\x1b]0;t\a\u009b2J\x00\b\x7f\u0085\r\u2028\u2029\u202e\u202a\u2066\u2069zq"

// typed is the part of attack that a name or label, which is one line, may have.
const typed = "zq\u202e\u2066zq"

var ownColors = regexp.MustCompile(`\x1b\[(0|1|2|32|33|36|1;31)m`)

// driving returns the index of the first character of text that controls a terminal, -1 if
// there is none. The colors of bough itself do not count.
func driving(text string) int {
	for _, at := range ownColors.FindAllStringIndex(text, -1) {
		text = text[:at[0]] + strings.Repeat(" ", at[1]-at[0]) + text[at[1]:]
	}
	for i, r := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); printable.Rune(r) != r || r == utf8.RuneError && n == 1 {
			return i
		}
	}
	return -1
}

// An escapeStory runs verbs on a terminal, or with --json, in a workspace where each text
// is an attack.
type escapeStory struct {
	t      *testing.T
	dir    string
	flags  []string
	verbs  []verb
	ran    map[string]bool // by verb
	struck int             // outputs with the remains of an attack
	read   int             // sessions that reads has read
}

// run runs a command line until it ends or has printed a number of lines, and checks the
// output.
func (s *escapeStory) run(lines int, args ...string) (out string, err error) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	printed, talk := &lineWriter{lines: lines, enough: func() {}}, &bytes.Buffer{}
	if lines > 0 {
		printed.enough = cancel
	}
	screen := paint{color: true, width: 100}
	p := &program{stdin: strings.NewReader(attack), stdout: bufio.NewWriter(printed), meter: newMeter(io.Discard), paint: screen, talk: screen}
	p.stderr, p.settle = talk, -1
	all := slices.Concat([]string{"-w", s.dir}, s.flags, args)
	if err = p.run(ctx, all); err != nil && ctx.Err() == nil {
		p.fail(err)
	}
	p.stdout.Flush()
	out = strings.Join(printed.printed, "")
	for _, text := range []string{out, talk.String()} {
		if at := driving(text); at >= 0 {
			s.t.Errorf("bough %q prints %q", args, text[max(0, at-60):min(len(text), at+20)])
		}
		if strings.Contains(text, "zq") {
			s.struck++
		}
	}
	if slices.Contains(s.flags, "--json") && args[len(args)-1] != completeFlag {
		for l := range strings.Lines(out) {
			if !json.Valid([]byte(l)) || ownColors.MatchString(l) {
				s.t.Errorf("bough %q prints %.200q, which is not JSON", args, l)
			}
		}
	}
	verbs := s.verbs
	for n := range args {
		v, ok := find(verbs, args[n])
		if !ok {
			break
		}
		s.ran[v.full()] = true
		verbs = v.subs
	}
	return out, err
}

// do runs a command line that must succeed.
func (s *escapeStory) do(args ...string) string {
	s.t.Helper()
	out, err := s.run(0, args...)
	if err != nil {
		s.t.Fatalf("bough %q: %v", args, err)
	}
	return out
}

// made runs a command line with --json and returns a member of its output.
func (s *escapeStory) made(member string, args ...string) string {
	s.t.Helper()
	with := *s
	with.flags = []string{"--json"}
	return gjson.Get(with.do(args...), member).String()
}

// fails runs a command line that must fail.
func (s *escapeStory) fails(args ...string) {
	s.t.Helper()
	if _, err := s.run(0, args...); err == nil {
		s.t.Errorf("bough %q succeeds", args)
	}
}

// hostileSession is a session in which each text is an attack.
func hostileSession(id string) []byte {
	at := "2026-05-25T15:00:00"
	text := func(name string) string { return name + attack }
	doc := map[string]any{
		"id": id, "session_id": id, "created_at": at,
		"metadata": map[string]any{
			"title": text("Foreign"), "model": text("m"), "cwd": "/tmp/" + attack, "git_branch": text("b"), "provider": text("p"), text("key"): text("v"),
		},
		"messages": []any{
			map[string]any{"id": "u1", "role": "user", "content": text("question"), "timestamp": text("t"), "category": text("c")},
			map[string]any{"id": text("a2"), "role": "assistant", "metadata": map[string]any{"parent_id": "u1", "model": text("m"), "kind": text("k")}, "content": []any{
				map[string]any{"type": "thinking", "thinking": text("thought")},
				map[string]any{"type": "text", "text": text("answer")},
				map[string]any{"type": "tool_use", "id": text("c1"), "name": text("bash"), "input": map[string]any{text("command"): text("ls"), "list": []any{text("x")}}},
			}},
			map[string]any{"id": text("t3"), "role": "tool", "tool_call_id": text("c1"), "content": []any{
				map[string]any{"type": "tool_result", "tool_use_id": text("c1"), "content": text("result"), "is_error": true},
				map[string]any{"type": "file", "filename": text("f") + ".pdf"},
				map[string]any{"type": "image", "filename": text("i"), "media_type": text("image/png")},
				map[string]any{"type": text("other"), "text": text("o")},
			}},
			map[string]any{"id": text("a4"), "role": "assistant", "content": "", "tool_calls": []any{
				map[string]any{"id": text("c2"), "type": "function", "function": map[string]any{"name": text("f"), "arguments": text("{")}},
			}, "metadata": map[string]any{"parent_id": text("gone")}},
			map[string]any{"id": text("a5"), "role": text("role"), "content": text("other"), "metadata": map[string]any{"parent_id": "u1"}},
		},
	}
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return data
}

func (s *escapeStory) write(path string, data []byte) {
	s.t.Helper()
	path = filepath.Join(s.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestEscapes: whatever text files contain, no verb prints a control sequence, on a
// terminal or with --json. Each verb is run; a full run replaces each string of a file by
// an attack, and runs each verb with --json, too; other runs do that with those that read.
func TestEscapes(t *testing.T) {
	sets := [][]string{nil, {"--json"}}
	for _, flags := range testsize.Of(sets[:1], sets[:1], sets) {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			home := t.TempDir()
			for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"} {
				t.Setenv(name, home)
			}
			for _, name := range toolFolderVariables {
				t.Setenv(name, "")
			}
			s := &escapeStory{t: t, dir: filepath.Join(home, "ws"), flags: flags, verbs: (&program{}).verbs(), ran: map[string]bool{}}
			s.conversations()
			s.foreign()
			s.agents()
			s.explorations()
			s.imports()
			s.remotes()
			s.workspace()
			s.completion()
			s.damage()
			for _, v := range allVerbs(s.verbs) {
				if (v.action != nil || v.standalone != nil) && !s.ran[v.full()] && notHostile[v.full()] == "" {
					t.Errorf("TestEscapes does not run %q: run it in a method of escapeStory, or, if it prints no text of a file, add it to notHostile", v.full())
				}
			}
			if s.struck < testsize.Of(100, 300, 1000) {
				t.Errorf("only %d outputs have text of the files", s.struck)
			}
		})
	}
}

// notHostile lists the verbs that print no text of a file, with the reason.
var notHostile = map[string]string{
	"choose": "it needs a terminal; TestChooseEscapes has its lists",
	"mcp":    "it prints messages for a program, not for a terminal",

	"daemon start":     "it starts a process; it prints what status prints",
	"daemon run":       "it prints to its log",
	"daemon uninstall": "it prints what install prints",

	"open": "it starts a server, and prints addresses",
	"ui":   "it needs a terminal; TestControl of its package has its screens",

	"demo":    "all of its text is its own",
	"man":     "all of its text is its own",
	"version": "all of its text is its own",
}

func (s *escapeStory) conversations() {
	s.do("new", "--title", "Cake"+typed)
	s.fails("new", "--title", "Cake"+attack)
	title, _ := json.Marshal("Bread" + attack) // another program may have written it
	s.write("conversations/bread.json", fmt.Appendf(nil, `{"metadata":{"title":%s},"messages":[]}`, title))
	bread := s.made("session_id", "append", "bread", "-")
	first := s.made("message_id", "append", bread, "How wet?"+attack)
	s.do("append", "It depends."+attack, "--role", "assistant")
	s.do("append", bread, "With rye?"+attack, "--parent", first)
	s.do("bookmark", bread+"@"+first, "label"+typed, "--summary", "summary"+attack)
	s.fails("bookmark", bread+"@"+first, "label"+attack)
	s.do("bookmarks")
	s.do("bookmarks", bread)
	point := s.made("id", "checkpoint", bread, "--name", "Before"+typed)
	s.do("checkpoint", bread)
	s.fails("checkpoint", bread, "--name", "Then"+attack)
	s.do("append", point, "after"+attack)
	packed := s.made("id", "checkpoint", bread, "--name", "Packed"+typed, "--packed")
	s.do("unpack", packed)
	s.do("unpack", packed)
	s.do("pack", packed)
	s.do("show", packed)
	s.do("branch", bread+"@"+first, "--name", "Other"+typed)
	other := s.made("id", "branch", bread+"@"+first, "--name", "Another"+typed)
	s.do("rename", other, "Renamed"+typed)
	s.fails("rename", other, "Renamed"+attack)
	s.do("rm", other)
	s.do("undo")
	s.do("redo")
	s.do("rm", s.made("id", "branch", bread+"@"+first))
	s.do("trash")
	s.do("diff", bread, point)
	s.do("diff", bread+"@"+first, bread)
	s.do("suggest")
	s.do("suggest", bread)
	s.fails("suggest", "none"+attack)
	s.do("pick", bread+"@"+first, "--onto", point)
	s.do("pick", bread, "--turn", "--onto", bread+"@"+first, "--dry-run")
	s.do("prune-context", point, "--drop", first, "--name", "Pruned"+typed)
	s.do("prune-context", point, "--squash", ".."+first, "--dry-run")
	s.do("prune-context", point, "--squash", ".."+first, "--summary", "Water."+attack)
	s.do("edit", bread+"@"+first, "--text", "How dry?"+attack)
	s.fails("prune-context", bread, "--drop", "none"+attack)
	s.fails("pick", "none"+attack+".."+bread)
	s.fails("edit", "none"+attack, "--text", "x")
	s.replays(point)
	s.do("compare", bread, point)
	s.do("compare", bread+"@"+first, bread)
	s.do("compare", bread, point, "--prompt")
	s.do("merge", point, "--into", bread, "--dry-run")
	s.do("merge", point, "--into", bread, "--summary", "Well"+attack)
	s.do("log")
	s.do("lineage", point)
	s.do("restore", point)
	s.do("status")
	s.do("rewind", bread+"@"+first)
	s.do("rewind", "label"+typed)
	s.reads(bread)
	s.do("bookmark", "--rm", "label"+typed)
	s.do("undo")
	s.fails("show", "none"+attack)
	s.fails("show", bread+"@none"+attack)
	s.fails("rm", bread)
	s.fails("ls", "--kind", "k"+attack)
	s.fails("ls", "--sort", "k"+attack)
	s.fails("ls", "--since", "k"+attack)
	s.fails("append", "x", "--role", "r"+attack)
	s.fails("nothing" + attack)
	s.fails("ls", "--none"+attack)
	s.fails("help", "h"+attack)
	s.fails("--wait", attack, "ls")
	s.do("help")
	s.do("help", "import")
}

// reads runs the verbs that read a conversation. If the run is not full, four conversations share
// them, and each verb is run with --json, too.
func (s *escapeStory) reads(ref string) {
	commands := [][]string{
		{"ls"}, {"ls", "--title", "zq"}, {"status"}, {"tree"}, {"tree", ref}, {"tree", ref, "--messages"}, {"branches", ref}, {"lineage", ref},
		{"show", ref}, {"show", ref, "--full"}, {"show", ref, "--oneline"}, {"show", ref, "--no-tools", "--no-thinking"},
		{"search", "zq"}, {"search", "-l", "zq"}, {"search", "-e", "z.", "-C", "2"}, {"log"}, {"log", "--all"}, {"du"}, {"bookmarks"}, {"doctor"},
	}
	for _, f := range convert.Formats {
		if f.Writes() {
			commands = append(commands, []string{"export", ref, "--to", f.Name}, []string{"export", ref, "--to", f.Name, "--tree", "--redact"})
		}
	}
	for _, tool := range formatNames("in") {
		if f, _ := formatOf(tool); f.Register() != nil {
			continue // it needs the database of the program
		}
		commands = append(commands, []string{"resume", ref, "--in", tool})
	}
	for _, args := range share(commands, s.read) {
		s.run(0, args...)
	}
	if !testsize.Full() {
		with := *s
		with.flags = []string{"--json"}
		for _, args := range share(commands, s.read+1) {
			with.run(0, args...)
		}
	}
	s.read++
}

// share returns the part of a list that is tried with the n-th of several things: each
// fourth element, so that four things share them, or all in a full run. It is never empty.
func share[T any](list []T, n int) (part []T) {
	step := testsize.Of(4, 4, 1)
	for i := n % min(step, len(list)); i < len(list); i += step {
		part = append(part, list[i])
	}
	return part
}

// foreign reads sessions that another program wrote.
func (s *escapeStory) foreign() {
	s.write("conversations/foreign.json", hostileSession("foreign"))
	s.write("conversations/"+typed+".json", hostileSession(typed))
	s.write("conversations/second"+typed+".json", hostileSession("second"))
	s.write("conversations/session (conflicted copy "+typed+").json", hostileSession("copy"))
	s.write("conversations/foreign (conflicted copy "+typed+").json", hostileSession("foreign"))
	s.write("conversations/"+strings.ReplaceAll(attack, "\x00", "")+".json", hostileSession("bad"))
	s.write("files/"+strings.ReplaceAll(attack, "\x00", ""), nil)
	for i, id := range []string{"foreign", typed, "second" + typed} {
		s.reads(id)
		for _, m := range share([]string{"u1", "a2" + attack, "t3" + attack, "a4" + attack, "a5" + attack}, i) {
			ref := id + "@" + m
			s.run(0, "show", ref)
			s.run(0, "rewind", ref)
			s.run(0, "status")
			s.run(0, "bookmark", ref, "on "+typed+id+m[:2])
			s.run(0, "diff", ref, id+"@u1")
			s.run(0, "append", id, "more", "--parent", m)
			s.run(0, "checkpoint", ref)
			s.run(0, "branch", ref)
			s.run(0, "undo")
		}
		s.run(0, "restore", id)
		s.run(0, "tree", "--messages", id)
		s.run(0, "inspect", filepath.Join(s.dir, "conversations", id+".json"))
	}
	s.run(0, "show", "zq")
	s.run(0, "doctor")
	s.run(0, "doctor", "--merge-copies")
	s.run(0, "doctor", "--fix")
}

func (s *escapeStory) agents() {
	tree := s.made("head.tree_id", "agent", "create", "ada", "--model", "command:canned", "--system", "Be brief."+attack)
	s.do("agent", "create", "bob", "--model", "m"+attack)
	s.do("agent", "set", "bob", "--system", "s"+attack)
	s.fails("agent", "create", "c"+attack)
	s.fails("agent", "set", "bob", "--steer-policy", attack)
	s.fails("agent", "set", "bob", "--auto-checkpoint", attack)
	s.do("agent", "chat", "ada", "hello"+strings.ReplaceAll(attack, "\x00", ""))
	node := s.made("node_id", "agent", "chat", "ada", "again"+strings.ReplaceAll(attack, "\x00", ""))
	s.do("agent", "chat", "ada", "once more"+strings.ReplaceAll(attack, "\x00", ""), "--stream")
	s.fails("agent", "chat", "bob", "hello")
	other := s.made("tree_id", "agent", "branch", "ada", "--from-node", tree+"@"+node, "--prompt", "q", "--name", "B"+typed)
	s.do("agent", "branch", "ada", "--from-node", tree+"@"+node, "--prompt", "q"+attack, "--name", "C"+typed)
	s.do("agent", "ls")
	s.do("agent", "show", "ada")
	s.do("agent", "show", "bob")
	s.do("agent", "trees", "ada")
	s.do("agent", "switch", "ada", other)
	s.do("agent", "rewind", "ada", tree+"/"+node)
	s.fails("agent", "rewind", "ada", attack)
	s.fails("agent", "switch", "ada", attack)
	s.do("agent", "archive", "ada", other)
	s.do("agent", "restore", "ada", other)
	s.do("agent", "snapshot", "ada")
	s.do("agent", "delete", "ada", other, "--force")
	s.do("steer", "ada", "now"+attack)
	s.do("follow-up", "ada", "then"+attack)
	s.do("queue", "ada")
	s.do("agent", "rm", "bob")
	s.mutate("agents/ada.json", []string{"agent", "ls"}, []string{"agent", "show", "ada"}, []string{"agent", "trees", "ada"},
		[]string{"queue", "ada"}, []string{"status"}, []string{"explore", "--dry-run", tree + "@" + node, "--strategy", "a=b"})
}

func (s *escapeStory) replays(ref string) {
	s.do("edit", ref, "--text", "Why?"+typed, "--answer", "--model", "command:canned")
	s.do("replay", ".."+ref, "--model", "command:canned", "--name", "Again"+typed)
	s.do("replay", ".."+ref, "--model", "command:canned", "--dry-run")
	s.fails("replay", "none"+attack, "--onto", ref)
}

func (s *escapeStory) explorations() {
	bread := s.made("sessions.0.id", "ls", "--title", "Bread")
	id := s.made("id", "explore", bread, "--strategy", "quick"+typed+"="+"in place"+typed, "--strategy", "radix", "--model", "command:canned")
	s.do("explore", bread, "--strategy", "other"+typed+"=x"+typed, "--model", "command:canned", "--adopt")
	s.do("explore", bread, "--strategy", "other"+typed+"=x"+typed, "--dry-run")
	s.fails("explore", bread, "--strategy", "q"+attack)
	s.fails("explore", bread, "--strategy", "q", "--run", "false")
	s.do("explore", "ls")
	s.do("explore", "show", id)
	s.do("explore", "evaluate", id, "--evaluate", "best")
	s.fails("explore", "evaluate", id, "--evaluate", attack)
	s.do("explore", "adopt", id)
	s.fails("explore", "adopt", id, attack)
	s.fails("explore", "show", attack)
	s.do("explore", "stats")
	s.do("explore", "resume", id)
	s.do("explore", "cancel", id)
	s.do("learnings")
	s.do("learnings", "--similar", "wet"+attack)
	s.mutate("explorations/"+id+".json", []string{"explore", "ls"}, []string{"explore", "show", id}, []string{"explore", "adopt", id}, []string{"explore", "stats"})
	s.run(0, "explore", "rm", id, "--branches")
}

// mutate runs command lines with one string of a file after the other replaced by an
// attack.
func (s *escapeStory) mutate(path string, commands ...[]string) {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil {
		s.t.Fatal(err)
	}
	all := mutations(s.t, data)
	for _, mutated := range testsize.Sample(s.t, "strings of "+path, all, testsize.Of(1, 1, len(all))) {
		s.write(path, mutated)
		for _, args := range commands {
			s.run(0, args...)
		}
	}
	if len(all) == 0 {
		s.t.Errorf("%s holds no strings", path)
	}
	s.write(path, data)
}

// mutations returns copies of a document, each with another of its strings replaced by an
// attack.
func mutations(t *testing.T, data []byte) (all [][]byte) {
	var root any
	if err := json.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		switch v := v.(type) {
		case string:
			set(v + attack)
			mutated, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, mutated)
			set(v)
		case []any:
			for i := range v {
				walk(v[i], func(x any) { v[i] = x })
			}
		case map[string]any:
			for _, key := range sortedKeys(v) {
				walk(v[key], func(x any) { v[key] = x })
			}
		}
	}
	walk(root, func(x any) { root = x })
	return all
}

func sortedKeys(m map[string]any) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// imports imports transcripts of each format with one string after the other of their first
// lines replaced by an attack.
func (s *escapeStory) imports() {
	elsewhere := s.t.TempDir()
	for i, f := range convert.Formats {
		if !f.Writes() || !f.Reads() {
			continue
		}
		out := filepath.Join(elsewhere, fmt.Sprint(i)+f.Ext)
		if _, err := s.run(0, "export", "foreign@a5"+attack, "--to", f.Name, "-o", out); err != nil {
			s.t.Errorf("export --to %s: %v", f.Name, err)
			continue
		}
		data, err := os.ReadFile(out)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, args := range share([][]string{{"import", out, "--dry-run"}, {"import", out, "--again"}, {"inspect", out}}, i) {
			s.run(0, args...)
		}
		s.transcripts(out, data, i)
	}
	path := filepath.Join(elsewhere, strings.ReplaceAll(attack, "\x00", ""))
	if err := os.WriteFile(path, []byte(attack), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run(0, "import", path)
	s.run(0, "import", elsewhere)
	s.run(0, "import", "-")
	s.run(0, "inspect", path)
	s.fails("import", path+"none")
	s.fails("import", "--from", attack)
	s.fails("import", "--format", attack, path)
	s.fails("export", "foreign", "--to", attack)
	s.fails("export", "foreign", "-o", path)
	s.do("log")
	s.do("undo")
	s.do("redo")
}

// transcripts imports the n-th transcript with one string after the other replaced by an
// attack.
func (s *escapeStory) transcripts(path string, data []byte, n int) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if json.Valid(data) {
		lines = [][]byte{data}
	}
	var records []int
	for i, l := range lines {
		if json.Valid(l) {
			records = append(records, i)
		}
	}
	for _, i := range share(records, n) {
		all := mutations(s.t, lines[i])
		for _, mutated := range testsize.Sample(s.t, "strings of a record", all, testsize.Of(1, 1, len(all))) {
			if i < len(lines)-1 {
				mutated = append(mutated, '\n')
			}
			text := bytes.Join(slices.Concat(lines[:i], [][]byte{mutated}, lines[i+1:]), nil)
			if err := os.WriteFile(path, text, 0o600); err != nil {
				s.t.Fatal(err)
			}
			s.run(0, "import", path, "--dry-run", "--again")
		}
	}
}

func (s *escapeStory) workspace() {
	s.do("config")
	s.do("config", "import.skip", "tmp"+attack)
	s.do("config", "import.skip")
	s.do("config")
	s.fails("config", "k"+attack)
	s.fails("config", "pager", "--user", "--add", attack)
	s.write("../.claude/settings.json", []byte("{\"a\": \"zq\u009b2J\u202e\",\n\"b\": 1 /* "+attack+" */}"))
	s.do("hook", "install", "claude", "--dry-run")
	s.do("hook", "install", "claude", "--yes")
	s.do("hook", "status")
	s.write("../.gemini/settings.json", []byte("{"+attack))
	s.fails("hook", "install", "gemini", "--yes")
	s.do("hook", "status")
	s.fails("setup", "--dry-run")
	s.do("setup", "--undo", "--dry-run")
	s.fails("hook", "install", attack)
	s.fails("mcp", "install", "gemini", "--yes")
	s.write("../.cursor/mcp.json", []byte("{\"a\": \"zq\u009b2J\u202e\",\n\"b\": 1 /* "+attack+" */}"))
	s.do("mcp", "install", "cursor", "--yes")
	s.do("mcp", "status")
	s.do("mcp", "uninstall", "cursor", "--yes")
	s.do("hook", "uninstall", "claude", "--yes")
	s.do("hook", "run", "claude", attack)
	s.run(0, "prune", "--dry-run")
	s.do("prune")
	s.do("du")
	s.do("trash")
	s.do("forget", "foreign", "--dry-run", "--copies")
	s.do("forget", "foreign", "--dry-run")
	s.fails("forget", "foreign", "--yes", attack)
	s.fails("forget", "foreign")
	s.files()
	s.run(30, "watch", "--from", "0")
	s.do("daemon", "status")
	s.do("daemon", "stop")
	s.do("daemon", "install", "--dry-run")
	s.run(1, "serve", "--addr", "127.0.0.1:0")
	s.fails("serve", "--addr", attack)
	s.mutate("head.json", []string{"status"}, []string{"ls"}, []string{"show"}, []string{"branches"})
	s.mutate("bookmarks.json", []string{"bookmarks"}, []string{"tree"}, []string{"show"}, []string{"branches"})
	s.do("forget", "foreign", "--yes", "foreign")
	s.do("trash", "--purge")
}

// remotes exchanges the workspace with another one whose names are attacks.
func (s *escapeStory) remotes() {
	url := "file://" + filepath.ToSlash(s.t.TempDir())
	other := *s
	other.dir = filepath.Join(s.t.TempDir(), "other")
	other.do("new", "--title", "Theirs"+typed)
	theirs := other.made("session_id", "append", "theirs"+attack)
	other.do("bookmark", theirs+"@last", "label"+typed)
	other.write("conversations/alien.json", hostileSession("alien"))
	other.do("remote", "add", "nas", url, "--machine", "there"+typed, "--as", "them"+typed)
	elsewhere, here := filepath.Join(s.t.TempDir(), "there"+typed), filepath.Join(s.t.TempDir(), "here"+typed)
	for _, dir := range []string{elsewhere, here} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	other.do("remote", "map", "files", elsewhere)
	other.do("files", "snap", theirs, "--dir", elsewhere)
	other.do("push", "--files")
	s.fails("remote", "add", "r"+attack, url)
	s.fails("remote", "add", "nas", "file:///"+attack)
	s.fails("remote", "add", "nas", attack)
	s.fails("remote", "add", "nas", url, "--key", "k"+attack)
	s.do("remote", "add", "nas", url, "--machine", "here"+typed)
	s.do("remote", "ls")
	s.do("remote", "map", "site", s.t.TempDir())
	s.do("remote", "map")
	s.fails("remote", "share", "none"+attack, url)
	s.fails("remote", "share", "none", "u"+attack)
	s.fails("remote", "map", "site"+attack, s.t.TempDir())
	s.fails("remote", "map", "site", "none"+attack)
	s.do("remote", "key")
	s.do("ls", "--remote")
	s.fails("pull", "none"+attack)
	s.do("pull", "Theirs"+typed)
	s.do("remote", "share", theirs, "file://"+filepath.ToSlash(s.t.TempDir()), "--name", "team", "--with", filepath.Join(s.t.TempDir(), "key"), "--as", "me"+typed)
	s.run(0, "remote", "rm", "team")
	s.run(0, "pull", "--dry-run")
	s.run(0, "pull", "--files")
	s.do("files", "ls")
	s.fails("rewind", theirs, "--files")
	s.do("remote", "map", "files", here)
	s.do("rewind", theirs, "--files", "--dry-run")
	s.do("branch", theirs, "--files", "--name", "Files")
	s.run(0, "push", "--dry-run")
	s.run(0, "push")
	other.run(0, "rename", theirs, "Theirs too"+typed)
	s.run(0, "rename", theirs, "Ours"+typed)
	other.run(0, "sync")
	s.run(0, "sync")
	s.run(0, "log", "--remote")
	s.run(0, "show", "there"+typed+"/HEAD")
	s.run(0, "remote", "check")
	s.fails("remote", "retire", "m"+attack)
	s.run(0, "remote", "retire", "there"+typed)
	s.run(0, "remote", "purge", theirs, "--yes")
	s.fails("remote", "purge", "none"+attack, "--yes")
	s.fails("push", "r"+attack)
	s.mutate(".bough/remotes/nas/config.json", []string{"remote", "ls"}, []string{"remote", "key"}, []string{"push"}, []string{"ls", "--remote"})
	s.fails("remote", "rm", "r"+attack)
	s.fails("remote", "set", "r"+attack, "--files")
	s.run(0, "remote", "set", "nas", "--as", "Ada"+typed)
	s.do("remote", "rm", "nas")
}

// files takes states of a folder whose names and contents are attacks.
func (s *escapeStory) files() {
	name := strings.NewReplacer("\x00", "", "\\", "", ":", "").Replace(attack)
	if runtime.GOOS == "windows" {
		name = typed
	}
	dir := filepath.Join(s.t.TempDir(), typed)
	for _, path := range []string{name, "sub" + name + "/.env" + name, "more/" + name} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(attack[:len(attack)/2]), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.do("files", dir)
	id := s.made("id", "files", "snap", "--dir", dir)
	s.do("files", "ls")
	if err := os.WriteFile(filepath.Join(dir, "more", name), []byte(attack[:4]+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.do("files", "diff", id, "now", "--patch", "--dir", dir)
	s.do("files", "diff", id, "now", "--dir", dir)
	s.fails("bisect", "second"+typed, "--dir", dir)
	s.fails("bisect", "p"+attack, "--dir", dir)
	s.do("files", "log", ".", "--patch", "--dir", dir)
	s.do("files", "log", name, "--dir", dir)
	s.do("blame", "more/"+name, "--dir", dir)
	s.fails("blame", name, "--dir", dir)
	s.fails("blame", name+":1", "--at", id, "--dir", dir)
	s.fails("blame", "p"+attack, "--dir", dir)
	s.fails("files", "log", "p"+attack, "--dir", dir)
	s.do("files", "show", id)
	s.do("files", "show", id, name)
	s.do("files", "export", id, filepath.Join(dir, "out"+typed))
	s.do("checkpoint", "second"+typed, "--files", "--dir", dir)
	s.do("branch", "second"+typed, "--files", "--dir", dir)
	s.do("rewind", "second"+typed, "--files", "--dry-run", "--dir", dir)
	s.fails("rewind", "p"+attack, "--files", "--dir", dir)
	s.fails("rewind", "second"+typed, "--both", "--only", attack+"/../..", "--dir", dir)
	s.fails("files", "turn", "p"+attack, "--dir", dir)
	s.fails("files", "apply", "p"+attack, "--into", dir)
	s.do("files", "forget", name, "--dir", dir, "--yes")
	s.fails("files", "forget", "p"+attack, "--dir", dir)
	s.fails("files", "show", id, "p"+attack)
	s.fails("files", "show", "s"+attack)
	s.fails("files", "export", id, dir)
	s.fails("files", "snap", "--dir", attack)
	s.fails("files", "snap", "none"+attack, "--dir", dir)
}

func (s *escapeStory) completion() {
	s.do("completion", "bash")
	s.fails("completion", attack)
	for _, words := range [][]string{
		{"show", ""}, {"show", "B"}, {"show", "Foreign"}, {"show", "zq"}, {"show", "second" + typed + "@"}, {"bookmark", "l"}, {"agent", "show", ""},
		{"agent", "switch", "ada", ""}, {"explore", "show", ""}, {"rm", ""}, {"config", ""}, {attack},
	} {
		s.run(0, append(words, completeFlag)...)
		if len(s.flags) == 0 {
			text := "bough " + strings.Join(words, " ")
			for _, kind := range []string{"9", "63"} {
				s.run(0, "completion", "--bash", fmt.Sprint(len(text)), "--breaks", "@:", "--type", kind, "--", text)
			}
		}
	}
}

// damage reads files with one string of a session after the other replaced by an attack,
// and files with nothing else.
func (s *escapeStory) damage() {
	commands := [][]string{{"ls"}, {"show", "plain"}, {"tree", "plain", "--messages"}, {"branches", "plain"}, {"lineage", "plain"}}
	s.write("conversations/plain.json", []byte(`{"id":"plain","created_at":"2026-05-25T15:00:00","metadata":{"title":"t","kind":"branch","branched_from":"x","branch_point":"y",
		"lineage":["x"],"continued_from":[],"model":"m","cwd":"/","bough":{"kind":"branch","source":{"format":"pi","path":"p","id":"i","cwd":"d","branch":"b"}}},
		"messages":[{"id":"u","role":"user","content":"c","timestamp":"2026-05-25T15:00:00","metadata":{"kind":"user","delivery_mode":"steer","model":"m","type":"t"}}]}`))
	s.mutate("conversations/plain.json", commands...)
	s.write("packed/hostile.json", []byte(`{"packed":{"runs":[["plain.zst",0,1]],"messages":1,"bytes":300,"opening":"o"},"session":{"id":"hostile","created_at":"2026-05-25T15:00:00",
		"metadata":{"title":"t","continued_from":["x"],"branched_from":"x","branch_point":"y","lineage":["x"],"flattened_snapshot":true,"bough":{"kind":"checkpoint"}},"messages":[]}}`))
	s.mutate("packed/hostile.json", []string{"ls"}, []string{"tree"}, []string{"show", "hostile"}, []string{"unpack", "hostile"}, []string{"rm", "hostile"}, []string{"doctor"})
	s.write("conversations/plain.json", []byte(`{"messages":[{"id":"a`+"\u009b\u202e"+`","id":"b"}]}`))
	for _, args := range append(commands, []string{"doctor"}, []string{"inspect", filepath.Join(s.dir, "conversations", "plain.json")}) {
		s.run(0, args...)
	}
	files := 0
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, s.dir))
		if err != nil || !d.Type().IsRegular() || strings.Contains(name, "/conversations/") || filepath.Ext(name) != ".json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range share([]string{attack, `{"` + attack, `{"version":"` + typed + `","agents":"` + typed + `"}`, "[" + attack}, files) {
			s.write(name, []byte(text))
			s.run(0, "status")
			s.run(0, "agent", "ls")
			s.run(0, "explore", "ls")
			s.run(0, "bookmarks")
			s.run(0, "config")
		}
		s.run(0, "doctor")
		files++
		return os.WriteFile(path, data, 0o600)
	})
	if err != nil {
		s.t.Error(err)
	}
	s.run(0, "doctor", "--fix")
	s.run(0, "log")
}

// TestEscapesInShow: the document of show is equal to the file as JSON.
func TestEscapesInShow(t *testing.T) {
	s := &escapeStory{t: t, dir: filepath.Join(t.TempDir(), "ws"), flags: []string{"--json"}, verbs: (&program{}).verbs(), ran: map[string]bool{}}
	file := hostileSession("foreign")
	s.write("conversations/foreign.json", file)
	shown := s.do("show", "foreign@u1")
	var got, want any
	for _, doc := range []struct {
		text string
		into *any
	}{{gjson.Get(shown, "messages.0").Raw, &got}, {gjson.GetBytes(file, "messages.0").Raw, &want}} {
		if err := json.Unmarshal([]byte(doc.text), doc.into); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("show --json prints the message %q, want %q", got, want)
	}
}

// TestChooseEscapes: the preview of a conversation has no control sequence.
func TestChooseEscapes(t *testing.T) {
	s, err := session.Decode("foreign", hostileSession("foreign"))
	if err != nil {
		t.Fatal(err)
	}
	if text := preview(s.Messages); driving(text) >= 0 || !strings.Contains(text, "zq") {
		t.Errorf("the preview is %q", text)
	}
}

// TestQuotedEscapes: a shell parses a printed word as the original word, for all
// characters.
func TestQuotedEscapes(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, word := range []string{strings.ReplaceAll(attack, "\x00", ""), "it's\x1b \\n", "it's $(x)", "\xff\x1b"} {
		if driving(printable.ShellWord(word)) >= 0 {
			t.Errorf("ShellWord(%q) is %q", word, printable.ShellWord(word))
		}
		out, err := exec.Command(bash, "-c", "printf %s "+printable.ShellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("bash reads %s as %q, %v, want %q", printable.ShellWord(word), out, err, word)
		}
	}
}
