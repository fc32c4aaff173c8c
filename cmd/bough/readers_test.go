package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
)

const readersDir = "testdata/readers"

// A judge is the vendor's own reader of a format: a program in testdata/readers and its
// arguments before the files.
type judge struct {
	format, name string
	argv         []string
}

func judges() []judge {
	return []judge{
		{"pi", "pi 0.73", []string{"pi.mjs", "@mariozechner/pi-coding-agent"}},
		{"pi", "pi 0.99", []string{"pi.mjs", "@earendil-works/pi-coding-agent"}},
		{"claude-code", "the Claude agent SDK", []string{"claude.mjs"}},
	}
}

// needReaders skips the test if the vendors' packages or their runtime are missing.
func needReaders(t *testing.T) {
	t.Helper()
	needPackages(t, readersDir, "@anthropic-ai/claude-agent-sdk", "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent")
}

// needPackages skips the test if packages of npm are not installed in a folder.
func needPackages(t *testing.T, dir string, packages ...string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: the vendors' readers cannot run")
	}
	for _, p := range packages {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(p))); err != nil {
			t.Skip("the vendors' readers are not installed: run 'npm ci' in cmd/bough/" + dir)
		}
	}
}

// read returns the judge's reading of each file.
func (j judge) read(t *testing.T, files ...string) []gjson.Result {
	t.Helper()
	return j.readIn(t, readersDir, files...)
}

// readIn is read for a program in another folder.
func (j *judge) readIn(t *testing.T, dir string, files ...string) []gjson.Result {
	t.Helper()
	cmd := exec.Command("node", append(slices.Clone(j.argv), files...)...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", j.name, err, errs.String())
	}
	answers := gjson.ParseBytes(append(append([]byte("["), bytes.ReplaceAll(bytes.TrimSpace(out), []byte("\n"), []byte(","))...), ']')).Array()
	if len(answers) != len(files) {
		t.Fatalf("%s answers %d times to %d files: %s", j.name, len(answers), len(files), errs.String())
	}
	return answers
}

// linesOf joins an array of lines.
func linesOf(array gjson.Result) string {
	var lines []string
	for _, l := range array.Array() {
		lines = append(lines, l.String())
	}
	return strings.Join(lines, "\n")
}

// waysOf returns the paths to the leaves of a conversation, sorted. A path that is the
// beginning of another one is omitted: in Claude Code the first of two results ends such a
// path.
func waysOf(answer gjson.Result) []string {
	var all, ways []string
	for _, way := range answer.Get("ways").Array() {
		all = append(all, linesOf(way))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, way := range all {
		if !slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, way+"\n") }) {
			ways = append(ways, way)
		}
	}
	return ways
}

// A telling is one of the files in testdata/transcripts.txtar. All have the same
// conversation, as far as their formats allow.
type telling struct {
	file                string
	image, thinks, tool bool
	signed              bool // its thinking has a signature of Anthropic, which rejects any other
	failed              bool // it marks failed results
	tree                bool // it has both branches
	tools               bool // its active branch is the one with the tools
	title               bool
}

func tellings() []telling {
	return []telling{
		{file: "pi.jsonl", title: true, image: true, thinks: true, signed: true, tool: true, failed: true, tree: true},
		{file: "claude-code.jsonl", title: true, image: true, thinks: true, signed: true, tool: true, failed: true, tree: true},
		{file: "codex.jsonl", image: true, thinks: true, tool: true, tree: true},
		{file: "gemini.jsonl", image: true, thinks: true, tool: true, failed: true, tree: true},
		{file: "opencode.json", title: true, image: true, thinks: true, tool: true, failed: true, tools: true},
		{file: "openai.json", image: true, tool: true, tools: true},
		{file: "chatgpt.json", title: true, tree: true},
		{file: "claude-ai.json", title: true, tree: true},
	}
}

// format returns the format of the file.
func (s telling) format() string { return strings.TrimSuffix(s.file, filepath.Ext(s.file)) }

const (
	tellingImage = "image/png iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	secondPrompt = "Read the samples." // and the branch with the tools
	thirdPrompt  = "Use regexes."
	firstReply   = "A lexer, or regexes?"

	beforeCompaction = "user: Plan an INI parser.\nassistant: " + firstReply + "\nuser: " + thirdPrompt + "\nassistant: Regexes it is."
)

// beginning returns the messages before the branches, with or without the thinking.
func (s telling) beginning(thinks bool) string {
	lines := []string{"user: Plan an INI parser."}
	if s.image {
		lines = append(lines, "user "+tellingImage)
	}
	if s.thinks && thinks {
		thought := "Two ways."
		if s.format() == "gemini" { // which gives each thought a title
			thought = "**Ways** Two ways."
		}
		lines = append(lines, "assistant thinks: "+thought)
	}
	return strings.Join(append(lines, "assistant: "+firstReply), "\n")
}

// reading returns the branch with the tools, for a reader that does or does not mark failed
// results.
func (s telling) reading(fails bool) string {
	lines := []string{"user: " + secondPrompt}
	if s.tool {
		word := "result"
		if s.failed && fails {
			word = "failed"
		}
		lines = append(lines, "assistant: Reading.", `call 1 read {"path":"a.ini","lines":20}`, `call 2 read {"path":"b.ini"}`,
			"result 1: [x]\ny=1", word+" 2: no such file")
	}
	return strings.Join(append(lines, "assistant: One section, é, 漢字, 😀."), "\n")
}

// choosing returns the other branch.
func (s telling) choosing() string { return "user: " + thirdPrompt + "\nassistant: Regexes it is." }

// ways returns all paths, sorted as in waysOf, and more paths after the beginning.
func (s telling) ways(thinks bool, more ...string) []string {
	if s.tree || s.tools {
		more = append(more, s.reading(true))
	}
	if s.tree {
		more = append(more, s.choosing())
	}
	var ways []string
	for _, m := range more {
		ways = append(ways, s.beginning(thinks)+"\n"+m)
	}
	slices.Sort(ways)
	return ways
}

// transcripts writes the files of testdata/transcripts.txtar into a folder.
func transcripts(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/transcripts.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReaderFixtures: the vendors' own readers read the files that the other tests import as
// intended.
func TestReaderFixtures(t *testing.T) {
	needReaders(t)
	dir := transcripts(t)
	for _, j := range judges() {
		// Claude Code requires the ids of sessions as file names.
		file, compacted := filepath.Join(dir, j.format+".jsonl"), filepath.Join(dir, j.format+"-compacted.jsonl")
		if j.format == "claude-code" {
			for _, f := range []*string{&file, &compacted} {
				data, err := os.ReadFile(*f)
				if err != nil {
					t.Fatal(err)
				}
				*f = filepath.Join(dir, sessionOf(data)+".jsonl")
				if err := os.WriteFile(*f, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := tellings()[slices.IndexFunc(tellings(), func(s telling) bool { return s.format() == j.format })]
		answers := j.read(t, file, compacted)
		if got, want := linesOf(answers[0].Get("active")), s.beginning(true)+"\n"+s.choosing(); got != want {
			t.Errorf("%s reads this as active:\n%s\nwant:\n%s", j.name, got, want)
		}
		if got, want := waysOf(answers[0]), s.ways(true); !slices.Equal(got, want) {
			t.Errorf("%s reads these paths:\n%s\nwant:\n%s", j.name, strings.Join(got, "\n--\n"), strings.Join(want, "\n--\n"))
		}
		if got, want := linesOf(answers[1].Get("active")), compactedTelling(j.format, j.format); got != want {
			t.Errorf("%s reads this as active:\n%s\nwant:\n%s", j.name, got, want)
		}
	}
}

// compactedTelling returns the messages that the model gets of a compacted conversation. In
// the one from pi the last turn was kept.
func compactedTelling(from, in string) string {
	summary, kept := "user: A parser with regexes was planned.\n", ""
	if in == "pi" {
		summary = "summary: A parser with regexes was planned.\n"
	}
	if from == "pi" {
		kept = "user: " + thirdPrompt + "\nassistant: Regexes it is.\n"
	}
	return summary + kept + "user: Go on.\nassistant: Done."
}

// messageOf returns the message of a session with a text.
func messageOf(t *testing.T, ws, session, text string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(ws, "conversations", session+".json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("no session %s: %v", session, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for _, m := range gjson.GetBytes(data, "messages").Array() {
		if strings.Contains(m.Get("content").Raw, text) {
			if id != "" {
				t.Fatalf("two messages of %s have the text %q", session, text)
			}
			id = m.Get("id").String()
		}
	}
	if id == "" {
		t.Fatalf("no message of %s has the text %q", session, text)
	}
	return id
}

// A judged file is an exported conversation with the expected result of a reader.
type judged struct {
	what   string
	file   string
	title  string // "" is not compared
	label  string // the line with the label start, "" is not compared
	active string
	ways   []string // nil is not compared
	roots  int64
}

// TestReaders: the vendors' own readers read exports as intended, from any format: after a
// branch, after a rewind, at a message, and with all branches.
func TestReaders(t *testing.T) {
	needReaders(t)
	const said, reply = "Use PEG.", "PEG it is."
	goesOn := "user: " + said + "\nassistant: " + reply
	files := transcripts(t)
	for _, format := range []string{"pi", "claude-code"} {
		var list []judged
		for _, from := range tellings() {
			ws, out := filepath.Join(t.TempDir(), "ws"), t.TempDir()
			thinks := format == "pi" || from.signed
			bough := func(args ...string) gjson.Result {
				t.Helper()
				return gjson.Parse(do(t, append([]string{"-w", ws, "--json"}, args...)...))
			}
			export := func(what, active string, ways []string, args ...string) {
				t.Helper()
				file := filepath.Join(out, what+".jsonl")
				bough(append([]string{"export", "--to", format, "-o", file}, args...)...)
				title := ""
				if from.title && what != "after a branch" { // which has a title of its own
					title = "INI parser"
				}
				label := ""
				if from.file == "pi.jsonl" && format == "pi" && (what == "all of it" || what == "at a message") {
					label = "user " + tellingImage // that message's last line
				}
				list = append(list, judged{from.format() + ", " + what, file, title, label, active, ways, 1})
			}
			session := bough("import", filepath.Join(files, from.file)).Get("imported.0.session_id").String()
			at := session + "@" + messageOf(t, ws, session, firstReply)

			active := from.beginning(thinks) + "\n" + from.choosing()
			if from.tools {
				active = from.beginning(thinks) + "\n" + from.reading(true)
			}
			export("as it came", active, []string{active}, session)
			export("all of it", active, from.ways(thinks), session, "--tree")
			if from.tree || from.tools {
				read := from.beginning(thinks) + "\n" + from.reading(true)
				export("at a message", read, []string{read}, session+"@"+messageOf(t, ws, session, "One section"))
			}

			branch := bough("branch", at).Get("id").String()
			bough("append", branch, said)
			bough("append", branch, reply, "--role", "assistant")
			onward := from.beginning(thinks) + "\n" + goesOn
			export("after a branch", onward, []string{onward}, branch)

			bough("rewind", at)
			bough("append", said)
			bough("append", reply, "--role", "assistant")
			export("after a rewind", onward, []string{onward}, session)
			export("all of it after a rewind", onward, from.ways(thinks, goesOn), session, "--tree")
		}
		for _, j := range judges() {
			if j.format == format {
				j.agrees(t, list)
			}
		}
	}
}

// TestReadersCompacted: a compacted conversation continues with its summary, and the
// messages before it can still be reached.
func TestReadersCompacted(t *testing.T) {
	needReaders(t)
	files := transcripts(t)
	const more = "And then?"
	for _, way := range [][2]string{{"pi", "pi"}, {"pi", "claude-code"}, {"claude-code", "claude-code"}, {"claude-code", "pi"}} {
		from, format := way[0], way[1]
		ws, out := filepath.Join(t.TempDir(), "ws"), t.TempDir()
		bough := func(args ...string) gjson.Result {
			t.Helper()
			return gjson.Parse(do(t, append([]string{"-w", ws, "--json"}, args...)...))
		}
		var list []judged
		export := func(what, active string, roots int64, args ...string) {
			t.Helper()
			file := filepath.Join(out, what+".jsonl")
			bough(append([]string{"export", "--to", format, "-o", file}, args...)...)
			list = append(list, judged{what: from + ", " + what, file: file, active: active, roots: roots})
		}
		session := bough("import", filepath.Join(files, from+"-compacted.jsonl")).Get("imported.0.session_id").String()
		after, roots := compactedTelling(from, format), int64(1)
		if format == "claude-code" {
			roots = 2 // a compaction begins a new root there
		}
		export("as it came", after, roots, session)
		export("all of it", after, roots, session, "--tree")

		branch := bough("branch", session+"@"+messageOf(t, ws, session, "Done.")).Get("id").String()
		bough("append", branch, more)
		export("after a branch", after+"\nuser: "+more, roots, branch)

		branch = bough("branch", session+"@"+messageOf(t, ws, session, "Regexes it is.")).Get("id").String()
		bough("append", branch, more)
		export("after a branch before the compaction", beforeCompaction+"\nuser: "+more, 1, branch)
		for _, j := range judges() {
			if j.format == format {
				j.agrees(t, list)
			}
		}
	}
}

// agrees runs the judge on files with the names that its program uses.
func (j judge) agrees(t *testing.T, list []judged) {
	t.Helper()
	var files, ids []string
	for _, e := range list {
		data, err := os.ReadFile(e.file)
		if err != nil {
			t.Fatal(err)
		}
		id := gjson.GetBytes(data, "id").String() // of the first line
		if j.format == "claude-code" {
			fitsAnthropic(t, e.what, data)
			id = sessionOf(data)
		}
		file := filepath.Join(t.TempDir(), id+".jsonl")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		files, ids = append(files, file), append(ids, id)
	}
	for i, got := range j.read(t, files...) {
		e := list[i]
		if got.Get("id").String() != ids[i] || ids[i] == "" {
			t.Errorf("%s: %s lists it as %q, want %q", e.what, j.name, got.Get("id"), ids[i])
		}
		if active := linesOf(got.Get("active")); active != e.active {
			t.Errorf("%s: %s reads this as active:\n%s\nwant:\n%s", e.what, j.name, active, e.active)
		}
		if ways := waysOf(got); e.ways != nil && !slices.Equal(ways, e.ways) {
			t.Errorf("%s: %s reads these paths:\n%s\nwant:\n%s", e.what, j.name, strings.Join(ways, "\n--\n"), strings.Join(e.ways, "\n--\n"))
		}
		// Another model receives thinking as ordinary text.
		sent := strings.ReplaceAll(e.active, "assistant thinks: ", "assistant: ")
		if got.Get("sent").Exists() && !strings.HasPrefix(sent, "summary: ") && linesOf(got.Get("sent")) != sent {
			t.Errorf("%s: %s sends this:\n%s\nwant:\n%s", e.what, j.name, linesOf(got.Get("sent")), sent)
		}
		if e.label != "" && got.Get("labels.start").String() != e.label {
			t.Errorf("%s: to %s the labels are %s, want one on %q", e.what, j.name, got.Get("labels"), e.label)
		}
		if title := got.Get("title").String(); e.title != "" && title != e.title {
			t.Errorf("%s: to %s its title is %q, want %q", e.what, j.name, title, e.title)
		}
		if got.Get("rewritten").Bool() || got.Get("roots").Int() != e.roots {
			t.Errorf("%s: %s rewrites it, or reads %s roots", e.what, j.name, got.Get("roots"))
		}
	}
}

// fitsAnthropic checks that a transcript of Claude Code has nothing that the provider
// rejects: the program sends it unchecked.
func fitsAnthropic(t *testing.T, what string, data []byte) {
	t.Helper()
	fits := func(id string) bool {
		return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	}
	last, response, open := "", "", 0 // the line before, its response, and the calls in that
	gjson.ForEachLine(string(data), func(line gjson.Result) bool {
		if line.Get("parentUuid").String() != last || line.Get("type").String() == "user" {
			open = 0
		}
		id := line.Get("message.id").String()
		if open > 0 && id != response {
			t.Errorf("%s: Anthropic refuses two responses in a row that call tools: %s", what, line.Raw)
		}
		for _, b := range line.Get("message.content").Array() {
			switch kind := b.Get("type").String(); {
			case kind == "tool_use" && !fits(b.Get("id").String()), kind == "tool_result" && !fits(b.Get("tool_use_id").String()):
				t.Errorf("%s: Anthropic refuses the id of a tool call: %s", what, b.Raw)
			case kind == "tool_use":
				open++
			case kind == "thinking" && b.Get("signature").String() == "":
				t.Errorf("%s: Anthropic refuses thinking that is not signed: %s", what, b.Raw)
			}
		}
		if uuid := line.Get("uuid"); uuid.Exists() {
			last, response = uuid.String(), id
		}
		return true
	})
}

// sessionOf returns the session id of a Claude Code transcript, "" if its lines disagree.
func sessionOf(data []byte) string {
	var ids []string
	gjson.ForEachLine(string(data), func(line gjson.Result) bool {
		if id := line.Get("sessionId"); id.Exists() {
			ids = append(ids, id.String())
		}
		return true
	})
	if ids = slices.Compact(ids); len(ids) != 1 {
		return ""
	}
	return ids[0]
}

// TestReadersSamples: the vendors' readers read the transcripts in the folders pi and
// claude-code of BOUGH_SAMPLES the same after an import and an export by bough. Without
// BOUGH_SAMPLES there are none.
func TestReadersSamples(t *testing.T) {
	root := os.Getenv("BOUGH_SAMPLES")
	if root == "" {
		return
	}
	needReaders(t)
	for _, j := range judges() {
		files, err := filepath.Glob(filepath.Join(root, j.format, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(file)
			if j.format == "claude-code" {
				if name = sessionOf(data) + ".jsonl"; !strings.Contains(name, "-") {
					t.Logf("Claude Code does not accept %s as a session", file)
					continue
				}
			}
			ws, out := filepath.Join(t.TempDir(), "ws"), t.TempDir()
			before := filepath.Join(out, name)
			if err := os.WriteFile(before, data, 0o600); err != nil {
				t.Fatal(err)
			}
			session := gjson.Get(do(t, "-w", ws, "--json", "import", file), "imported.0.session_id").String()
			after := filepath.Join(out, "after.jsonl")
			do(t, "-w", ws, "--json", "export", session, "--tree", "--to", j.format, "-o", after)
			if j.format == "claude-code" {
				if data, err = os.ReadFile(after); err != nil {
					t.Fatal(err)
				}
				named := filepath.Join(out, sessionOf(data)+".jsonl")
				if err := os.Rename(after, named); err != nil {
					t.Fatal(err)
				}
				after = named
			}
			answers := j.read(t, before, after)
			was, is := linesOf(answers[0].Get("active")), linesOf(answers[1].Get("active"))
			ways := waysOf(answers[1])
			// The SDK ignores the prompt that Claude Code stores as the last one.
			if is != was && !(slices.Contains(ways, is) && strings.Contains(string(data), `"last-prompt"`)) {
				t.Errorf("%s: %s read this as active:\n%s\nand now:\n%s", file, j.name, was, is)
			}
			if want := waysOf(answers[0]); !slices.Equal(ways, want) {
				t.Errorf("%s: %s read these paths:\n%s\nand now:\n%s", file, j.name, strings.Join(want, "\n--\n"), strings.Join(ways, "\n--\n"))
			}
		}
	}
}
