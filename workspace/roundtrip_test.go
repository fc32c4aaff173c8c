package workspace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	said "github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// drawTranscript returns a random tree of questions and answers, some with calls and
// results.
func drawTranscript(random *rand.Rand) *transcript.Transcript {
	t := &transcript.Transcript{}
	t.Dir, t.Title = "/home/ada/soup", "Soup"
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	add := func(parent *transcript.Message, role string, parts ...said.Part) *transcript.Message {
		at = at.Add(time.Second)
		m := &transcript.Message{ID: fmt.Sprintf("0198a000-0000-7000-8000-%012d", len(t.Messages)), Time: at}
		if parent != nil {
			m.Parent = parent.ID
		}
		m.Role, m.Parts = role, parts
		if role == "assistant" {
			m.Model = "claude-opus-4-5"
		}
		t.Messages = append(t.Messages, m)
		return m
	}
	root := add(nil, "user", said.Text(fmt.Sprint("hello ", random.IntN(1000))))
	spots := []*transcript.Message{root}
	for n := range 2 + random.IntN(8) {
		m := spots[random.IntN(len(spots))]
		if m.Role == "assistant" || random.IntN(3) == 0 && m != root {
			m = add(m, "user", said.Text(fmt.Sprint("question ", n, "\nof two lines")))
			spots = append(spots, m)
		}
		if random.IntN(3) == 0 {
			call := said.Call{ID: fmt.Sprint("call_", n), Name: "look", Arguments: `{"n":1}`}
			m = add(m, "assistant", said.Thinking("hm", ""), said.Text("let me look"), said.ToolCall(call))
			m = add(m, "user", said.ToolResult(said.Call{ID: call.ID, Name: call.Name, Failed: random.IntN(2) == 0}, fmt.Sprint("found ", n)))
		}
		m = add(m, "assistant", said.Text(fmt.Sprint("answer ", n)))
		spots = append(spots, m)
	}
	t.Leaf = t.Messages[len(t.Messages)-1].ID
	return t
}

// importBytes imports one transcript from a new file of its own.
func importBytes(t *testing.T, s *space, name string, data []byte) imports.Transcript {
	t.Helper()
	return importOne(t, s, writeFile(t, name, string(data)), imports.Options{})
}

// formatsBothWays are the formats that are read and written.
func formatsBothWays(t *testing.T) (list []*convert.Format) {
	for _, f := range convert.Formats {
		if f.Reads() && f.Writes() {
			list = append(list, f)
		}
	}
	if len(list) < 10 {
		t.Fatalf("%d formats", len(list))
	}
	return list
}

// TestRoundTrip: an exported conversation is unchanged when it is imported again. Messages
// added in the other program are imported below their parents.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	seeds := testsize.Of(1, 1, 12)
	var sources []*convert.Format
	for _, name := range []string{"pi", "claude-code", "codex", "gemini", "chatgpt", "openai"} {
		f, err := convert.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, f)
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		source := sources[seed%len(sources)]
		drawn := drawTranscript(random)
		var b bytes.Buffer
		if _, err := source.Write(&b, drawn, transcript.Options{ID: "0198a000-0000-7000-8000-00000000abcd", Now: drawn.Messages[0].Time, Random: rand.NewChaCha8([32]byte{3})}); err != nil {
			t.Fatal(err)
		}
		for _, f := range formatsBothWays(t) {
			t.Run(fmt.Sprint(seed, source.Name, f.Name), func(t *testing.T) { goesRound(t, b.Bytes(), f, rand.New(rand.NewPCG(uint64(seed), 6))) })
		}
	}
}

func goesRound(t *testing.T, data []byte, f *convert.Format, random *rand.Rand) {
	s := openSpace(t, t.TempDir(), 0)
	session := string(importBytes(t, s, "source", data).Session)
	ends, err := s.Branches(t.Context(), session, workspace.BranchesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Messages of this workspace are exported and recognized too.
	appended, err := s.Append(t.Context(), workspace.Append{Session: session, Text: "said in bough"})
	if err != nil {
		t.Fatal(err)
	}
	end := ends.Leaves[random.IntN(len(ends.Leaves))].ID
	if random.IntN(2) == 0 {
		end = appended.Message
	}
	e, err := s.Export(t.Context(), session+"@"+end, workspace.ExportOptions{Format: f, Tree: f.Branches})
	if err != nil {
		t.Fatal(err)
	}
	end = string(e.Message)
	count := len(s.every())
	if got := importBytes(t, s, "back", e.Data); got.Status != imports.Unchanged || string(got.Session) != session {
		t.Fatalf("as it was: %+v\n%s", got, e.Data)
	}
	longer, leaf := continued(t, f, e)
	if slices.Contains(s.every(), leaf) { // it may continue at another leaf than the exported one
		end = leaf
	}
	before := s.shown(session + "@" + end)
	got := importBytes(t, s, "longer", longer)
	if got.Status != imports.Updated || got.Added != 2 || string(got.Session) != session {
		t.Fatalf("longer: %+v\n%s", got, longer)
	}
	after := s.shown(session)
	if want := before + "user: and now?\nassistant: now this\n"; after != want {
		t.Fatalf("the path is\n%s\nwant\n%s", after, want)
	}
	if got := importBytes(t, s, "again", longer); got.Status != imports.Unchanged {
		t.Fatalf("again: %+v", got)
	}
	if n := len(s.every()); n != count+2 {
		t.Fatalf("%d messages, want %d", n, count+2)
	}
	healthy(t, s)
}

// continued returns an export with another question and answer, as its program continues
// it, and the id in the program of the message before them.
func continued(t *testing.T, f *convert.Format, e *workspace.Export) (longer []byte, leaf string) {
	t.Helper()
	list, problems, err := f.ReadAll(bytes.NewReader(e.Data))
	if err != nil || len(problems) > 0 {
		t.Fatalf("read again: %v, %v", err, problems)
	}
	tr := list[0]
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	ask := &transcript.Message{ID: "0199ffff-0000-7000-8000-000000000001", Parent: tr.Leaf, Time: at}
	ask.Role, ask.Parts = "user", []said.Part{said.Text("and now?")}
	answer := &transcript.Message{ID: "0199ffff-0000-7000-8000-000000000002", Parent: ask.ID, Time: at.Add(time.Second), Model: "claude-opus-4-5"}
	answer.Role, answer.Parts = "assistant", []said.Part{said.Text("now this")}
	tr.Messages, tr.Leaf = append(tr.Messages, ask, answer), answer.ID
	var b bytes.Buffer
	if _, err := f.Write(&b, tr, e.WrittenWith()); err != nil {
		t.Fatal(err)
	}
	if f.Name != "opencode" {
		return b.Bytes(), ask.Parent
	}
	// The writer assigns new ids; the program keeps the existing ones.
	was, now := gjson.GetBytes(e.Data, "messages").Array(), gjson.GetBytes(b.Bytes(), "messages").Array()
	longer = e.Data
	for i, m := range now[len(was):] {
		longer, err = sjson.SetRawBytes(longer, fmt.Sprint("messages.", len(was)+i), []byte(m.Raw))
		if err != nil {
			t.Fatal(err)
		}
	}
	return longer, ask.Parent
}

// shown returns role and text of the messages of a path, one per line.
func (s *space) shown(ref string) string {
	s.t.Helper()
	c, err := s.Show(s.t.Context(), ref, session.ReadOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, m := range c.Messages {
		read := said.Read(m.Raw)
		var texts []string
		for _, p := range read.Parts {
			texts = append(texts, p.Text+p.Call().ID)
		}
		fmt.Fprintf(&b, "%s: %s\n", read.Role, strings.ReplaceAll(strings.Join(texts, "|"), "\n", "/"))
	}
	return b.String()
}

// every returns the ids of all messages of the workspace.
func (s *space) every() (ids []string) {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.Dir(), "conversations", "session_2*.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, m := range gjson.GetBytes(data, "messages").Array() {
			ids = append(ids, m.Get("id").Str)
		}
	}
	slices.Sort(ids)
	return ids
}
