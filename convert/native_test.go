package convert

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
)

// nativeCases returns the transcripts of a format in testdata: name, content, and expected
// result.
func nativeCases(t testing.TB, format string) (cases []nativeCase) {
	names, err := filepath.Glob(filepath.Join("testdata", format, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no testdata of %s: %v", format, err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil || len(a.Files) != 2 {
			t.Fatalf("%s: %v, %d files", name, err, len(a.Files))
		}
		cases = append(cases, nativeCase{strings.TrimSuffix(filepath.Base(name), ".txtar"), a.Files[0].Data, string(a.Files[1].Data)})
	}
	return cases
}

type nativeCase struct {
	name string
	in   []byte
	want string
}

// isOdd reports whether a case has records that do not come back as they were.
func isOdd(name string) bool { return name == "odd" || name == "twice" }

// update records the result of reading a transcript.
func (c nativeCase) update(t *testing.T, format, read string) {
	path := filepath.Join("testdata", format, c.name+".txtar")
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a.Files[1].Data = []byte(read)
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func nativeFormat(t testing.TB, name string) *Format {
	f, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// nativeTrees yields the conversations of all cases of a format.
func nativeTrees(t testing.TB, f *Format) iter.Seq2[nativeCase, *transcript.Transcript] {
	return func(yield func(nativeCase, *transcript.Transcript) bool) {
		for _, c := range nativeCases(t, f.Name) {
			list, _, err := f.ReadAll(bytes.NewReader(c.in))
			if err != nil && !errors.Is(err, ErrNothing) {
				t.Fatal(err)
			}
			for _, tr := range list {
				if !yield(c, tr) {
					return
				}
			}
		}
	}
}

// nativeRead reads the one conversation of a file, nil if there is none.
func nativeRead(t testing.TB, f *Format, in []byte) (*transcript.Transcript, []transcript.Problem) {
	list, problems, err := f.ReadAll(bytes.NewReader(in))
	switch {
	case errors.Is(err, ErrNothing):
		return nil, problems
	case err != nil || len(list) != 1:
		t.Fatalf("%d conversations, %v", len(list), err)
	}
	return list[0], problems
}

func nativeWrite(t testing.TB, f *Format, tr *transcript.Transcript, id string) ([]byte, []transcript.Loss) {
	var out bytes.Buffer
	lost, err := f.Write(&out, tr, transcript.Options{
		ID: id, Now: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Random: rand.NewChaCha8([32]byte{7}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), lost
}

// nativeOutline formats the conversations of a file as text.
func nativeOutline(list []*transcript.Transcript, problems []transcript.Problem) string {
	var b strings.Builder
	if len(list) == 0 {
		b.WriteString("nothing\n")
	}
	for _, tr := range list {
		fmt.Fprintf(&b, "session %s title=%q dir=%s version=%s model=%s leaf=%s side=%v before=%d", tr.ID, tr.Title, tr.Dir, tr.Version, tr.Model, tr.Leaf, tr.Side, len(tr.Records))
		if tr.BegunBy != "" {
			fmt.Fprintf(&b, " begun-by=%s", tr.BegunBy)
		}
		if tr.Inline {
			b.WriteString(" inline")
		}
		for _, id := range slices.Sorted(maps.Keys(tr.Began)) {
			fmt.Fprintf(&b, " began=%s+%s", id, tr.Began[id])
		}
		if tr.Fork != nil {
			fmt.Fprintf(&b, " fork=%s+%d", tr.Fork.ID, tr.Fork.Records)
		}
		if tr.Branch != "" {
			b.WriteString(" branch=" + tr.Branch)
		}
		b.WriteString("\n")
		for _, m := range tr.Messages {
			b.WriteString(nativeLine(m) + "\n")
		}
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "problem in line %d: %s\n", p.Line, p.What)
	}
	return b.String()
}

func nativeLine(m *transcript.Message) string {
	says := make([]string, len(m.Parts))
	for i := range m.Parts {
		p := &m.Parts[i]
		says[i] = p.Type + " " + p.Text
		if c := p.Call(); c.ID != "" || c.Name != "" {
			says[i] += fmt.Sprintf(" %s %s %s", c.ID, c.Name, c.Arguments)
		}
	}
	s := fmt.Sprintf("%s < %s %s", m.ID, m.Parent, m.Role)
	for _, more := range []string{m.Own.Role, string(m.Kind), m.CopyOf} {
		if more != "" {
			s += " " + more
		}
	}
	if m.Joined != "" {
		s += " joined=" + m.Joined
	}
	if m.Open {
		s += " open"
	}
	return fmt.Sprintf("%s x%d: %q", s, len(m.Records), strings.Join(says, " | "))
}

func nativeRecords(tr *transcript.Transcript) (all []byte) {
	for _, r := range tr.Records {
		all = append(append(all, r...), '\n')
	}
	for _, m := range tr.Messages {
		for _, r := range m.Records {
			all = append(append(all, r...), '\n')
		}
	}
	return all
}

// TestNativeReads: the tree of each file of testdata is the recorded one, and its records
// are all lines that are objects, unchanged.
func TestNativeReads(t *testing.T) {
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		for _, c := range nativeCases(t, name) {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				if got := Detect(c.in); got != f {
					t.Errorf("detected as %v", got)
				}
				list, problems, err := f.ReadAll(bytes.NewReader(c.in))
				if err != nil && !errors.Is(err, ErrNothing) {
					t.Fatal(err)
				}
				if flag.Lookup("update").Value.String() == "true" {
					c.update(t, name, nativeOutline(list, problems))
					return
				}
				if got := nativeOutline(list, problems); got != c.want {
					t.Errorf("read\n%s\nwant\n%s", got, c.want)
				}
				left := 0
				for line := range bytes.Lines(c.in) {
					if isNativeRecord(line) {
						left++
					}
				}
				for _, tr := range list {
					got, want := nativeRecords(tr), []byte(nil)
					for line := range bytes.Lines(c.in) {
						if isNativeRecord(line) && (len(list) == 1 || bytes.Contains(got, line)) {
							want = append(want, line...)
							left--
						}
					}
					if !bytes.Equal(got, want) {
						t.Errorf("the records of %s are\n%s\nwant\n%s", tr.ID, got, want)
					}
				}
				if left != 0 && len(list) > 0 {
					t.Errorf("%d records are missing", left)
				}
			})
		}
	}
}

// isNativeRecord reports whether a line with its end is an object.
func isNativeRecord(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}\n"))
}

// TestNativeShapes: line ends, a byte order mark and torn lines change nothing else.
func TestNativeShapes(t *testing.T) {
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		for _, c := range nativeCases(t, name) {
			want, _, _ := f.ReadAll(bytes.NewReader(c.in))
			if len(want) == 0 {
				continue
			}
			for shape, in := range map[string][]byte{
				"CRLF":         bytes.ReplaceAll(c.in, []byte("\n"), []byte("\r\n")),
				"BOM":          append([]byte("\xef\xbb\xbf"), c.in...),
				"empty lines":  bytes.ReplaceAll(c.in, []byte("\n"), []byte("\n\n")),
				"no last end":  bytes.TrimSuffix(c.in, []byte("\n")),
				"a torn line":  append(slices.Clone(c.in), `{"type":"user","uuid":"zz","messa`...),
				"zeros at end": append(slices.Clone(c.in), make([]byte, 4096)...),
			} {
				got, problems, _ := f.ReadAll(bytes.NewReader(in))
				if a, b := nativeOutline(got, nil), nativeOutline(want, nil); a != b {
					t.Errorf("%s/%s with %s: read\n%s\nwant\n%s", name, c.name, shape, a, b)
				}
				if (shape == "a torn line" || shape == "zeros at end") && len(problems) == 0 {
					t.Errorf("%s/%s with %s: no problem", name, c.name, shape)
				}
				if Detect(in[:min(len(in), HeadSize)]) != f {
					t.Errorf("%s/%s with %s: not detected", name, c.name, shape)
				}
			}
		}
	}
}

// TestNativeWhole: a conversation that is written unchanged has the same records; under
// another id only that id differs.
func TestNativeWhole(t *testing.T) {
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		for c, tr := range nativeTrees(t, f) {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				id := tr.ID
				if tr.Side { // it is known under the name of the assistant
					id = gjson.GetBytes(tr.Messages[0].Records[0], "sessionId").Str
				}
				same, lost := nativeWrite(t, f, tr, id)
				if len(lost) > 0 {
					t.Errorf("lost %v", lost)
				}
				// A record that names a missing message, or another place to continue at,
				// is not written.
				want := slices.DeleteFunc(strings.SplitAfter(string(nativeRecords(tr)), "\n"), func(line string) bool {
					return strings.Contains(line, `"leafUuid": "nobody"`)
				})
				got := string(same)
				if isOdd(c.name) { // duplicate ids, and cycles, are gone
					again, _ := nativeRead(t, f, same)
					if a, b := nativeSays(again.Messages), nativeSays(tr.Messages); a != b {
						t.Errorf("read again\n%s\nwant\n%s", a, b)
					}
					gone := 1 // what follows the last line end
					if name == "claude-code" {
						gone++ // the second record with an id
					}
					if a, b := strings.Count(got, "\n"), len(want)-gone; a != b {
						t.Errorf("wrote %d lines, not %d", a, b)
					}
					return
				}
				if got != strings.Join(want, "") {
					t.Errorf("wrote\n%s\nwant\n%s", got, strings.Join(want, ""))
				}
				other, _ := nativeWrite(t, f, tr, "5e550000-0000-4000-8000-0000000000ff")
				alike := string(same)
				if tr.Side { // it becomes a session of its own, which the program shows and resumes
					alike = regexp.MustCompile(`,"agentId":"\w+"(,"message")`).ReplaceAllString(strings.ReplaceAll(alike, `"isSidechain":true`, `"isSidechain":false`), "$1")
				}
				if got := strings.ReplaceAll(string(other), "5e550000-0000-4000-8000-0000000000ff", id); got != alike {
					t.Errorf("under another id\n%s\nwant\n%s", got, alike)
				}
			})
		}
	}
}

// nativePath returns the transcript up to a message.
func nativePath(tr *transcript.Transcript, leaf string) *transcript.Transcript {
	byID := map[string]*transcript.Message{}
	for _, m := range tr.Messages {
		byID[m.ID] = m
	}
	cut := *tr
	cut.Leaf, cut.Messages, cut.Parents = leaf, nil, nil
	for m := byID[leaf]; m != nil; m = byID[m.Parent] {
		cut.Messages = append(cut.Messages, m)
	}
	slices.Reverse(cut.Messages)
	return &cut
}

// TestNativePaths: a path to any message is written so that it is read with the same
// messages, the last one active, and without traces of later ones.
func TestNativePaths(t *testing.T) {
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		for c, tr := range nativeTrees(t, f) {
			for _, m := range tr.Messages {
				path := nativePath(tr, m.ID)
				out, _ := nativeWrite(t, f, path, "5e550000-0000-4000-8000-0000000000ff")
				got, problems := nativeRead(t, f, out)
				if len(problems) > 0 && !isOdd(c.name) {
					t.Errorf("%s/%s to %s: %v", name, c.name, m.ID, problems)
				}
				if a, b := nativeSays(got.Messages), nativeSays(path.Messages); a != b {
					t.Errorf("%s/%s to %s: read\n%s\nwant\n%s\nof\n%s", name, c.name, m.ID, a, b, out)
				}
				if got.Leaf != got.Messages[len(got.Messages)-1].ID {
					t.Errorf("%s/%s to %s: the leaf is %s of\n%s", name, c.name, m.ID, got.Leaf, out)
				}
				for _, other := range tr.Messages {
					said := nativeTexts(other)
					if !slices.Contains(path.Messages, other) && len(said) > 3 && bytes.Contains(out, []byte(said)) &&
						said != tr.Title && !strings.Contains(nativeSays(path.Messages), said) {
						t.Errorf("%s/%s to %s: it tells %q:\n%s", name, c.name, m.ID, said, out)
					}
				}
			}
		}
	}
}

func nativeTexts(m *transcript.Message) string {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeText {
			return p.Text
		}
	}
	return ""
}

// nativeSays formats the texts of messages as a tree.
func nativeSays(messages []*transcript.Message) string {
	places := map[string]int{}
	var b strings.Builder
	for i, m := range messages {
		places[m.ID] = i + 1
		line := *m
		line.ID, line.Records, line.CopyOf, line.Joined, line.Open = fmt.Sprint(i+1), nil, "", "", false
		line.Parent = fmt.Sprint(cmp.Or(places[m.Parent], places[m.Joined]))
		b.WriteString(nativeLine(&line) + "\n")
	}
	return b.String()
}

// TestNativeNew: messages without records are written as records of a program, after
// another conversation or alone, and are read again.
func TestNativeNew(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	said := func(id, parent, role string, parts ...content.Part) *transcript.Message {
		return &transcript.Message{Message: content.Message{Role: role, Parts: parts}, ID: id, Parent: parent, Time: at}
	}
	const u = "11111111-2222-4333-8444-00000000000"
	messages := []*transcript.Message{
		said(u+"1", "", "user", content.Text("What is in it?"), content.Image("image/png", "iVBORw0KGgo=")),
		said(u+"2", u+"1", "assistant", content.Text("I look."), content.ToolCall(content.Call{ID: "c1", Name: "read", Arguments: `{"path":"a"}`}), content.ToolCall(content.Call{ID: "c2", Name: "read", Arguments: `{"path":"b"}`})),
		said(u+"3", u+"2", "user", content.ToolResult(content.Call{ID: "c1"}, "A")),
		said(u+"4", u+"3", "user", content.ToolResult(content.Call{ID: "c2", Failed: true}, "no")),
		said(u+"5", u+"4", "assistant", content.Text("A\u2028, \"quoted\" <b> & more")),
		said(u+"6", u+"5", "user", content.Text("Sum up")),
		said(u+"7", u+"5", "user", content.Text("Go on")),
	}
	messages[4].Model = "claude-opus-4-5"
	messages[5].Kind = transcript.Compaction
	tr := &transcript.Transcript{Messages: messages}
	tr.Title, tr.Dir, tr.Leaf = "Files", "/home/ann", u+"7"
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		out, lost := nativeWrite(t, f, tr, "5e550000-0000-4000-8000-0000000000ff")
		if len(lost) > 0 {
			t.Errorf("%s: lost %v", name, lost)
		}
		if Detect(out) != f {
			t.Errorf("%s: not detected:\n%s", name, out)
		}
		got, problems := nativeRead(t, f, out)
		want := strings.ReplaceAll(nativeSays(messages), " c1  ", " c1 read ")
		want = strings.ReplaceAll(want, " c2  ", " c2 read ")
		if a := strings.NewReplacer(" c1  ", " c1 read ", " c2  ", " c2 read ").Replace(nativeSays(got.Messages)); a != want || len(problems) > 0 {
			t.Errorf("%s: read\n%s%v\nwant\n%s\nof\n%s", name, a, problems, want, out)
		}
		for i, m := range got.Messages {
			if m.ID != messages[i].ID || !m.Time.Equal(at) {
				t.Errorf("%s: %s at %v, want %s", name, m.ID, m.Time, messages[i].ID)
			}
		}
		if got.Title != "Files" || got.Dir != "/home/ann" || got.Leaf != u+"7" || got.ID != "5e550000-0000-4000-8000-0000000000ff" {
			t.Errorf("%s: it is %+v", name, got.Conversation)
		}
		again, _ := nativeWrite(t, f, tr, "5e550000-0000-4000-8000-0000000000ff")
		if !bytes.Equal(again, out) {
			t.Errorf("%s: written twice\n%s\nand\n%s", name, out, again)
		}
	}
}

// TestNativeGrows: new messages follow the existing records.
func TestNativeGrows(t *testing.T) {
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		for c, tr := range nativeTrees(t, f) {
			for _, m := range tr.Messages {
				path := nativePath(tr, m.ID)
				path.Messages = append(path.Messages, &transcript.Message{
					Message: content.Message{Role: "user", Parts: []content.Part{content.Text("And then?")}}, ID: "new", Parent: m.ID,
				})
				path.Leaf = "new"
				out, lost := nativeWrite(t, f, path, "5e550000-0000-4000-8000-0000000000ff")
				got, problems := nativeRead(t, f, out)
				if a, b := nativeSays(got.Messages), nativeSays(path.Messages); a != b || (len(problems) > 0 || len(lost) > 0) && !isOdd(c.name) {
					t.Errorf("%s/%s after %s: read\n%s%v\nwant\n%s%v\nof\n%s", name, c.name, m.ID, a, problems, b, lost, out)
				}
				if last := got.Messages[len(got.Messages)-1]; got.Leaf != last.ID {
					t.Errorf("%s/%s after %s: the leaf is %s, not %s", name, c.name, m.ID, got.Leaf, last.ID)
				}
			}
		}
	}
}

// TestNativeAcross: a conversation keeps its content in the other program's format,
// except for the reported losses.
func TestNativeAcross(t *testing.T) {
	for _, way := range [][2]string{{"claude-code", "pi"}, {"pi", "claude-code"}} {
		from, to := nativeFormat(t, way[0]), nativeFormat(t, way[1])
		for c, tr := range nativeTrees(t, from) {
			out, lost := nativeWrite(t, to, tr, "5e550000-0000-4000-8000-0000000000ff")
			got, problems := nativeRead(t, to, out)
			if len(problems) > 0 {
				t.Errorf("%s to %s: %v of\n%s", c.name, to.Name, problems, out)
			}
			words := func(list []*transcript.Message) (all []string) {
				for _, m := range list {
					for i := range m.Parts {
						if p := &m.Parts[i]; p.Type == content.TypeText || p.Type == content.TypeToolResult {
							all = append(all, p.Text)
						}
					}
				}
				slices.Sort(all)
				return slices.DeleteFunc(all, func(s string) bool { return s == "" })
			}
			a, b := words(got.Messages), words(tr.Messages)
			b = slices.DeleteFunc(b, func(s string) bool { return slices.Contains(a, s) })
			for _, s := range b {
				if !slices.ContainsFunc(a, func(said string) bool { return strings.HasSuffix(said, s) }) {
					t.Errorf("%s to %s: no message has %q, lost %v", c.name, to.Name, s, lost)
				}
			}
		}
	}
}

// nativeLaw: each conversation of a transcript that is read, written and read again has the same
// messages, and is written a second time with the same bytes.
func nativeLaw(t *testing.T, format *Format, in []byte) {
	list, _, err := format.ReadAll(bytes.NewReader(in))
	if err != nil {
		return
	}
	for _, tr := range list {
		nativeLawOf(t, format, tr, in)
	}
}

func nativeLawOf(t *testing.T, format *Format, tr *transcript.Transcript, in []byte) {
	const id = "5e550000-0000-4000-8000-0000000000ff"
	once, _ := nativeWrite(t, format, tr, id)
	got, _ := nativeRead(t, format, once)
	ids := map[string]bool{}
	for line := range bytes.Lines(nativeRecords(tr)) {
		for _, v := range gjson.GetManyBytes(line, "id", "uuid") {
			if v.Str != "" && ids[v.Str] {
				return // a link to it may mean either, also one that is no message
			}
			ids[v.Str] = true
		}
	}
	if got == nil {
		t.Fatalf("nothing in\n%s\nof\n%s", once, in)
	}
	if a, b := nativeSays(got.Messages), nativeSays(tr.Messages); a != b {
		t.Fatalf("read\n%s\nwant\n%s\nof\n%s\nof\n%s", a, b, once, in)
	}
	if a, b := got.Leaf, tr.Leaf; a != b && slices.ContainsFunc(got.Messages, func(m *transcript.Message) bool { return m.ID == b }) {
		t.Fatalf("the leaf is %s, want %s, of\n%s", a, b, once)
	}
	if a, b := got.Title, tr.Title; a != b {
		t.Fatalf("the title is %q, want %q, of\n%s", a, b, once)
	}
	if twice, _ := nativeWrite(t, format, got, id); !bytes.Equal(twice, once) {
		t.Fatalf("written again\n%s\nwant\n%s", twice, once)
	}
}

// TestNativeAny: the law holds for records in any order, with any links.
func TestNativeAny(t *testing.T) {
	for _, in := range testtranscript.DrawLoose(rand.New(rand.NewPCG(1, 2)), testsize.Of(20, 80, 1500)) {
		nativeLaw(t, nativeFormat(t, "claude-code"), in.ClaudeCode)
		nativeLaw(t, nativeFormat(t, "pi"), in.Pi)
		nativeLaw(t, nativeFormat(t, "pi"), in.PiUnlinked)
	}
}

func fuzzNative(f *testing.F, name string) {
	for _, c := range nativeCases(f, name) {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, in []byte) { nativeLaw(t, nativeFormat(t, name), in) })
}

func FuzzClaudeCode(f *testing.F) { fuzzNative(f, "claude-code") }
func FuzzPi(f *testing.F)         { fuzzNative(f, "pi") }
