package claude

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/transcript"
)

// TestFileKeepsAll: records of sub-agents in the file of a session that have the id of another one,
// no id, or content that cannot be read, are in one of its conversations.
func TestFileKeepsAll(t *testing.T) {
	record := func(uuid, parent string, side bool, content string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%s,"parentUuid":%s,"isSidechain":%v,"sessionId":"s","message":{"role":"user","content":%s}}`, uuid, parent, side, content)
	}
	lines := []string{
		record(`"u1"`, `null`, false, `"Begin"`),
		record(`"v1"`, `null`, true, `"Look"`),
		record(`"v1"`, `null`, true, `"the id of its own chain"`),
		record(`"u1"`, `"v1"`, true, `"the id of the main chain"`),
		record(`"w1"`, `null`, true, `"Look there"`),
		record(`"v1"`, `"w1"`, true, `"the id of another chain"`),
		record(`null`, `"w1"`, true, `"no id"`),
		record(`null`, `null`, true, `"no id and no parent"`),
		record(`"x1"`, `null`, true, `7`),
		`{"type":"progress","uuid":"y1","parentUuid":"nobody","isSidechain":true,"sessionId":"s"}`,
		record(`"u2"`, `"v1"`, false, `"Go on"`),
	}
	list, problems, err := sink.ReadAll("claude-code", Read, strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || len(problems) != 1 || problems[0].Line != 9 {
		t.Errorf("error %v, problems %v", err, problems)
	}
	got, kept := "", map[string]int{}
	for _, tr := range list {
		got += fmt.Sprintf("%v %s:", tr.Inline, tr.BegunBy)
		for _, m := range tr.Messages {
			got += fmt.Sprintf(" %s<%s", m.Text(), m.Parent)
			for _, r := range m.Records {
				kept[string(r)]++
			}
		}
		got += "\n"
	}
	const want = "false : Begin< Go on<v1\ntrue s: Look<\ntrue s: Look there< no id<w1\ntrue s: no id and no parent<\n"
	if got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
	for _, line := range lines {
		if kept[line] != 1 {
			t.Errorf("%d times %s", kept[line], line)
		}
	}
}

// TestFileKept: records of chains that do not fit into memory come back from a temporary file, which
// is removed.
func TestFileKept(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	var in strings.Builder
	in.WriteString(`{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"role":"user","content":"Begin"}}` + "\n")
	for i := range 40 {
		fmt.Fprintf(&in, `{"type":"user","uuid":"v%d","parentUuid":"v%d","isSidechain":true,"agentId":"a%d","sessionId":"s","message":{"role":"user","content":"%d %s"}}`+"\n",
			i, i-2, i%2, i, strings.Repeat("x", i*1000))
	}
	read := func(most int) string {
		f := newFile(discard{})
		f.kept.most = most
		defer f.kept.drop()
		got := ""
		_, err := sink.Read(func(in io.Reader, to transcript.Sink) error {
			f.main.To = to
			return sink.ReadTail(f, in, to)
		}, strings.NewReader(in.String()), &texts{&got})
		if err != nil || (f.kept.temp == nil) != (most == 0) {
			t.Errorf("at most %d bytes: %v, %+v", most, err, f.kept.temp)
		}
		return got
	}
	want := read(0)
	for _, most := range []int{1, 100, 50_000} {
		if got := read(most); got != want || len(got) < 40_000 {
			t.Errorf("at most %d bytes: %d bytes of text, want %d", most, len(got), len(want))
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// texts is a sink that joins the texts.
type texts struct{ all *string }

func (s *texts) Message(m *transcript.Message) error {
	*s.all += m.ID + m.Text() + string(m.Records[0])
	return nil
}
func (s *texts) End(c *transcript.Conversation) error { *s.all += c.ID + "\n"; return nil }
func (s *texts) Problem(p transcript.Problem)         { *s.all += p.What }

// TestFileWithoutMain: what is no message of the main conversation does not begin it, and a session
// without an id has no others.
func TestFileWithoutMain(t *testing.T) {
	const side = `{"type":"user","uuid":"v1","parentUuid":null,"isSidechain":true,"sessionId":"s","message":{"role":"user","content":"Look"}}` + "\n"
	for in, want := range map[string]string{
		`{"type":"system","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s"}` + "\n" + side:                                    "s true false",
		side + `{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s","message":{"role":"user","content":"Begin"}}`: "s false false",
		`{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"message":{"role":"user","content":"Begin"}}` + "\n" + side:          "s false false",
	} {
		list, _, err := sink.ReadAll("claude-code", Read, strings.NewReader(in))
		if err != nil || len(list) != 1 || fmt.Sprint(list[0].ID, " ", list[0].Side, " ", list[0].Inline) != want {
			t.Errorf("%d conversations, the first is %+v, not %s, of\n%s", len(list), list[0], want, in)
		}
	}
}
