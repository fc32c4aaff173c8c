package workspace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
)

// drawers generate transcripts as programs write them, by the name of the format.
var drawers = map[string]func(*rand.Rand) []byte{
	"claude-code": testtranscript.ClaudeCode,
	"codex":       testtranscript.Codex,
	"gemini":      testtranscript.Gemini,
	"opencode":    testtranscript.OpenCode,
	"chatgpt":     testtranscript.ChatGPT,
	"anthropic":   testtranscript.Anthropic,
	"copilot-cli": testtranscript.Copilot,
	"qwen-code":   testtranscript.Qwen,
}

// TestImportGrowth: importing the beginning of a transcript and then the whole gives the
// same path, leaves and export as importing the whole. So does importing the whole and then
// an older copy.
func TestImportGrowth(t *testing.T) {
	t.Parallel()
	for _, f := range formatsBothWays(t) {
		if f.Sessions {
			continue // a session file is whole or damaged
		}
		t.Run(f.Name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(0, 13))
			files := [][]byte{writtenIn(t, f, random)}
			if draw := drawers[f.Name]; draw != nil {
				for range testsize.Of(1, 1, 3) {
					files = append(files, draw(random))
				}
			}
			for _, data := range files {
				grown(t, f, data, random)
			}
		})
	}
}

// writtenIn returns a generated tree as bough writes it in a format.
func writtenIn(t *testing.T, f *convert.Format, random *rand.Rand) []byte {
	t.Helper()
	drawn := drawTranscript(random)
	if !f.Branches {
		drawn.Messages = pathOf(drawn)
	}
	var b bytes.Buffer
	o := transcript.Options{ID: "0198a000-0000-7000-8000-00000000abcd", Now: drawn.Messages[0].Time, Random: rand.NewChaCha8([32]byte{3})}
	if _, err := f.Write(&b, drawn, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pathOf(t *transcript.Transcript) (path []*transcript.Message) {
	for at := t.Leaf; at != ""; {
		i := slices.IndexFunc(t.Messages, func(m *transcript.Message) bool { return m.ID == at })
		path = append(path, t.Messages[i])
		at = t.Messages[i].Parent
	}
	slices.Reverse(path)
	return path
}

// grown imports prefixes of a transcript, and after each the whole.
func grown(t *testing.T, f *convert.Format, data []byte, random *rand.Rand) {
	t.Helper()
	want := imported(t, f, data)
	at := 0
	for line := range bytes.Lines(data) {
		for _, cut := range []int{at + random.IntN(len(line)), at + len(line)} {
			if cut == 0 || cut == len(data) || !testsize.Full() && random.IntN(testsize.Of(120, 60, 1)) > 0 {
				continue
			}
			if got := imported(t, f, data[:cut], data); got != want {
				t.Fatalf("cut after %d bytes: imported twice it has\n%s\nimported once\n%s\nof\n%s\n<-- cut\n%s", cut, without(got, want), without(want, got), data[:cut], data[cut:])
			}
			if random.IntN(4) > 0 {
				continue // for time
			}
			if got := imported(t, f, data, data[:cut]); got != want {
				t.Fatalf("cut after %d bytes: an import of the beginning adds\n%s\nand removes\n%s\nof\n%s\n<-- cut\n%s", cut, without(got, want), without(want, got), data[:cut], data[cut:])
			}
		}
		at += len(line)
	}
}

// imported imports the states of one file one after the other and returns an outline of the
// workspace.
func imported(t *testing.T, f *convert.Format, states ...[]byte) string {
	t.Helper()
	s := openSpace(t, t.TempDir(), 0)
	path := writeFile(t, "transcript", "")
	for _, data := range states {
		writeOver(t, path, data)
		list, err := s.Import(t.Context(), []string{path}, imports.Options{Format: f})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Imported) == 0 {
			t.Fatal("no rows")
		}
	}
	return s.outline(f)
}

// outline returns the path, the leaves and the export of each conversation.
func (s *space) outline(f *convert.Format) string {
	s.t.Helper()
	list, err := s.List(s.t.Context(), "")
	if workspace.Explain(err) != nil && workspace.Explain(err).Code == fault.NotFound {
		return ""
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range list.Sessions {
		fmt.Fprintf(&b, "title %s\n", e.Title)
		c, err := s.Show(s.t.Context(), e.ID, session.ReadOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, m := range c.Messages {
			fmt.Fprintf(&b, "%s\n", m.Raw)
		}
		ends, err := s.Branches(s.t.Context(), e.ID, workspace.BranchesOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, leaf := range ends.Leaves {
			fmt.Fprintf(&b, "end %s %d %s\n", leaf.ID, leaf.Depth, session.Bough.Time(leaf.CreatedAt))
		}
		export, err := s.Export(s.t.Context(), e.ID, workspace.ExportOptions{Format: f, Tree: f.Branches})
		if err != nil {
			fmt.Fprintf(&b, "no export: %v\n", err)
			continue
		}
		again, _, err := f.ReadAll(bytes.NewReader(export.Data))
		if err != nil {
			s.t.Fatal(err)
		}
		messages := again[0].Messages
		if f.Ext == ".json" { // a document in which the order of messages has no meaning
			slices.SortFunc(messages, func(a, b *transcript.Message) int { return strings.Compare(a.ID, b.ID) })
		}
		for _, m := range messages {
			if len(m.Records) == 0 { // its id is derived from another one, which may contain the time
				b.WriteString("derived")
				continue
			}
			fmt.Fprintf(&b, "%s < %s\n", m.ID, m.Parent)
			for _, r := range m.Records {
				fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(string(r), export.ID, "ID"))
			}
		}
	}
	return clockID.ReplaceAllString(clockTime.ReplaceAllString(b.String(), "now"), "$1")
}

// clockID matches an opencode id, which begins with a time.
var clockID = regexp.MustCompile(`\b(msg_|prt_)[0-9a-f]{12}`)

// clockTime matches a time of the workspace's clock, which messages without a time get.
var clockTime = regexp.MustCompile(`2026-05-25T[0-9:.]*(\+00:00|Z)`)

// without returns the lines of text that other does not have.
func without(text, other string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(other, line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestImportLastActive: the time of last activity is the time of the latest message, at any
// place in the transcript.
func TestImportLastActive(t *testing.T) {
	t.Parallel()
	const user = `{"type":"user","uuid":"%s","parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:0%dZ","message":{"role":"user","content":"%[1]s"}}` + "\n"
	path := writeFile(t, "s.jsonl", fmt.Sprintf(user, "a", "null", 1)+fmt.Sprintf(user, "b", `"a"`, 6)+fmt.Sprintf(user, "c", `"a"`, 4))
	s := openSpace(t, t.TempDir(), 0)
	importOne(t, s, path, imports.Options{})
	list, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Sessions[0].LastActive; !got.Equal(time.Date(2026, 1, 1, 0, 0, 6, 0, time.UTC)) {
		t.Errorf("its last activity is at %s", got)
	}
}
