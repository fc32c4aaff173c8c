package sessions_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// packed stages the recipe of a session file and returns it, with its plain file.
func packed(t *testing.T, f sessions.Folder, dir, id string) (p *sessions.Packed, plain []byte, err error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	b := durable.NewBatch(root)
	t.Cleanup(b.Discard)
	o, err := f.Outline(id)
	if err != nil {
		return nil, nil, err
	}
	if p, err = f.PackFile(b, o, []sessions.PackedLine{{ID: "line"}}, nil); err != nil {
		return nil, nil, err
	}
	plain, err = f.Plain(id, p.Content) // the items are in the pack before the commit
	if err != nil {
		t.Fatalf("the plain file of %s: %v", p.Content, err)
	}
	return p, plain, nil
}

// laidOut returns a session file with messages in bough's layout.
func laidOut(messages ...string) string {
	return "{\n  \"id\": \"s\",\n  \"messages\": [\n    " + strings.Join(messages, session.Separator) + "\n  ],\n  \"metadata\": {\"title\": \"T\"}\n}"
}

// layouts are session files, and whether they can be packed.
var layouts = []struct {
	text string
	can  bool
}{
	{laidOut(message("a", ""), message("b", `"n":1.0`)), true},
	{strings.Replace(laidOut(message("a", ""), message("b", "")), ",\n    {", " \t,\r\n{", 1), true},
	{strings.Replace(laidOut(message("a", ""), message("b", "")), ",\n    {", ",{", 1), true},
	{laidOut(message("a", `"n":NaN,"m":-Infinity`)), true},
	{laidOut(message("a", `"text":"\r\n","text":"twice"`)), true},
	{`{"messages":[]}`, true},
	{"{\"messages\"\t:[]\r\n}", true},
	{"{\"messages\":[\r\n]}", false},
	{file(message("a", "")), false},
	{laidOut(message("a", "")) + "\n", false},
	{" " + laidOut(message("a", "")), false},
	{`{"messages":[{"id":"a"}]}`, false},
	{strings.ReplaceAll(laidOut(message("a", "")), "\n", "\r\n"), false},
}

// TestPackLayouts: a recipe has all bytes of a session file, or is refused.
func TestPackLayouts(t *testing.T) {
	for _, c := range layouts {
		f, dir := folder(t, map[string]string{"conversations/p.json": c.text})
		_, plain, err := packed(t, f, dir, "p")
		switch {
		case c.can && (err != nil || string(plain) != c.text):
			t.Errorf("%q is unpacked as %q, %v", c.text, plain, err)
		case !c.can && !errors.Is(err, sessions.ErrLayout):
			t.Errorf("%q is packed as %q, %v", c.text, plain, err)
		}
	}
}

// FuzzPack: two session files that are packed into one pack are unpacked to the same bytes,
// in whatever layout they are, and whatever messages they share.
func FuzzPack(f *testing.F) {
	var list []string
	for _, c := range layouts {
		list = append(list, c.text)
	}
	for _, file := range (testchat.Chat{Messages: 24, PerFile: 12, Text: 20, Odd: true}).Files() {
		list = append(list, string(file.Data))
	}
	for i, text := range list {
		f.Add([]byte(text), []byte(list[(i+1)%len(list)]))
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		fo, dir := folder(t, map[string]string{"conversations/p.json": string(first), "conversations/q.json": string(second)})
		for id, data := range map[string][]byte{"p": first, "q": second} {
			p, plain, err := packed(t, fo, dir, id)
			var damage *session.DamageError
			switch {
			case errors.Is(err, sessions.ErrLayout), errors.As(err, &damage):
			case err != nil:
				t.Errorf("packing %q: %v", data, err)
			case !bytes.Equal(plain, data) || p.Bytes != int64(len(data)):
				t.Errorf("%q is unpacked as %q", data, plain)
			}
		}
	})
}

// FuzzRecipe: any bytes are a damaged recipe or one whose plain file has the size that it
// says, or cannot be read; a recipe is encoded to a recipe that means the same.
func FuzzRecipe(f *testing.F) {
	const head = `{"packed": {"runs":[["line.zst",%s]],"messages":%d,"bytes":%d,"opening":"Hello"},` + "\n" + `"session": {"id":"p","messages":[],"metadata":{}}}` + "\n"
	f.Add(fmt.Appendf(nil, head, "0,2", 2, 130))
	f.Add(fmt.Appendf(nil, head, "0,1073741824", 1<<30, int64(1)<<32))
	f.Add(fmt.Appendf(nil, head, "4611686018427387904,4611686018427387904", -1, 1))
	f.Add(fmt.Appendf(nil, head, `0,2],["line.zst",0,2],["line.zst",1,1`, 5, 400))
	f.Add(fmt.Appendf(nil, head, `0,1],["../x.zst",0,1`, 2, 100))
	f.Add([]byte(`{"packed":{"runs":[],"messages":0,"bytes":15,"opening":""},"session":{"messages":[]}}`))
	f.Add([]byte(`{"packed":{},"session":{"messages":[ ]}}`))
	text := laidOut(message("a", ""), message("b", `"n":1.0`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := sessions.DecodeRecipe("p", data)
		var damage *session.DamageError
		if err != nil {
			if !errors.As(err, &damage) || damage.Path != sessions.RecipeFile("p") {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		again, err := sessions.DecodeRecipe("p", r.Encode())
		if err != nil || !bytes.Equal(again.Encode(), r.Encode()) || fmt.Sprint(again.Summary()) != fmt.Sprint(r.Summary()) && *again.Summary().Opening != *r.Summary().Opening {
			t.Fatalf("%q is encoded as %q, %v", data, r.Encode(), err)
		}
		fo, dir := folder(t, map[string]string{"conversations/p.json": text})
		if _, _, err := packed(t, fo, dir, "p"); err != nil {
			t.Fatal(err)
		}
		plain, err := fo.Plain("p", data)
		switch {
		case int64(len(plain)) > r.Bytes:
			t.Errorf("%q: %d bytes, want at most %d", data, len(plain), r.Bytes)
		case err != nil && !errors.As(err, &damage):
			t.Errorf("%q: %v", data, err)
		case err == nil && int64(len(plain)) != r.Bytes:
			t.Errorf("%q: %d bytes, want %d", data, len(plain), r.Bytes)
		case err == nil:
			if _, err := session.Decode("p", plain); err != nil && r.Messages > 0 && len(r.Runs) == 1 {
				t.Errorf("%q: the plain file is %q, %v", data, plain, err)
			}
		}
	})
}
