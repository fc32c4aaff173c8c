package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// plain formats transcripts for comparison: a line for each message, with the number of its
// records, and the problems.
func plain(list []*transcript.Transcript, problems []transcript.Problem) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "conversation %q %q %q, goes on at %s, %d records\n", t.ID, t.Title, t.Model, t.Leaf, len(t.Records))
		for _, m := range t.Messages {
			role := m.Role
			if m.Own.Role != "" {
				role = m.Own.Role
			}
			if m.Own.Name != "" {
				role += " " + m.Own.Name
			}
			if m.Kind != transcript.Said {
				role += " " + string(m.Kind)
			}
			if m.Joined != "" {
				role += " joined to " + m.Joined
			}
			fmt.Fprintf(&b, "%s < %s, %s %d", m.ID, m.Parent, role, len(m.Records))
			for i := range m.Parts {
				p := &m.Parts[i]
				c := p.Call()
				switch p.Type {
				case content.TypeToolCall:
					fmt.Fprintf(&b, " [%s calls %s %s]", c.ID, c.Name, c.Arguments)
				case content.TypeToolResult:
					fmt.Fprintf(&b, " [%s of %s: %q %v]", c.ID, c.Name, p.Text, c.Failed)
				case content.TypeText:
					fmt.Fprintf(&b, " %q", p.Text)
				default:
					fmt.Fprintf(&b, " [%s %q]", p.Type, p.Text+p.Filename)
				}
			}
			b.WriteString("\n")
		}
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "problem: line %d: %s\n", p.Line, p.What)
	}
	return b.String()
}

// webFormats are the formats of web services and of requests to providers, whose files are
// documents or independent lines. FuzzWeb numbers them, so new ones come last.
var webFormats = []*Format{chatGPTFormat, claudeAIFormat, openAssistantFormat, anthropicAPIFormat, openAIFormat, openWebUIFormat, clineFormat, libreChatFormat, messagesFormat, shareGPTFormat, aiSDKFormat}

// TestRead: the tree of each fixture is that of the file beside it with the ending .want;
// -update writes that file.
func TestRead(t *testing.T) {
	for _, f := range append(slices.Clip(webFormats), qwenFormat, sillyTavernFormat, aiderFormat, ampFormat, copilotChatFormat, gooseFormat, antigravityFormat) {
		for _, path := range fixturesOf(t, f) {
			list, problems, err := f.ReadAll(bytes.NewReader(readFile(t, path)))
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			got := plain(list, problems)
			want := filepath.Join("testdata", "read", f.Name+"-"+filepath.Base(path)+".want")
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if s := string(readFile(t, want)); s != got {
				t.Errorf("%s is read as\n%s\nwant\n%s", path, got, s)
			}
		}
	}
}

// TestReadDocuments: documents that follow one another in a file are all read, also if the first
// one is longer than the beginning of the file that says whether it has one on each line. What
// is no JSON after one is reported.
func TestReadDocuments(t *testing.T) {
	documents := map[*Format]string{
		shareGPTFormat:  `{"conversations":[{"from":"human","value":"%s"},{"from":"gpt","value":"b"}]}`,
		messagesFormat:  `{"messages":[{"role":"user","content":"%s"},{"role":"assistant","content":"b"}]}`,
		claudeAIFormat:  `{"uuid":"%[1].1s","name":"n","chat_messages":[{"uuid":"u","sender":"human","text":"%[1]s"}]}`,
		chatGPTFormat:   `{"id":"%[1].1s","mapping":{"u":{"id":"u","message":{"id":"u","author":{"role":"user"},"content":{"content_type":"text","parts":["%[1]s"]}}}}}`,
		openWebUIFormat: `{"id":"%[1].1s","chat":{"history":{"messages":{"u":{"id":"u","role":"user","content":"%[1]s"}}}}}`,
	}
	for f, form := range documents {
		for _, size := range []int{1, HeadSize} {
			long, short := fmt.Sprintf(form, strings.Repeat("x", size)), fmt.Sprintf(form, "y")
			for _, in := range []string{long + "\n" + short + "\n", "\n" + long + short, long + "\n" + short + "\n~"} {
				list, problems, err := f.ReadAll(strings.NewReader(in))
				if err != nil || len(list) != 2 || len(problems) > 0 != strings.HasSuffix(in, "~") {
					t.Errorf("%s: of two documents, the first with %d bytes of text, %d are read: %v, %v", f.Name, size, len(list), problems, err)
				}
			}
		}
	}
}

// TestOddCalls: a text that only begins like calls is a text, and the next result answers none of
// them; a result that is no text is kept as JSON.
func TestOddCalls(t *testing.T) {
	for _, c := range []struct {
		f        *Format
		in, want string
	}{
		{shareGPTFormat, `{"conversations":[{"from":"function_call","value":"[{\"name\":\"a\"},{\"x\":1}]"},{"from":"observation","value":"r"}]}`,
			`[ of : "r" false]`},
		{shareGPTFormat, `{"conversations":[{"from":"function_call","value":"[{\"name\":\"a\"},{\"name\":\"b\"}]"},{"from":"observation","value":"r"},{"from":"observation","value":"s"}]}`,
			`[call_2 of b: "s" false]`},
		{libreChatFormat, `{"conversationId":"c","messages":[{"messageId":"m","isCreatedByUser":false,"content":[{"type":"tool_call","tool_call":{"id":"i","name":"n","args":{},"output":{"a": 1}}}]}]}`,
			`[i of n: "{\"a\":1}" false]`},
	} {
		list, problems, err := c.f.ReadAll(strings.NewReader(c.in))
		if got := plain(list, problems); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s is read as %v\n%s", c.in, err, got)
		}
	}
}

// TestResultsWithCalls: formats that have results in the message with the calls get each result
// there, also from a message that says more; a call whose result comes too late becomes text
// with it.
func TestResultsWithCalls(t *testing.T) {
	call := func(id string) content.Part {
		return content.ToolCall(content.Call{ID: id, Name: "look", Arguments: "{}"})
	}
	result := func(id, text string) content.Part {
		return content.ToolResult(content.Call{ID: id, Name: "look"}, text)
	}
	chat := func(turns ...[]content.Part) *transcript.Transcript {
		var list []*transcript.Message
		for i, parts := range turns {
			m := &transcript.Message{}
			m.Role, m.Parts = []string{"user", "assistant"}[i%2], parts
			list = append(list, m)
		}
		return inOrder(list)
	}
	say := func(text string) []content.Part { return []content.Part{content.Text(text)} }
	for _, c := range []struct {
		t          *transcript.Transcript
		want, lost string
	}{
		{chat(say("Look."), []content.Part{call("a"), call("b")}, []content.Part{result("a", "A"), content.Text("Go on."), result("b", "B")}, say("Done.")),
			`user text "Look."
assistant tool-call a look {} tool-call b look {}
user tool-result a look "A" tool-result b look "B"
user text "Go on."
assistant text "Done."`, "[]"},
		{chat(say("Look."), []content.Part{call("a")}, []content.Part{result("a", "A"), result("a", "again")}, say("Done.")),
			`user text "Look."
assistant tool-call a look {}
user tool-result a look "A"
user text "[the tool said] again"
assistant text "Done."`, "[{tool results, converted to text 1}]"},
		{chat(say("Look."), []content.Part{call("a")}, say("Wait."), say("I do."), []content.Part{result("a", "A")}, say("Done.")),
			`user text "Look."
assistant text "[called look] {}"
user text "Wait."
assistant text "I do."
user text "[the tool said] A"
assistant text "Done."`,
			"[{tool calls, converted to text 1} {tool results, converted to text 1}]"},
	} {
		for _, f := range []*Format{libreChatFormat, aiSDKFormat} {
			var b bytes.Buffer
			lost, err := f.Write(&b, c.t, testOptions("c"))
			if err != nil || fmt.Sprint(lost) != c.lost {
				t.Errorf("%s: %v, lost %v, want %s", f.Name, err, lost, c.lost)
			}
			list, problems, err := f.ReadAll(bytes.NewReader(b.Bytes()))
			if err != nil || len(list) != 1 || len(problems) > 0 {
				t.Fatalf("%s: %v, %v", f.Name, problems, err)
			}
			var got []string
			for _, m := range list[0].Messages {
				got = append(got, m.Role+said(m))
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("%s is read as\n%s\nwant\n%s\nof %s", f.Name, got, c.want, &b)
			}
		}
	}
}

// TestRepeatedIDs: a linear file stays linear if a message has the id of an earlier one.
func TestRepeatedIDs(t *testing.T) {
	for _, c := range []struct {
		f            *Format
		form, around string
	}{
		{aiSDKFormat, `{"id":"%[1]s","role":"user","parts":[{"type":"text","text":"%[3]d"}]}`, "[%s]"},
		{clineFormat, `{"id":"%[1]s","ts":%[3]d,"role":"user","content":[{"type":"text","text":"%[3]d"}]}`, "[%s]"},
		{libreChatFormat, `{"messageId":"%[1]s","parentMessageId":"%[2]s","isCreatedByUser":true,"text":"%[3]d"}`, `{"conversationId":"c","messages":[%s]}`},
		{libreChatFormat, `{"messageId":"%[1]s","isCreatedByUser":true,"text":"%[3]d","children":[%[4]s]}`, `{"conversationId":"c","recursive":true,"messages":[%s]}`},
	} {
		ids := []string{"a", "b", "a", "c", "b", "a"}
		var list []string
		nested := ""
		for i, id := range ids {
			parent := ""
			if i > 0 {
				parent = ids[i-1]
			}
			list = append(list, fmt.Sprintf(strings.Replace(c.form, ",\"children\":[%[4]s]", "", 1), id, parent, i))
		}
		for i := len(ids) - 1; i >= 0 && strings.Contains(c.form, "%[4]s"); i-- {
			nested = fmt.Sprintf(strings.ReplaceAll(c.form, "%[2]s", ""), ids[i], "", i, nested)
			list = []string{nested}
		}
		in := fmt.Sprintf(c.around, strings.Join(list, ","))
		got, problems, err := c.f.ReadAll(strings.NewReader(in))
		if err != nil || len(got) != 1 || len(problems) != 3 {
			t.Fatalf("%s: %v, %v", c.f.Name, problems, err)
		}
		if path := pathTo(got[0], got[0].Leaf); len(path) != len(ids) || path[3].Text() != "3" {
			t.Errorf("%s is read as\n%s\nof %s", c.f.Name, plain(got, problems), in)
		}
		var b bytes.Buffer
		if lost, err := c.f.Write(&b, got[0], testOptions("c")); err != nil || len(lost) > 0 {
			t.Errorf("%s: %v, lost %v", c.f.Name, err, lost)
		}
		again, _, err := c.f.ReadAll(bytes.NewReader(b.Bytes()))
		if err != nil || drawn(again[0]) != drawn(got[0]) {
			t.Errorf("%s: %v, written and read as\n%s\ninstead of\n%s", c.f.Name, err, drawn(again[0]), drawn(got[0]))
		}
	}
}

// TestOneConversationALine: formats with one conversation on each line have each on one, also if
// it was read from several lines.
func TestOneConversationALine(t *testing.T) {
	for f, in := range map[*Format]string{
		shareGPTFormat: "[\n {\n  \"id\": \"k\",\n  \"x\": {\n   \"y\": 1\n  },\n  \"conversations\": [\n   {\n    \"from\": \"human\",\n    \"value\": \"a\\nb\",\n    \"n\": 1.50\n   }\n  ]\n }\n]\n",
		messagesFormat: "{\n \"x\": {\n  \"y\": 1\n },\n \"messages\": [\n  {\n   \"role\": \"user\",\n   \"content\": \"a\\nb\",\n   \"n\": 1.50\n  }\n ]\n}\n",
	} {
		list, problems, err := f.ReadAll(strings.NewReader(in))
		if err != nil || len(list) != 1 || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", f.Name, problems, err)
		}
		w, err := f.Export(list[0], testOptions("k"))
		if err != nil || len(w.Lost) > 0 || bytes.Count(w.Data, []byte("\n")) != 1 || !bytes.Contains(w.Data, []byte(`"n":1.50`)) || !bytes.Contains(w.Data, []byte(`"x":{"y":1}`)) {
			t.Errorf("%s: %v, lost %v, written as %s", f.Name, err, w.Lost, w.Data)
		}
		if len(w.Same) != 1 || w.Same[0].Of != list[0].Messages[0].ID {
			t.Errorf("%s: %v is not recognized", f.Name, w.Same)
		}
	}
}

// TestDeepRecursive: a tree that is too deep for a recursive export of LibreChat is a list.
func TestDeepRecursive(t *testing.T) {
	list, _, err := libreChatFormat.ReadAll(strings.NewReader(`{"conversationId":"c","recursive":true,"messages":[{"messageId":"m","isCreatedByUser":true,"text":"1","children":[]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tr := list[0]
	for i := 2; i <= 401; i++ {
		m := &transcript.Message{ID: fmt.Sprint("m", i), Parent: tr.Leaf}
		m.Role, m.Parts = []string{"user", "assistant"}[(i-1)%2], []content.Part{content.Text(fmt.Sprint(i))}
		tr.Messages, tr.Leaf = append(tr.Messages, m), m.ID
		if i < 400 {
			continue
		}
		var b bytes.Buffer
		if _, err := libreChatFormat.Write(&b, tr, testOptions("c")); err != nil {
			t.Fatal(err)
		}
		if got := gjson.GetBytes(b.Bytes(), "recursive").Bool(); got != (i == 400) {
			t.Errorf("%d messages: recursive is %v", i, got)
		}
		again, _, err := libreChatFormat.ReadAll(&b)
		if err != nil || active(again[0]) != active(tr) {
			t.Errorf("%d messages: %v", i, err)
		}
	}
}

// TestRequestAsData: a request to OpenAI becomes data for training, and that a request, with the
// members that bough does not know; only the model is left out of the data, and reported.
func TestRequestAsData(t *testing.T) {
	in := "{\"model\": \"m\",\n \"tools\": [ {\"type\":\"function\"} ],\n \"messages\": [\n  {\"role\": \"user\", \"content\": \"a  b\", \"weight\": 0}]}\n"
	data := `{"tools":[{"type":"function"}],"messages":[{"role":"user","content":"a  b","weight":0}]}` + "\n"
	list, _, err := openAIFormat.ReadAll(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	losses, err := messagesFormat.Write(&b, list[0], transcript.Options{})
	if err != nil || b.String() != `{"tools":[ {"type":"function"} ],"messages":[{"role": "user", "content": "a  b", "weight": 0}]}`+"\n" || fmt.Sprint(losses) == fmt.Sprint([]transcript.Loss(nil)) {
		t.Errorf("it is written as %s, lost %v, %v", b.String(), losses, err)
	}
	list, _, err = messagesFormat.ReadAll(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if losses, err = openAIFormat.Write(&b, list[0], transcript.Options{}); err != nil || !strings.Contains(b.String(), `"tools":[{"type":"function"}]`) || !strings.Contains(b.String(), `"weight":0`) {
		t.Errorf("it is written as %s, lost %v, %v", b.String(), losses, err)
	}
}

// TestReadNothing: a file without a conversation is an error, and a truncated file is read
// up to its end, or is an error.
func TestReadNothing(t *testing.T) {
	for _, f := range webFormats {
		for _, in := range []string{"", " \n", "[]", "{}", "[{}]", "[[]]", "null", "7", "{", "[", `"x"`, "\xef\xbb\xbf", `{"messages":[]}`, `[{"mapping":{}}]`, `{"chat_messages":7}`, "\xff\xfe"} {
			list, _, err := f.ReadAll(strings.NewReader(in))
			if err == nil || len(list) > 0 {
				t.Errorf("%s: %q is read as %d conversations, %v", f.Name, in, len(list), err)
			}
		}
		for _, path := range fixturesOf(t, f) {
			data := readFile(t, path)
			for n := 0; n < len(data); n += testsize.Of(199, 66, 7) {
				if err := roundTrip(f, data[:n]); err != nil {
					t.Fatalf("%s, cut after %d bytes: %v", path, n, err)
				}
			}
		}
	}
}

// TestWriteBranch: a path of an imported tree has the records of that path, without links
// to messages that are not written.
func TestWriteBranch(t *testing.T) {
	for _, c := range []struct {
		f              *Format
		file, leaf     string
		has, hasNot    []string
		current, where string
	}{
		{chatGPTFormat, "branches.json", "first", []string{`"big":12345678901234567890`, `Coffee.`, `"children":["first"]`, `"user_profile":"likes tea"`}, []string{"Tea.", "second", "why"}, "first", "0.current_node"},
		{chatGPTFormat, "branches.json", "why", []string{`"children":["second"]`, `"children":[]`, `\ud800`}, []string{"Coffee.", "recap"}, "why", "0.current_node"},
		{chatGPTFormat, "branches.json", "ask", []string{`"children":[]`}, []string{"Coffee.", "Tea."}, "ask", "0.current_node"},
		{claudeAIFormat, "tree.json", "22222222-0000-4000-8000-000000000003", []string{"Bess.", `"n":12345678901234567890`}, []string{"boat names", "Another."}, "22222222-0000-4000-8000-000000000003", "0.current_leaf_message_uuid"},
		{claudeAIFormat, "tree.json", "22222222-0000-4000-8000-000000000004", []string{"boat names", "Another."}, []string{"Bess."}, "22222222-0000-4000-8000-000000000004", "0.current_leaf_message_uuid"},
		// A record is omitted if only a part of it is on the path.
		{claudeAIFormat, "tree.json", "22222222-0000-4000-8000-000000000002", []string{"boat names", "c2ln"}, []string{`"Ann."`, "example.com"}, "22222222-0000-4000-8000-000000000002", "0.current_leaf_message_uuid"},
		{openAssistantFormat, "trees.jsonl", "q1", []string{"12345678901234567890", `"extra": [1]`, "Why?"}, []string{"a2"}, "p1", "message_tree_id"},
		{libreChatFormat, "branches.json", "303e4c2c-f03e-4e0a-8551-c96ec73be5fe", []string{"so tw", `"big":12345678901234567890`}, []string{"Two bells", "busy"}, "Bells", "title"},
		{libreChatFormat, "recursive.json", "64ed7568-bdcf-42a9-b34a-73386d4d99dc", []string{`"__v": 0`, "A pleasure."}, []string{"welcome", "Ann."}, "64ed7568-bdcf-42a9-b34a-73386d4d99dc", "messages.0.children.0.children.0.children.0.messageId"},
		{messagesFormat, "tools.jsonl", "", []string{`"content":null`, `"big":12345678901234567890`, `"tools":[`}, nil, "Be brief.", "messages.0.content"},
		{shareGPTFormat, "array.json", "", []string{"12345678901234567890", `"from": "narrator"`, `\ud83d`}, []string{"Jinan"}, "QWJhYvA_0", "id"},
		{aiSDKFormat, "steps.json", "", []string{"12345678901234567890", `"role":"narrator"`, "not now"}, nil, "u1", "0.id"},
		{openAIFormat, "tools.json", "", []string{"12345678901234567890", `"x" : 1.50`, `\ud800`, "robot"}, nil, "Be brief.", "0.content"},
	} {
		list, _, err := c.f.ReadAll(bytes.NewReader(readFile(t, filepath.Join("testdata", c.f.Name, c.file))))
		if err != nil {
			t.Fatal(err)
		}
		tr := list[0]
		if c.leaf != "" {
			tr.Leaf = c.leaf
			tr.Messages = pathTo(tr, tr.Leaf)
		}
		var b bytes.Buffer
		if lost, err := c.f.Write(&b, tr, testOptions("")); err != nil || len(lost) > 0 {
			t.Errorf("%s: %v, %v", c.leaf, lost, err)
		}
		for _, s := range c.has {
			if !strings.Contains(b.String(), s) {
				t.Errorf("%s of %s: %s is not in\n%s", c.leaf, c.file, s, &b)
			}
		}
		for _, s := range c.hasNot {
			if strings.Contains(b.String(), s) {
				t.Errorf("%s of %s: %s is in\n%s", c.leaf, c.file, s, &b)
			}
		}
		if got := gjson.GetBytes(b.Bytes(), c.where).Str; got != c.current {
			t.Errorf("%s of %s: %s is %q in\n%s", c.leaf, c.file, c.where, got, &b)
		}
	}
}

// TestAppendAfterImport: messages added after an import are below it, with a new title and id.
func TestAppendAfterImport(t *testing.T) {
	for _, c := range []struct {
		f    *Format
		file string
	}{{chatGPTFormat, "branches.json"}, {chatGPTFormat, "tools.json"}, {claudeAIFormat, "tree.json"}, {claudeAIFormat, "linear.json"}, {openAssistantFormat, "trees.jsonl"}, {openAssistantFormat, "flat.jsonl"}, {anthropicAPIFormat, "request.json"}, {openAIFormat, "request.json"}} {
		list, _, err := c.f.ReadAll(bytes.NewReader(readFile(t, filepath.Join("testdata", c.f.Name, c.file))))
		if err != nil {
			t.Fatal(err)
		}
		tr := list[0]
		first := tr.Messages[0]
		below := func(n int, parent, role string, parts ...content.Part) *transcript.Message {
			m := &transcript.Message{ID: probeID(n), Parent: parent}
			m.Role, m.Parts = role, parts
			tr.Messages = append(tr.Messages, m)
			return m
		}
		last := tr.Messages[len(tr.Messages)-1].ID
		if c.f.Branches {
			last = first.ID
		}
		more := below(1, last, "user", content.Text("and then?"))
		end := below(2, more.ID, "assistant", content.Text("the end"))
		tr.Leaf, tr.Title = end.ID, "another"
		records := unlinked(first.Records)
		var b bytes.Buffer
		if _, err := c.f.Write(&b, tr, testOptions("new-id")); err != nil {
			t.Fatal(err)
		}
		again, problems, err := c.f.ReadAll(bytes.NewReader(b.Bytes()))
		if err != nil || len(again) != 1 {
			t.Fatalf("%s: %v, %v\n%s", c.file, problems, err, &b)
		}
		got := again[0]
		at := tree.NewOutline(got).At
		leaf := got.Messages[at[got.Leaf]]
		parent := got.Messages[at[leaf.Parent]]
		if len(got.Messages) != len(tr.Messages) || leaf.Parts[0].Text != "the end" || parent.Parts[0].Text != "and then?" ||
			c.f.Branches && (parent.Parent != first.ID || got.ID != "new-id") || unlinked(got.Messages[0].Records) != records {
			t.Errorf("%s is now\n%s", c.file, plain(again, problems))
		}
		if (c.f == chatGPTFormat || c.f == claudeAIFormat) && got.Title != "another" {
			t.Errorf("%s: the title is %q", c.file, got.Title)
		}
	}
}

// TestDeepTree: a conversation that is too deep for nested messages is written with one
// message per line.
func TestDeepTree(t *testing.T) {
	var list []*transcript.Message
	const deepTree = 400 // the maximum depth of nested replies
	for i := range deepTree + 1 {
		m := &transcript.Message{}
		m.Role, m.Parts = []string{"user", "assistant"}[i%2], []content.Part{content.Text(fmt.Sprint(i))}
		list = append(list, m)
	}
	for _, n := range []int{deepTree, deepTree + 1} {
		tr := inOrder(list[:n])
		var b bytes.Buffer
		if _, err := openAssistantFormat.Write(&b, tr, testOptions("t")); err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(b.Bytes(), []byte("\n")); (got == 1) != (n == deepTree) {
			t.Errorf("%d messages are on %d lines", n, got)
		}
		again, _, err := openAssistantFormat.ReadAll(&b)
		if err != nil || len(again[0].Messages) != n || again[0].Leaf != tr.Leaf {
			t.Errorf("%d messages: %v", n, err)
		}
	}
}

// settles is [roundTrip] for files that a reader may interpret in several ways: the output
// has all of their content, and is itself written unchanged, unless it was read with
// problems.
func settles(f *Format, data []byte) error {
	list, problems, err := f.ReadAll(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	for _, t := range list {
		var b bytes.Buffer
		if lost, err := f.Write(&b, t, testOptions(t.ID)); err != nil || len(lost) > 0 {
			return fmt.Errorf("%v, lost %v", err, lost)
		}
		again, _, err := f.ReadAll(bytes.NewReader(b.Bytes()))
		if err != nil || len(again) != 1 {
			return fmt.Errorf("it is read as %d conversations, %v:\n%s", len(again), err, b.Bytes())
		}
		if got, want := everything(again[0]), everything(t); !slices.Equal(got, want) {
			return fmt.Errorf("it was\n%s\nand is\n%s\nin\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"), b.Bytes())
		}
		if err := roundTrip(f, b.Bytes()); err != nil && len(problems) == 0 {
			return fmt.Errorf("the second time: %v", err)
		}
	}
	return nil
}

// everything returns the messages and the records of a conversation, sorted. The copy of the
// active path that Open WebUI keeps is not compared, because it has links too, nor are the ids and
// links of LibreChat, of which a file may have some twice, or a cycle, nor line breaks between the
// tokens of data for training.
func everything(t *transcript.Transcript) (list []string) {
	add := func(records []json.RawMessage) {
		for i := range records {
			r := bytes.Clone(records[i])
			if t.Format == messagesFormat.Name || t.Format == shareGPTFormat.Name {
				r = jsonl.OneLine(r)
			}
			for _, name := range []string{"chat.messages", "messageId", "parentMessageId"} {
				r, _ = sjson.DeleteBytes(r, name)
			}
			list = append(list, unlinked([]json.RawMessage{r}))
		}
	}
	add(t.Records)
	for _, m := range t.Messages {
		add(m.Records)
		alone := *m
		alone.Records, alone.Parent = nil, ""
		list = append(list, sketch(&alone))
	}
	slices.Sort(list)
	return list
}

// FuzzWeb holds the law of the formats of web services and requests: everything that is
// read is written unchanged.
func FuzzWeb(f *testing.F) {
	for i, format := range webFormats {
		for _, path := range fixturesOf(f, format) {
			f.Add(byte(i), readFile(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		if err := settles(webFormats[int(which)%len(webFormats)], data); err != nil {
			t.Fatal(err)
		}
		Detect(data)
	})
}

// TestWebWithoutRecords writes trees of messages without records, reads them, writes a path
// of the result, which has records, and reads that: no text changes. The order of the nodes
// of a mapping has no meaning.
func TestWebWithoutRecords(t *testing.T) {
	for seed := range testsize.Of(15, 30, 300) {
		random := rand.New(rand.NewPCG(uint64(seed), 7))
		tr := testtranscript.Tree(random)
		tr.Dir = ""
		for _, f := range []*Format{chatGPTFormat, claudeAIFormat} {
			rewrite := func(tr *transcript.Transcript) *transcript.Transcript {
				var b bytes.Buffer
				if lost, err := f.Write(&b, tr, testOptions("id")); err != nil || len(lost) > 0 {
					t.Fatalf("%s, %d: %v %v", f.Name, seed, lost, err)
				}
				data := b.Bytes()
				if f == chatGPTFormat {
					data = shuffled(data, random)
				}
				list, problems, err := f.ReadAll(bytes.NewReader(data))
				if err != nil || len(problems) > 0 || len(list) != 1 {
					t.Fatalf("%s, %d: %v, %v:\n%s", f.Name, seed, problems, err, data)
				}
				if got, want := active(list[0]), active(tr); got != want || list[0].Leaf != tr.Leaf {
					t.Fatalf("%s, %d: the active path\n%s\nis now\n%s\n%s", f.Name, seed, want, got, data)
				}
				if got, want := paths(list[0]), paths(tr); !slices.Equal(got, want) {
					t.Fatalf("%s, %d: the paths\n%q\nare now\n%q\n%s", f.Name, seed, want, got, data)
				}
				return list[0]
			}
			read := rewrite(tr)
			read.Leaf = read.Messages[random.IntN(len(read.Messages))].ID
			read = rewrite(read)
			read.Messages = pathTo(read, read.Leaf)
			read = rewrite(read)
			read.Leaf = read.Messages[0].ID
			read.Messages = pathTo(read, read.Leaf)
			rewrite(read)
		}
	}
}

// TestShownBranch: LibreChat, which shows the last branch at each fork, continues at the leaf
// of a written tree, and all other paths are kept.
func TestShownBranch(t *testing.T) {
	for seed := range testsize.Of(15, 30, 300) {
		tr := testtranscript.Tree(rand.New(rand.NewPCG(uint64(seed), 5)))
		tr.Dir = ""
		children := tree.NewOutline(tr).Children
		for _, m := range tr.Messages {
			if len(children[m.ID]) > 0 {
				continue
			}
			tr.Leaf = m.ID
			var b bytes.Buffer
			if lost, err := libreChatFormat.Write(&b, tr, testOptions("id")); err != nil || len(lost) > 0 {
				t.Fatal(seed, lost, err)
			}
			list, problems, err := libreChatFormat.ReadAll(bytes.NewReader(b.Bytes()))
			if err != nil || len(problems) > 0 || len(list) != 1 {
				t.Fatal(seed, problems, err)
			}
			if got, want := active(list[0]), active(tr); got != want {
				t.Fatalf("%d: the active path\n%s\nis now\n%s\n%s", seed, want, got, &b)
			}
			if got, want := paths(list[0]), paths(tr); !slices.Equal(got, want) {
				t.Fatalf("%d: the paths\n%q\nare now\n%q\n%s", seed, want, got, &b)
			}
		}
	}
}

// shuffled returns conversations with their nodes in another order.
func shuffled(data []byte, random *rand.Rand) []byte {
	var nodes [][2]string
	mapping := gjson.GetBytes(data, "0.mapping")
	mapping.ForEach(func(key, value gjson.Result) bool {
		nodes = append(nodes, [2]string{key.Raw, value.Raw})
		return true
	})
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	var b strings.Builder
	for i, n := range nodes {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(n[0] + ":" + n[1])
	}
	out, err := sjson.SetRawBytes(data, "0.mapping", []byte("{"+b.String()+"}"))
	if err != nil {
		panic(err)
	}
	return out
}

// TestRequestOfOthers: content of other programs is written so that the provider accepts
// it.
func TestRequestOfOthers(t *testing.T) {
	say := func(role string, parts ...content.Part) *transcript.Message {
		m := &transcript.Message{}
		m.Role, m.Parts = role, parts
		return m
	}
	system := func(text string) *transcript.Message {
		m := say("user", content.Text(text))
		m.Own.Role = "system"
		return m
	}
	call := func(id string) content.Part {
		return content.ToolCall(content.Call{ID: id, Name: "look", Arguments: `{"n":1}`})
	}
	result := func(id string) content.Part {
		return content.ToolResult(content.Call{ID: id, Name: "look"}, "result "+id)
	}
	for _, c := range []struct {
		name              string
		list              []*transcript.Message
		openAI, anthropic string
	}{
		{"parallel calls, stored one by one",
			[]*transcript.Message{say("user", content.Text("go")), say("assistant", call("a")), say("assistant", call("b")), say("user", result("a")), say("user", result("b"))},
			`[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}},{"id":"b","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"result a"},{"role":"tool","tool_call_id":"b","content":"result b"}]`,
			`[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{"n":1}},{"type":"tool_use","id":"b","name":"look","input":{"n":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"result a"}],"is_error":false}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"result b"}],"is_error":false}]}]`},
		{"a call without a result, and a result without a call",
			[]*transcript.Message{say("assistant", call("a")), say("user", content.Text("no"), result("b"))},
			`[{"role":"assistant","content":"[called look] {\"n\":1}"},{"role":"user","content":[{"type":"text","text":"no"},{"type":"text","text":"[the tool said] result b"}]}]`,
			`[{"role":"assistant","content":[{"type":"text","text":"[called look] {\"n\":1}"}]},{"role":"user","content":[{"type":"text","text":"no"},{"type":"text","text":"[the tool said] result b"}]}]`},
		{"two results and a text in one message",
			[]*transcript.Message{say("assistant", call("a"), call("b")), say("user", result("a"), result("b"), content.Text("so?"))},
			`[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}},{"id":"b","type":"function","function":{"name":"look","arguments":"{\"n\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"result a"},{"role":"tool","tool_call_id":"b","content":"result b"},{"role":"user","content":"so?"}]`,
			`[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":{"n":1}},{"type":"tool_use","id":"b","name":"look","input":{"n":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"result a"}],"is_error":false},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"result b"}],"is_error":false},{"type":"text","text":"so?"}]}]`},
		{"system messages, one of them late",
			[]*transcript.Message{system("be brief"), say("user", content.Text("hi")), system("be briefer")},
			`[{"role":"system","content":"be brief"},{"role":"user","content":"hi"},{"role":"system","content":"be briefer"}]`,
			`{"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"user","content":[{"type":"text","text":"be briefer"}]}]}`},
		{"pictures",
			[]*transcript.Message{say("user", content.ImageURL("file-service://x"), content.ImageURL("https://example.com/a.png")), say("assistant", content.Image("image/png", "AAAA"))},
			`[{"role":"user","content":[{"type":"text","text":"[image file-service://x]"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]},{"role":"assistant","content":"[image]"}]`,
			`[{"role":"user","content":[{"type":"text","text":"[image file-service://x]"},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]},{"role":"assistant","content":[{"type":"text","text":"[image]"}]}]`},
		{"nothing", []*transcript.Message{say("user", content.Text("hi")), say("assistant")},
			`[{"role":"user","content":"hi"}]`, `[{"role":"user","content":[{"type":"text","text":"hi"}]}]`},
	} {
		for f, want := range map[*Format]string{openAIFormat: c.openAI, anthropicAPIFormat: c.anthropic} {
			var b bytes.Buffer
			if _, err := f.Write(&b, inOrder(c.list), testOptions("")); err != nil {
				t.Fatal(err)
			}
			got := string(bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte(",\n "), []byte(",")))
			if got != want {
				t.Errorf("%s, for %s:\n%s\nwant\n%s", c.name, f.Name, got, want)
			}
		}
	}
}

// TestMarkdown: a conversation is rendered readably, whatever its texts contain.
func TestMarkdown(t *testing.T) {
	list, _, err := chatGPTFormat.ReadAll(bytes.NewReader(readFile(t, "testdata/chatgpt/branches.json")))
	if err != nil {
		t.Fatal(err)
	}
	tree := list[0]
	say := func(role string, parts ...content.Part) *transcript.Message {
		m := &transcript.Message{}
		m.Role, m.Parts = role, parts
		return m
	}
	all := inOrder([]*transcript.Message{
		say("user", content.Text("# A heading\n\n```go\nan open fence"), content.Image("image/png", "AAAA")),
		say("assistant", content.Thinking("hm </details> `x`", "c2ln"), content.Text("I look."), content.ToolCall(content.Call{ID: "1", Name: "read`x", Arguments: `{"a":"b"}`})),
		say("user", content.ToolResult(content.Call{ID: "1", Failed: true}, "````\nfour\n````")),
		say("user", content.Part{Type: content.TypeFile, Filename: "a.txt", Meta: []byte(`{"type":"text","data":"the file"}`)}),
	})
	all.Messages[3].Kind, all.Title, all.Dir, all.Model = transcript.Compaction, "A\n title", "/w", "m"
	for name, tr := range map[string]*transcript.Transcript{"tree": tree, "all": all, "empty": {}} {
		var b bytes.Buffer
		if _, err := markdownFormat.Write(&b, tr, testOptions("")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", "read", name+".md")
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want := string(readFile(t, path)); want != b.String() {
			t.Errorf("%s is\n%s\nwant\n%s", name, &b, want)
		}
	}
}

// TestClaudeAIForms: a message has one id and the same content whether the export is a tree
// or linear. The linear form has no branches, and a note reports it.
func TestClaudeAIForms(t *testing.T) {
	read := func(name string) (*transcript.Transcript, []transcript.Problem) {
		list, problems, err := claudeAIFormat.ReadAll(bytes.NewReader(readFile(t, filepath.Join("testdata", name))))
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		return list[0], problems
	}
	line, notes := read("claudeai-linear.json")
	tree, problems := read("claudeai-tree.json")
	if len(problems) > 0 || len(notes) != 1 || !notes[0].Note {
		t.Errorf("problems are %v of the tree, and %v of the line", problems, notes)
	}
	if line.ID != tree.ID || len(line.Messages) != len(tree.Messages) {
		t.Fatalf("the line has %d messages of %s, and the tree %d of %s", len(line.Messages), line.ID, len(tree.Messages), tree.ID)
	}
	in := map[string]*transcript.Message{}
	for _, m := range tree.Messages {
		in[m.ID] = m
	}
	for i, m := range line.Messages {
		if is := in[m.ID]; is == nil || is.Role != m.Role || said(is) != said(m) {
			t.Errorf("message %d, %s, is not in the tree", i, m.ID)
		}
		if i > 0 && m.Parent != line.Messages[i-1].ID {
			t.Errorf("message %d, %s, follows %s", i, m.ID, m.Parent)
		}
	}
	if got := len(paths(tree)); got != 3 {
		t.Errorf("the tree has %d leaves", got)
	}
}
