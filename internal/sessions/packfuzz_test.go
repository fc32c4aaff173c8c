package sessions_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	{laidOut(message("a", "")) + "\n", true},
	{" " + laidOut(message("a", "")), true},
	{"\r\n\t" + laidOut(message("a", "")) + " \n ", true},
	{"\n{\"messages\":[]} ", true},
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

// TestRecipeExample: the recipe of docs/format.md is valid, and encoded as it is there.
func TestRecipeExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```json\n{\"packed\"")
	text, _, _ = strings.Cut(`{"packed"`+text, "```")
	r, err := sessions.DecodeRecipe("session_20260314_093034_fec068a5", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Encode()); got != text {
		t.Errorf("it is encoded as\n%swant\n%s", got, text)
	}
}

// recipe returns a recipe with a valid checksum.
func recipe(runs string, messages int, bytes int64) []byte {
	const text = `{"packed": {"runs":[%s],"messages":%d,"bytes":%d,"crc32c":"00000000","opening":"Hello","recipe_crc32c":"00000000"},` + "\n" + `"session": {"id":"p","messages":[],"metadata":{}}}` + "\n"
	return sessions.Seal(fmt.Appendf(nil, text, runs, messages, bytes))
}

// TestRecipeNumbers: numbers of items that no pack can have are damage, and so are more
// messages than the plain file can have.
func TestRecipeNumbers(t *testing.T) {
	for _, c := range []struct {
		runs     string
		messages int
		bytes    int64
		ok       bool
	}{
		{`["line.zst",0,2]`, 2, 130, true},
		{fmt.Sprintf(`["line.zst",%d,1]`, sessions.MaxItems-1), 1, 130, true},
		{fmt.Sprintf(`["line.zst",%d,1]`, sessions.MaxItems), 1, 130, false},
		{fmt.Sprintf(`["line.zst",1,%d]`, sessions.MaxItems), sessions.MaxItems, 1 << 31, false},
		{`["line.zst",1073741824,1]`, 1, 130, false},
		{`["line.zst",9223372036854775807,1]`, 1, 130, false},
		{`["line.zst",1,9223372036854775807]`, 1, 130, false},
		{`["line.zst",-1,2]`, 2, 130, false},
		{`["line.zst",0,0]`, 0, 130, false},
		{`["line.zst",0,2]`, 3, 130, false},
		{`["line.zst",0,14]`, 14, 130, false},
		{`["line.zst",0,2]`, 2, -1, false},
		{`["line.zst",0,2]`, 2, 1 << 33, false},
		{`["../line.zst",0,2]`, 2, 130, false},
	} {
		data := recipe(c.runs, c.messages, c.bytes)
		_, err := sessions.DecodeRecipe("p", data)
		var damage *session.DamageError
		if c.ok != (err == nil) || err != nil && !errors.As(err, &damage) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestRecipeFlips: no changed byte of a recipe is accepted.
func TestRecipeFlips(t *testing.T) {
	data := recipe(`["line.zst",0,2],["other.zst",17,3]`, 5, 400)
	if _, err := sessions.DecodeRecipe("p", data); err != nil {
		t.Fatal(err)
	}
	for at := range data {
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[at] ^= 1 << bit
			if r, err := sessions.DecodeRecipe("p", changed); err == nil {
				t.Errorf("%q means %+v", changed, r)
			}
		}
	}
}

// TestPackLimit: no item gets a number that a recipe cannot name.
func TestPackLimit(t *testing.T) {
	f, dir := folder(t, map[string]string{"conversations/p.json": laidOut(message("a", ""))})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	b := durable.NewBatch(root)
	defer b.Discard()
	o, err := f.Outline("p")
	if err != nil {
		t.Fatal(err)
	}
	line := sessions.PackedLine{ID: "line", InUse: [][2]int{{sessions.MaxItems - 1, sessions.MaxItems}}}
	if _, err := f.PackFile(b, o, []sessions.PackedLine{line}, nil); err == nil || !strings.Contains(err.Error(), sessions.PackFile("line")) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, sessions.PackFile("line"))); err == nil {
		t.Error("the pack was written")
	}
}

// FuzzRecipe: any bytes are a damaged recipe or one whose plain file has the size that it
// says, or cannot be read; a recipe is encoded to a recipe that means the same. Each input
// is tried with a valid checksum, too.
func FuzzRecipe(f *testing.F) {
	f.Add(recipe(`["line.zst",0,2]`, 2, 130))
	f.Add(recipe(`["line.zst",0,1073741824]`, 1<<30, 1<<32))
	f.Add(recipe(`["line.zst",4611686018427387904,4611686018427387904]`, -1, 1))
	f.Add(recipe(`["line.zst",0,2],["line.zst",0,2],["line.zst",1,1]`, 5, 400))
	f.Add(recipe(`["line.zst",0,2],["line.zst",0,2],["line.zst",0,2],["line.zst",0,2],["line.zst",0,2]`, 10, 143))
	f.Add(recipe(`["line.zst",0,1],["../x.zst",0,1]`, 2, 100))
	f.Add([]byte(`{"packed":{"runs":[],"messages":0,"bytes":15,"crc32c":"00000000","opening":"","recipe_crc32c":""},"session":{"messages":[]}}`))
	f.Add([]byte(`{"packed":{"recipe_crc32c":""},"session":{"messages":[ ]}}`))
	text := laidOut(message("a", ""), message("b", `"n":1.0`))
	check := func(t *testing.T, data []byte) {
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
		if salvaged, lost, err := fo.Salvage("p", data); err != nil || int64(len(salvaged)) > r.Bytes || lost < 0 || lost > r.Messages {
			t.Errorf("%q: %d bytes without %d messages, %v, want at most %d bytes", data, len(salvaged), lost, err, r.Bytes)
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
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data)
		check(t, sessions.Seal(data))
	})
}
