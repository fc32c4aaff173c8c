package content_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testsize"
)

var formats = []content.Format{content.OpenAI, content.Acontext, content.Anthropic, content.Gemini}

// digits is a deterministic source of randomness.
func digits() *strings.Reader { return strings.NewReader("0123456789abcdef0123456789abcdef0123456789") }

// FuzzParse: the stored form of a message decodes to the same message; an encoded
// item decodes, and encodes to the same bytes again.
func FuzzParse(f *testing.F) {
	n := 0
	for _, c := range forms {
		for i, format := range formats {
			if format == c.format {
				f.Add(i, []byte(c.in))
				n++
			}
		}
	}
	if n < 40 {
		f.Fatal("too few seeds")
	}
	f.Fuzz(func(t *testing.T, format int, blob []byte) {
		if format >= 0 && format < len(formats) {
			keepsLaws(t, formats[format], blob)
		}
	})
}

// TestLaws verifies the same for random messages.
func TestLaws(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	taken, made := 0, testsize.Of(1_000, 4_000, 20_000)
	for range made {
		came := formats[random.IntN(len(formats))]
		blob := madeUp(random, came)
		if keepsLaws(t, came, blob) {
			taken++
		}
		if t.Failed() {
			t.Fatalf("the message, in the form of %s: %s", came, blob)
		}
	}
	if taken < made/10 {
		t.Errorf("only %d messages could be read", taken)
	}
}

// madeUp returns a message with random members.
func madeUp(random *rand.Rand, came content.Format) []byte {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	kind := func() string {
		return pick("text", "text", "image_url", "input_audio", "file", "refusal", "image", "document", "tool_use", "tool_result",
			"thinking", "redacted_thinking", "tool-call", "tool-result", "data", "audio", "video", "url", "base64", "function", "custom")
	}
	var value func(depth int) string
	members := func(depth int, names ...string) string {
		var list []string
		for range random.IntN(5) {
			list = append(list, fmt.Sprintf("%q: %s", pick(names...), value(depth-1)))
		}
		return strings.Join(append([]string{`"type": "` + kind() + `"`}, list...), ", ")
	}
	names := []string{"text", "meta", "id", "name", "arguments", "input", "tool_call_id", "tool_use_id", "content", "source", "data", "url",
		"image_url", "input_audio", "file", "format", "media_type", "file_id", "file_data", "thinking", "signature", "is_error", "function",
		"cache_control", "refusal", "inlineData", "fileData", "functionCall", "functionResponse", "thought", "thoughtSignature", "mimeType",
		"fileUri", "args", "response", "data_type", "filename", "title", "detail", "asset", "image_path", "custom", "type"}
	value = func(depth int) string {
		if depth <= 0 || random.IntN(3) == 0 {
			return pick(`"a"`, `"b"`, `""`, `"data:image/png;base64,AAAA"`, `"https://x/y"`, `"{\"a\": 1}"`, `"\u00e9\ud83d\n\""`,
				`null`, `true`, `1.50`, `{}`, `[]`, `"text"`, `"base64"`, `"audio/mpeg"`)
		}
		if random.IntN(3) == 0 {
			return "[" + value(depth-1) + ", {" + members(depth, names...) + "}]"
		}
		return "{" + members(depth, names...) + "}"
	}
	part := func() string {
		switch came {
		case content.Gemini:
			return fmt.Sprintf("{%q: %s, %q: %s}", pick("text", "text", "inlineData", "fileData", "functionCall", "functionResponse"), value(2),
				pick("thought", "thoughtSignature", "text"), value(0))
		case content.Acontext:
			return "{" + members(2, "text", "text", "meta", "meta", "name") + `, "text": "x", "meta": {"name": "f", "arguments": ` + value(2) +
				`, "tool_call_id": ` + value(0) + `, "data_type": "t", "id": "a", ` + members(2, names...) + "}}"
		}
		return "{" + members(2, names...) + "}"
	}
	var list []string
	for range random.IntN(4) {
		list = append(list, part())
	}
	whole := "[" + strings.Join(list, ", ") + "]"
	said := pick("content", "parts")
	switch came {
	case content.OpenAI, content.Anthropic:
		said = "content"
		if random.IntN(4) == 0 {
			whole = value(0)
		}
	case content.Gemini, content.Acontext:
		said = "parts"
	}
	more := fmt.Sprintf("%q: %s", pick("name", "tool_call_id", "tool_calls", "function_call", "refusal", "meta", "extra"), value(3))
	role := pick("user", "user", "assistant", "assistant", "model", "tool", "system", "developer", "function")
	return fmt.Appendf(nil, `{"role": "%s", %q: %s, %s}`, role, said, whole, more)
}

// keepsLaws reports whether a message can be parsed, and fails if the result breaks
// a law.
func keepsLaws(t *testing.T, came content.Format, blob []byte) bool {
	m, err := content.Parse(came, blob, digits())
	if err != nil {
		if _, ok := err.(*content.Error); !ok && err.Error() != "EOF" && err.Error() != "unexpected EOF" {
			t.Fatalf("a %T: %v", err, err)
		}
		return false
	}
	for i := range m.Parts {
		m.Parts[i].FileField = ""
	}
	for _, indented := range []bool{false, true} {
		if got := content.Read(inFile(m, indented)); !reflect.DeepEqual(got, m) {
			t.Errorf("stored and read: %s\nwant %s", show(got), show(m))
		}
	}
	for _, form := range formats {
		first, read := rewritten(t, form, m)
		if read == nil && form == content.Acontext && form != came {
			continue // it drops empty texts, which others keep
		}
		second, read := rewritten(t, form, read)
		third, _ := rewritten(t, form, read)
		if form == came && second != first || second != third {
			t.Errorf("%s writes\n%s\nand then\n%s\n%s", form, first, second, third)
		}
	}
	return true
}

// rewritten encodes m in a format, and decodes the result.
func rewritten(t *testing.T, form content.Format, m *content.Message) (string, *content.Message) {
	if m == nil {
		return "", nil
	}
	item := content.Items(form, []*content.Message{m}, nil)[0]
	read, err := content.Parse(form, item, digits())
	if err != nil && (form != content.Acontext || m.Own.Format == content.Acontext) {
		t.Errorf("%s writes %s, and reads it as %v", form, item, err)
	}
	return string(item), read
}

// inFile returns a message in the form of a session file.
func inFile(m *content.Message, indented bool) []byte {
	role, value, list := m.Stored()
	members := []rawjson.Pair{}
	for _, m := range list {
		members = append(members, rawjson.Pair{Key: m.Name, Value: m.Value})
	}
	own := rawjson.AppendObject(nil, members, 4)
	said := []byte(value)
	if indented {
		own, said = rawjson.Layout(own, 4), rawjson.Layout(said, 3)
	}
	return fmt.Appendf(nil, `{"role": %q, "content": %s, "category": "DIALOG", "id": "a", "metadata": {"parent_id": null, "bough": %s}}`, role, said, own)
}

// show returns a message as JSON.
func show(m *content.Message) string {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Sprintf("%+v: %v", m, err)
	}
	return string(b)
}

// FuzzRead: any message of a session file can be read, and its items in all formats
// are valid JSON.
func FuzzRead(f *testing.F) {
	for _, c := range natives {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if rawjson.Check(raw) != nil {
			return
		}
		kept := bytes.Clone(raw)
		m := content.Read(raw)
		if !bytes.Equal(raw, kept) {
			t.Fatal("the message changed")
		}
		for _, form := range formats {
			if item := content.Items(form, []*content.Message{m}, nil)[0]; !json.Valid(item) {
				t.Errorf("%s writes %q", form, item)
			}
		}
		if _, err := json.Marshal(m); err != nil {
			t.Error(err)
		}
		if got := content.Read(inFile(m, true)); !reflect.DeepEqual(got.Parts, m.Parts) {
			t.Errorf("stored and read: %s\nwant %s", show(got), show(m))
		}
	})
}
