package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/tidwall/gjson"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func importOne(t *testing.T, s *space, path string, o imports.Options) imports.Transcript {
	t.Helper()
	got, err := s.Import(t.Context(), []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Imported) != 1 {
		t.Fatalf("%d rows: %+v", len(got.Imported), got)
	}
	return got.Imported[0]
}

// Two transcripts of one conversation; the second one is longer.
const (
	askedTwice  = `[{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And 3 + 3?"}]`
	askedThrice = `[{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And 3 + 3?"},{"role":"assistant","content":"6"},{"role":"user","content":"And 4 + 4?"}]`
)

// take imports a transcript.
func take(s *space, text string) error {
	list, err := s.Import(context.Background(), []string{"-"}, imports.Options{Stdin: strings.NewReader(text)})
	if err == nil {
		for _, r := range list.Imported {
			if r.Status == imports.Failed {
				return errors.New(r.Detail)
			}
		}
	}
	return err
}

func TestImport(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	short := writeFile(t, "a.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"}]`)
	long := writeFile(t, "b.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"4"},{"role":"user","content":"And 3 + 3?"}]`)
	other := writeFile(t, "c.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"Who are you?"}]`)
	fork := writeFile(t, "d.json", `[{"role":"system","content":"Be brief."},{"role":"user","content":"What is 2 + 2?"},{"role":"assistant","content":"Four."}]`)
	known := session.ID("")
	for _, step := range []struct {
		path    string
		dry     bool
		status  imports.Status
		added   int
		another bool // it is another session
	}{
		{short, true, imports.New, 3, true},
		{short, false, imports.New, 3, true},
		{short, false, imports.Unchanged, 0, false},
		{long, true, imports.Updated, 1, false},
		{long, false, imports.Updated, 1, false},
		{short, false, imports.Unchanged, 0, false},
		{other, false, imports.New, 2, true},
		{fork, false, imports.New, 3, true}, // that answer may be from another conversation
		{fork, false, imports.Unchanged, 0, true},
	} {
		got := importOne(t, s, step.path, imports.Options{DryRun: step.dry})
		if got.Status != step.status || got.Added != step.added {
			t.Errorf("%s: %+v, want %s, %d added", filepath.Base(step.path), got, step.status, step.added)
		}
		if known == "" {
			known = got.Session
		}
		if !step.dry && (got.Session != known) != (step.another && step.path != short) {
			t.Errorf("%s is in %s", filepath.Base(step.path), got.Session)
		}
	}
	b, err := s.Branches(t.Context(), string(known), workspace.BranchesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Leaves) != 1 {
		t.Errorf("%d ends, want 1", len(b.Leaves))
	}
	healthy(t, s)
}

// TestImportSystemOnly: importing a transcript twice stores it once, even if it has only a
// system prompt.
func TestImportSystemOnly(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	brief := writeFile(t, "a.json", `[{"role":"system","content":"Be brief."},{"role":"system","content":"Be kind."}]`)
	want := func(path string, dry bool, status imports.Status) {
		t.Helper()
		if got := importOne(t, s, path, imports.Options{DryRun: dry}); got.Status != status {
			t.Errorf("%+v, want %s", got, status)
		}
	}
	want(brief, false, imports.New)
	want(brief, false, imports.Unchanged)
	want(brief, true, imports.Unchanged)
	want(writeFile(t, "b.json", `[{"role":"system","content":"Be brief."},{"role":"system","content":"Be long."}]`), false, imports.New)
}

// TestImportOrphanCycle: an orphan whose parent is imported later and follows it makes no cycle.
func TestImportOrphanCycle(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	const start, one, two, three = `{"uuid":"r","chat_messages":[`,
		`{"uuid":"a","sender":"human","text":"1","parent_message_uuid":"c"}`,
		`,{"uuid":"b","sender":"assistant","text":"2","parent_message_uuid":"a"}`,
		`,{"uuid":"c","sender":"human","text":"3","parent_message_uuid":"b"}`
	importOne(t, s, writeFile(t, "a.json", start+one+`]}`), imports.Options{})
	got := importOne(t, s, writeFile(t, "b.json", start+one+two+three+`]}`), imports.Options{})
	if got.Added != 2 || len(got.Problems) != 2 { // the transcript has the cycle, and the session would have it too
		t.Errorf("%+v", got)
	}
	report, err := s.Doctor(t.Context(), doctor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("%+v", p)
	}
}

// A during is a reader that calls a function before the first read.
type during struct {
	io.Reader
	do func()
}

func (d *during) Read(p []byte) (int, error) {
	if d.do != nil {
		d.do()
		d.do = nil
	}
	return d.Reader.Read(p)
}

// TestImportConcurrent: two imports at once both keep their conversations.
func TestImportConcurrent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	other := openSpace(t, s.Dir(), 0)
	list, err := s.Import(t.Context(), []string{"-"}, imports.Options{Stdin: &during{strings.NewReader(askedThrice), func() {
		if err := take(other, askedTwice); err != nil {
			t.Fatal(err)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Imported[0]; got.Status != imports.Updated || got.Added != 2 {
		t.Errorf("%+v", got)
	}
}

// TestImportCancelled: the error of a cancelled import mentions that stored conversations are
// kept.
func TestImportCancelled(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ctx, cancel := context.WithCancel(t.Context())
	stop := &during{strings.NewReader(askedTwice), cancel}
	list, err := s.Import(ctx, []string{writeFile(t, "a.jsonl", strings.Repeat(`{"messages":[{"role":"user","content":"1"}]}`+"\n", 2)), "-"}, imports.Options{Stdin: stop})
	if e := workspace.Explain(err); !errors.Is(err, context.Canceled) || len(list.Imported) == 0 || strings.Contains(e.Message, "nothing") {
		t.Errorf("%+v, %+v", list, e)
	}
}

// TestImportLeavesNothing: no temporary file of an import remains when bough is killed, if
// the system allows it.
func TestImportLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // a file that is open stays there
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := openSpace(t, t.TempDir(), 0)
	words := 2 << 20 // more bytes than stay in memory
	if !testsize.Full() {
		s.SetSpool(64 << 10)
		words = 64 << 10
	}
	text := `[{"role":"user","content":"` + strings.Repeat("long ", words) + `"},{"role":"assistant","content":"` + strings.Repeat("well ", 1<<10) + `"},{"role":"user","content":"`
	rest := &during{strings.NewReader(`yes"}]`), func() {
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
	}}
	if _, err := s.Import(t.Context(), []string{"-"}, imports.Options{Stdin: io.MultiReader(strings.NewReader(text), rest)}); err != nil {
		t.Fatal(err)
	}
}

// TestImportForkOfFork: a copy of a copy is a branch of the same conversation.
func TestImportForkOfFork(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	line := func(session, id, parent, text, of string) string {
		if parent = `"` + parent + `"`; parent == `""` {
			parent = "null"
		}
		from := ""
		if of != "" {
			from = `,"forkedFrom":{"sessionId":"` + of[:1] + `","messageUuid":"` + of + `"}`
		}
		return `{"type":"user","parentUuid":` + parent + `,"sessionId":"` + session + `","uuid":"` + id + `","message":{"role":"user","content":"` + text + `"}` + from + "}\n"
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"1.jsonl": line("c", "c1", "", "one", "b1") + line("c", "c2", "c1", "three", ""),
		"2.jsonl": line("b", "b1", "", "one", "a1") + line("b", "b2", "b1", "two", ""),
		"3.jsonl": line("a", "a1", "", "one", "") + line("a", "a2", "a1", "zero", ""),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		path  string
		added []int
	}{{dir, []int{2, 1, 1}}, {dir, []int{0, 0, 0}}, {filepath.Join(dir, "1.jsonl"), []int{0}}} {
		list, err := s.Import(t.Context(), []string{step.path}, imports.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, added := range step.added {
			if got := list.Imported[i]; got.Added != added || got.Session != list.Imported[0].Session {
				t.Errorf("%s: %+v, want %d added", step.path, got, added)
			}
		}
	}
	healthy(t, s)
}

// TestImportTwoIntoOne: two transcripts with no common message may both belong to one
// existing session.
func TestImportTwoIntoOne(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	line := func(id, parent string) string {
		return `{"message_id":"` + id + `","parent_id":` + parent + `,"text":"` + id + `","role":"prompter"}` + "\n"
	}
	one := writeFile(t, "1.jsonl", line("a", "null")+line("b", `"a"`)+line("c", `"b"`))
	two := writeFile(t, "2.jsonl", line("a", "null")+line("d", `"a"`))
	three := writeFile(t, "3.jsonl", line("c", `"gone"`)+line("e", `"c"`))
	for _, step := range []struct {
		paths []string
		added []int
	}{{[]string{one}, []int{3}}, {[]string{two, three}, []int{1, 1}}} {
		list, err := s.Import(t.Context(), step.paths, imports.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, added := range step.added {
			if got := list.Imported[i]; got.Added != added || got.Session != list.Imported[0].Session {
				t.Errorf("%+v, want %d added", got, added)
			}
		}
	}
	healthy(t, s)
}

// TestImportOtherLayout: a message that is laid out differently is still the same message.
func TestImportOtherLayout(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	transcript := `{"type":"assistant","uuid":"11111111-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","timestamp":"2026-01-01T00:00:00.000Z",` +
		`"message":{"role":"assistant","content":[{"type":"text","text":"Two  words, and \"more\"."},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]}}` + "\n"
	if err := take(s, transcript); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("sessions %+v, %v", list, err)
	}
	name := session.FileName(list.Sessions[0].ID)
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(s.read(name)), "", "   "); err != nil {
		t.Fatal(err)
	}
	s.write(name, out.String())
	again, err := s.Import(t.Context(), []string{"-"}, imports.Options{Stdin: strings.NewReader(transcript)})
	if err != nil || len(again.Imported) != 1 || again.Imported[0].Status != imports.Unchanged {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// TestImportGrows: repeated imports of a growing transcript lose no record that a message
// follows and duplicate none, even if a message was present before all of its records.
func TestImportGrows(t *testing.T) {
	t.Parallel()
	const meta = `"timestamp":"2026-01-01T00:00:00.000Z"`
	lines := []string{
		`{` + meta + `,"type":"session_meta","payload":{"id":"019b7000-0000-7000-8000-000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}}`,
		`{` + meta + `,"type":"event_msg","payload":{"type":"user_message","message":"one"}}`,
		`{` + meta + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}}`,
		`{` + meta + `,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]}}`,
		`{` + meta + `,"type":"event_msg","payload":{"type":"agent_message","message":"two"}}`,
		`{` + meta + `,"type":"event_msg","payload":{"type":"token_count","info":null}}`,
		`{` + meta + `,"type":"event_msg","payload":{"type":"user_message","message":"three"}}`,
		`{` + meta + `,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"three"}]}}`,
		`{` + meta + `,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"four"}]}}`,
	}
	s := openSpace(t, t.TempDir(), 0)
	for n := 2; n <= len(lines); n++ {
		if err := take(s, strings.Join(lines[:n], "\n")+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("sessions %+v, %v", list, err)
	}
	file := gjson.Parse(s.read(session.FileName(list.Sessions[0].ID)))
	all := records.Split([]byte(file.Get("metadata.bough.sources.0.records").Raw))
	for _, m := range file.Get("messages").Array() {
		all = append(all, records.Of([]byte(m.Raw))...)
	}
	data := string(records.Join(all))
	for _, line := range lines {
		if n := strings.Count(data, line); n != 1 {
			t.Errorf("%d times, want once: %s", n, line)
		}
	}
	healthy(t, s)
}

// TestImportEnds: an open message that has the same text when the program has ended it is no longer open,
// although nothing else is new. An older copy does not open it again.
func TestImportEnds(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	const begun, end = "\n# aider chat started at 2025-03-06 09:00:00\n\n#### Hello  \n\nHi there.\n", "\n> Tokens: 1k sent.  \n"
	path := writeFile(t, "aider.md", begun)
	importOne(t, s, path, imports.Options{})
	for _, c := range []struct {
		text   string
		status imports.Status
	}{{begun + end, imports.Updated}, {begun, imports.Unchanged}, {begun + end, imports.Unchanged}} {
		writeOver(t, path, []byte(c.text))
		row := importOne(t, s, path, imports.Options{})
		data, err := os.ReadFile(filepath.Join(s.Dir(), session.FileName(string(row.Session))))
		if err != nil {
			t.Fatal(err)
		}
		if row.Status != c.status || bytes.Contains(data, []byte(`"open"`)) {
			t.Errorf("after %q: %+v\n%s", c.text, row, data)
		}
	}
}

// TestImportReadOtherwise: a message of which an earlier version of bough read another text from the same
// record is the same message, and stays as it is.
func TestImportReadOtherwise(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	record := func(id, role, text string) string {
		return fmt.Sprintf(`{"id":%q,"role":%q,"content":[{"type":"text","text":%q}]}`, id, role, text)
	}
	transcript := func(records ...string) []byte {
		return []byte(`{"version":1,"agent":"lead","sessionId":"s","messages":[` + strings.Join(records, ",") + `]}`)
	}
	said := []string{
		record("a", "user", `<user_input mode="act">Paint the door</user_input>`), record("b", "assistant", "Done."),
		record("c", "user", `<user_input mode="act">And the roof</user_input>`), record("d", "assistant", "Done, too."),
	}
	path := writeFile(t, "s.messages.json", string(transcript(said...)))
	row := importOne(t, s, path, imports.Options{})
	name := filepath.Join(s.Dir(), session.FileName(string(row.Session)))
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	earlier := regexp.MustCompile(`("content":")(Paint the door|And the roof)"`).ReplaceAll(data, []byte(`${1}<user_input mode=\"act\">${2}</user_input>"`))
	if len(earlier) != len(data)+2*len(`<user_input mode=\"act\"></user_input>`) {
		t.Fatalf("it is not as an earlier version wrote it: %s", earlier)
	}
	writeOver(t, name, earlier)
	for _, dry := range []bool{true, false} {
		if row := importOne(t, s, path, imports.Options{Again: true, DryRun: dry}); row.Status != imports.Unchanged || row.Branches != 1 {
			t.Errorf("imported again: %+v", row)
		}
	}
	writeOver(t, path, transcript(append(said, record("e", "user", `<user_input mode="act">Thanks</user_input>`))...))
	if row := importOne(t, s, path, imports.Options{}); row.Status != imports.Updated || row.Added != 1 {
		t.Errorf("with one more message: %+v", row)
	}
	list, err := s.Branches(t.Context(), string(row.Session), workspace.BranchesOptions{})
	if err != nil || len(list.Leaves) != 1 {
		t.Errorf("branches %+v, %v", list, err)
	}
}

// writeOver writes the whole file again.
func writeOver(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestImportParents: the parent of a message is in its metadata, independent of its content
// and size, in memory and in a temporary file.
func TestImportParents(t *testing.T) {
	t.Parallel()
	trap := `"metadata":{"parent_id":null},"content":"x"`
	for _, size := range []int{1, 200 << 10, testsize.Of(300<<10, 1<<20, 5<<20)} {
		var b strings.Builder
		parent := "null"
		for n := range 4 {
			role, said := "user", `[{"type":"odd",`+trap+`},{"type":"text","text":"`+strings.Repeat("x", size)+`"}]`
			if n%2 == 1 {
				role, said = "assistant", `[{"type":"tool_use","id":"t`+string(rune('0'+n))+`","name":"f","input":{`+trap+`}}]`
			}
			fmt.Fprintf(&b, `{"parentUuid":%s,"type":"%s","sessionId":"s","uuid":"m%d","message":{"role":"%[2]s","content":%[4]s},"timestamp":"2026-01-01T00:00:0%[3]d.000Z"}`+"\n", parent, role, n, said)
			parent = fmt.Sprintf(`"m%d"`, n)
		}
		s := openSpace(t, t.TempDir(), 0)
		if size < 5<<20 {
			s.SetSpool(500 << 10) // two messages of 200 KB stay in memory, two larger ones do not
		}
		row := importOne(t, s, writeFile(t, "a.jsonl", b.String()), imports.Options{})
		data, err := os.ReadFile(filepath.Join(s.Dir(), "conversations", string(row.Session)+".json"))
		if err != nil || len(row.Problems) > 0 {
			t.Fatalf("%+v, %v", row, err)
		}
		for n, m := range gjson.GetBytes(data, "messages").Array() {
			want := ""
			if n > 0 {
				want = fmt.Sprintf("m%d", n-1)
			}
			if id, parent := m.Get("id").Str, m.Get("metadata.parent_id").Str; id != fmt.Sprintf("m%d", n) || parent != want {
				t.Errorf("%d bytes: the message %s follows %q, want %q", size, id, parent, want)
			}
		}
	}
}
