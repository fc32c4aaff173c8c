package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testdatabase"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// testOptions returns options that produce the same file each time.
func testOptions(id string) transcript.Options {
	return transcript.Options{
		ID:     id,
		Now:    time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Random: rand.NewChaCha8([32]byte{1}),
	}
}

// fixturesOf returns the files of a format in testdata, and those of a format that is only in
// databases.
func fixturesOf(t testing.TB, f *Format) []string {
	files, err := filepath.Glob(filepath.Join("testdata", f.Name, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if f.read == nil && f.rows != nil {
		statements, err := filepath.Glob(filepath.Join("testdata", "databases", f.Name, "*.sql"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range statements {
			files = append(files, testdatabase.Make(t, string(readFile(t, path))))
		}
	}
	if len(files) == 0 {
		t.Fatalf("the format %s has no fixtures: there are no files in convert/testdata/%s", f.Name, f.Name)
	}
	return files
}

func readFile(t testing.TB, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDetect: every fixture is detected as its format, and as no other.
func TestDetect(t *testing.T) {
	for _, f := range Formats {
		if f.detect == nil {
			continue
		}
		for _, path := range fixturesOf(t, f) {
			head := readFile(t, path)
			if bytes.Contains([]byte(filepath.Base(path)), []byte("undetected")) {
				continue // too little to decide
			}
			head = head[:min(len(head), HeadSize)]
			for _, other := range Formats {
				if other.detect == nil {
					continue
				}
				if got, want := other.detect(jsonl.TrimBOM(head)), other == f; got != want {
					t.Errorf("%s: detected as %s: %v", path, other.Name, got)
				}
			}
			for n := 0; n < min(len(head), 2000); n += testsize.Of(97, 17, 1) {
				Detect(head[:n]) // at any length
			}
		}
	}
}

// TestDetectNothing: other files are not detected as transcripts.
func TestDetectNothing(t *testing.T) {
	for _, head := range []string{
		"", " ", "[]", "{}", "null", "1", "hello", "[1,2]", `[{"name":"bob","role":"user"}]`, `{"messages":[]}`, `{"messages":{}}`, `[{"role":"user"`,
		`[{"role":"robot","content":"x"}]`,
		`[{"role":"user","parts":[{"type":"text","text":"hi"}]},{"role":"assistant","parts":[]}]`,    // without the ids of the AI SDK
		`[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[]}]`, // of OpenTelemetry
		`{"history":[{"role":"user","parts":[{"type":"text","text":"hi"}]}]}`,                        // of neither, nor of Gemini
		`{"uuid":"a","parentUuid":null,"sessionId":"s","type":"news","subtype":"ui_telemetry","systemPayload":{}}` + "\n",
		`{"user_name":"a","character_name":"b"}` + "\n" + `{"x":1}` + "\n",
		`{"name":"x","mapping":{"a":1}}`, "{\"a\":1}\n{\"b\":2}\n", "\x00\x01\x02", strings.Repeat("[", 10000),
	} {
		if f := Detect([]byte(head)); f != nil {
			t.Errorf("%.40q is %s", head, f.Name)
		}
	}
}

// TestDetectTorn: a log is detected by a record after a torn one on its only line, which is read,
// but a document is not by the lines of records in it.
func TestDetectTorn(t *testing.T) {
	const record = `{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Hello"}}`
	torn := `{"type":"user","uuid":"to` + record + "\n"
	if f := Detect([]byte(torn)); f != claudeCodeFormat {
		t.Fatalf("it is %v", f)
	}
	list, problems, err := claudeCodeFormat.ReadAll(strings.NewReader(torn))
	if err != nil || len(problems) != 1 || list[0].Messages[0].Text() != "Hello" {
		t.Errorf("%v, %v", problems, err)
	}
	if f := Detect([]byte("{\"log\":[\n" + record + ",\n" + record + ",\n{}]}")); f != nil {
		t.Errorf("a document is %s", f.Name)
	}
}

// roundTrip reads a file, writes its contents, reads the result, and returns the
// differences: the law of every format that is read and written.
func roundTrip(f *Format, data []byte) error {
	before, _, err := f.ReadAll(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	for _, t := range before {
		var b bytes.Buffer
		lost, err := f.Write(&b, t, testOptions(t.ID))
		if err != nil {
			return fmt.Errorf("writing %q: %v", t.ID, err)
		}
		if len(lost) > 0 {
			return fmt.Errorf("%q lost %v", t.ID, lost)
		}
		again, _, err := f.ReadAll(bytes.NewReader(b.Bytes()))
		if err != nil || len(again) != 1 {
			return fmt.Errorf("%q is read as %d conversations, %v:\n%s", t.ID, len(again), err, b.Bytes())
		}
		if err := same(t, again[0]); err != nil {
			return fmt.Errorf("%q: %v\n%s", t.ID, err, b.Bytes())
		}
	}
	return nil
}

// same describes the difference between two transcripts that should be equal.
func same(a, b *transcript.Transcript) error {
	if a.Leaf != b.Leaf {
		return fmt.Errorf("the leaf was %q and is %q", a.Leaf, b.Leaf)
	}
	if len(a.Messages) != len(b.Messages) {
		return fmt.Errorf("there were %d messages and are %d", len(a.Messages), len(b.Messages))
	}
	for i, m := range a.Messages {
		if got, want := sketch(b.Messages[i]), sketch(m); got != want {
			return fmt.Errorf("message %d was\n%s\nand is\n%s", i, want, got)
		}
	}
	if got, want := unlinked(b.Records), unlinked(a.Records); got != want {
		return fmt.Errorf("the records of the conversation were\n%s\nand are\n%s", want, got)
	}
	return nil
}

// sketch returns the members of a message, one per line.
func sketch(m *transcript.Message) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s after %q at %v: %s %s %s %s\n", m.ID, m.Parent, m.Time, m.Role, m.Own.Role, m.Kind, m.Model)
	for _, p := range m.Parts {
		raw, _ := json.Marshal(p)
		fmt.Fprintf(&s, "  %s\n", raw)
	}
	fmt.Fprintf(&s, "  %s", unlinked(m.Records))
	return s.String()
}

// unlinked returns records without the ids and links that a writer may change.
func unlinked(records []json.RawMessage) string {
	all := make([]string, len(records))
	for i, r := range records {
		r = bytes.Clone(r)
		for _, name := range []string{"uuid", "message_id", "current_node", "current_leaf_message_uuid", "message_tree_id", "conversation_id", "parent_message_uuid", "conversationId", "chat.history.currentId"} {
			r, _ = sjson.DeleteBytes(r, name)
		}
		if gjson.GetBytes(r, "mapping").Exists() {
			r, _ = sjson.DeleteBytes(r, "id")
		}
		if key, node := member.Only(r); gjson.GetBytes(node, "children").Exists() || gjson.GetBytes(node, "message").Exists() || gjson.GetBytes(node, "parent").Exists() || gjson.GetBytes(node, "parentId").Exists() || gjson.GetBytes(node, "childrenIds").Exists() {
			for _, name := range []string{"id", "parent", "children", "parentId", "childrenIds"} {
				node, _ = sjson.DeleteBytes(node, name)
			}
			_, r = key, node
		}
		all[i] = string(r)
	}
	return strings.Join(all, "\n  ")
}

// TestRoundTrip: a transcript that was read is written unchanged, and the output is read as
// the same transcript.
func TestRoundTrip(t *testing.T) {
	for _, f := range Formats {
		if !f.Reads() || !f.Writes() || slices.Contains(linearFormats, f) { // which have laws of their own
			continue
		}
		for _, path := range fixturesOf(t, f) {
			if filepath.Ext(path) == ".txtar" {
				continue // it tests its own result
			}
			if err := roundTrip(f, readFile(t, path)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

// TestLaidOutRecords: a record that a session file has on several lines is written on one
// line in a format with one record per line.
func TestLaidOutRecords(t *testing.T) {
	for _, test := range []struct {
		f  *Format
		in string
	}{
		{claudeCodeFormat, `{"type":"user","uuid":"11111111-1111-4111-8111-111111111111","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Hello"}}`},
		{piFormat, `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" +
			`{"type":"message","id":"aaaaaaaa","parentId":null,"message":{"role":"user","content":"Hello"}}`},
		{codexFormat, `{"type":"session_meta","payload":{"id":"s"}}` + "\n" + `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}`},
		{geminiFormat, `{"sessionId":"s","projectHash":"h"}` + "\n" + `{"id":"a","type":"user","content":"Hello"}`},
	} {
		list, problems, err := test.f.ReadAll(strings.NewReader(test.in))
		if err != nil || len(list) != 1 || len(problems) > 0 {
			t.Fatalf("%s: %d conversations, %v, %v", test.f.Name, len(list), problems, err)
		}
		lay := func(records []json.RawMessage) {
			for i, r := range records {
				var b bytes.Buffer
				if err := json.Indent(&b, r, "", "\t"); err != nil {
					t.Fatal(err)
				}
				records[i] = b.Bytes()
			}
		}
		lay(list[0].Records)
		lay(list[0].Messages[0].Records)
		var b bytes.Buffer
		if _, err := test.f.Write(&b, list[0], testOptions(probeID(1))); err != nil {
			t.Fatal(err)
		}
		list, problems, err = test.f.ReadAll(bytes.NewReader(b.Bytes()))
		if err != nil || len(problems) > 0 || len(list) != 1 || len(list[0].Messages) != 1 || list[0].Messages[0].Text() != "Hello" {
			t.Errorf("%s: %v, %v:\n%s", test.f.Name, problems, err, b.Bytes())
		}
	}
}

// full is a sink that accepts one message.
type full struct{ taken int }

var errFull = errors.New("sink is full")

func (f *full) Message(*transcript.Message) error {
	if f.taken++; f.taken > 1 {
		return errFull
	}
	return nil
}
func (f *full) End(*transcript.Conversation) error { return nil }
func (f *full) Problem(transcript.Problem)         {}

// TestSinkFails: the error of a sink ends the reading, and is not reported as a problem of
// the file.
func TestSinkFails(t *testing.T) {
	tested := 0
	for _, f := range Formats {
		if !f.Reads() {
			continue
		}
		for _, path := range fixturesOf(t, f) {
			data := readFile(t, path)
			if filepath.Ext(path) == ".txtar" {
				data = txtar.Parse(data).Files[0].Data
			}
			list, _, err := f.ReadAll(bytes.NewReader(data))
			if err != nil || len(list[0].Messages) < 2 {
				continue
			}
			tested++
			if err := f.Read(bytes.NewReader(data), new(full)); !errors.Is(err, errFull) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if tested < 30 {
		t.Errorf("only %d files have two messages", tested)
	}
}

// TestAliases holds that no two formats share a name or an alias, and that names match in
// any case.
func TestAliases(t *testing.T) {
	owner := map[string]string{}
	for _, f := range Formats {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if owner[name] != "" {
				t.Errorf("%q names %s and %s", name, owner[name], f.Name)
			}
			owner[name] = f.Name
		}
	}
	for name, want := range map[string]string{"md": "markdown", "claude": "claude-code", "Claude": "claude-code", "CODEX": "codex"} {
		if f, err := Named(name); err != nil || f.Name != want {
			t.Errorf("Named(%q) = %v, %v; want %s", name, f, err, want)
		}
	}
	if f, err := Named("word"); err == nil || !strings.Contains(err.Error(), "codex") {
		t.Errorf("Named of an unknown name = %v, %v; want an error that lists the formats", f, err)
	}
}

// TestNewIDWithoutRandom: every format returns an error if there is no randomness, never an
// id that another conversation may have.
func TestNewIDWithoutRandom(t *testing.T) {
	for _, f := range Formats {
		if id, err := f.NewID(time.Now(), strings.NewReader("")); err == nil {
			t.Errorf("%s: NewID = %q without random bytes, want an error", f.Name, id)
		}
	}
}

// TestWriteWithoutWriter: a format that bough only reads is refused.
func TestWriteWithoutWriter(t *testing.T) {
	f := Format{Name: "readonly"}
	if _, err := f.Write(io.Discard, &transcript.Transcript{}, transcript.Options{}); err == nil || !strings.Contains(err.Error(), "readonly") {
		t.Errorf("Write = %v, want an error with the format's name", err)
	}
}

// TestExportOfNothing: every format that can be written exports a conversation without
// messages, or says which are missing, and never names messages.
func TestExportOfNothing(t *testing.T) {
	for _, f := range Formats {
		if !f.Writes() {
			continue
		}
		w, err := f.Export(&transcript.Transcript{}, transcript.Options{})
		if err == nil && len(w.Same) > 0 {
			t.Errorf("%s: a conversation without messages has %v", f.Name, w.Same)
		}
	}
}

// TestPrograms: a program has the format of another one, with folders that the format has too.
func TestPrograms(t *testing.T) {
	m := transcript.Machine{Home: "/home/ada", OS: "linux", Env: func(string) string { return "" }}
	for _, p := range Programs() {
		f := named(p.Name)
		for _, root := range p.Roots(m) {
			if !slices.Contains(f.Roots(m), root) {
				t.Errorf("%s of %s is no folder of %s", root, p.Tool(), f.Name)
			}
		}
		for _, name := range append([]string{p.Tool()}, p.Aliases...) {
			list, unknown := FormatsOf(strings.ToUpper(name))
			if unknown >= 0 || !slices.ContainsFunc(list, func(o *Format) bool { return o.Name == p.Name }) {
				t.Errorf("%s is not found by its name %s", p.Tool(), name)
			}
		}
	}
	list, unknown := FormatsOf("pi", "kilo", "Kilo-Code", "opencode", "PI")
	var got []string
	for _, f := range list {
		got = append(got, f.Tool()+":"+f.Name)
	}
	if want := []string{"pi:pi", "kilo:opencode", "kilo:cline", "opencode:opencode"}; !slices.Equal(got, want) || unknown >= 0 {
		t.Errorf("the formats are %v, unknown %d, want %v", got, unknown, want)
	}
	for _, name := range []string{"hedgehog", ""} {
		if list, unknown := FormatsOf("pi", name, "mole"); list != nil || unknown != 1 {
			t.Errorf("of the unknown tool %q, the formats are %v, unknown %d", name, list, unknown)
		}
	}
}
