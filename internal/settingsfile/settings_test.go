package settingsfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hooks is a set like that of an assistant's hooks, mcp one like that of an MCP server.
func hooks(command string) *Set {
	group := fmt.Sprintf(`{"hooks":[{"type":"command","command":%q}]}`, command)
	return &Set{
		Syntax:    JSON,
		Additions: []Addition{{[]string{"hooks", "Before"}, true, []byte(group)}, {[]string{"hooks", "After"}, true, []byte(group)}},
		Own: func(doc any) (own [][]string) {
			for _, event := range []string{"Before", "After"} {
				list, _ := lookup(doc, []string{"hooks", event})
				groups, _ := list.([]any)
				for i := range groups {
					path := []string{"hooks", event, fmt.Sprint(i)}
					got, _ := lookup(doc, append(path[:3:3], "hooks", "0", "command"))
					if text, _ := got.(string); strings.HasSuffix(text, "bough hook") {
						own = append(own, path)
					}
				}
			}
			return own
		},
	}
}

func mcp(syntax Syntax) *Set {
	path := []string{"servers", "bough"}
	return &Set{
		Syntax:    syntax,
		Additions: []Addition{{Path: path, Value: []byte(`{"command":"/bin/bough","args":["-w","/a b","mcp"]}`)}},
		Own: func(doc any) [][]string {
			if v, _ := lookup(doc, append(path[:2:2], "args", "2")); v == "mcp" {
				return [][]string{path}
			}
			return nil
		},
	}
}

// jsonFiles are settings files of users.
var jsonFiles = []string{
	"",
	"\n",
	"{}",
	"{}\n",
	"{ }",
	"{\n}\n",
	"{\n  // nothing yet\n}\n",
	`{"model":"opus"}`,
	`{"model":"opus","hooks":{}}`,
	"{\n  \"model\": \"opus\"\n}\n",
	"{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Before\": []\n\t}\n}\n",
	"{\r\n    \"model\": \"opus\"\r\n}\r\n",
	"{\n  \"hooks\": {\n    \"Before\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}\n    ]\n  }\n}",
	"{\n  \"a\": 1, // one\n  /* two */ \"b\": 2, // last\n}\n",
	"{\n  \"a\": 1 // no comma\n}\n",
	"{\n  \"servers\": {\n    // mine\n    \"other\": { \"command\": \"x\" },\n  },\n  \"hooks\": {},\n}\n",
	"// a file\n{\n  \"servers\": {}, \"hooks\": { \"After\": [ ] } }\n// the end",
	"{\"a\":1.0e2,\"b\":\"\\u00e9 <&>\",\n \"c\":[1,2,\n3]}",
}

// laws checks the laws of adding and removing.
func laws(t *testing.T, old []byte, s *Set) {
	t.Helper()
	after, base, splices, err := Add(old, s)
	if err != nil {
		var syntax *SyntaxError
		var conflict *ConflictError
		if !errors.As(err, &syntax) && !errors.As(err, &conflict) {
			t.Fatalf("%q: %v", old, err)
		}
		return
	}
	if !bytes.Equal(Apply(base, splices), after) {
		t.Fatalf("%q: the splices give %q, not %q", base, Apply(base, splices), after)
	}
	if again, _, more, err := Add(after, s); err != nil || more != nil || !bytes.Equal(again, after) {
		t.Fatalf("%q: twice gives %q, %v", after, again, err)
	}
	kept := Containers(base, s)
	back, err := Remove(after, s, splices, kept)
	if err != nil || !bytes.Equal(back, base) {
		t.Fatalf("%q: with the record %q goes back to %q, %v", base, after, back, err)
	}
	// What the user adds meanwhile remains, and so do the objects that were there.
	mine := &Set{Syntax: s.Syntax, Additions: []Addition{{Path: []string{"zz mine"}, Value: []byte(`{"a":1}`)}}, Own: func(any) [][]string { return nil }}
	if edited, _, _, err := Add(after, mine); err == nil {
		back, err := Remove(edited, s, splices, kept)
		if err != nil {
			t.Fatalf("%q: after an edit: %v", edited, err)
		}
		doc, _ := decode(back, s.Syntax)
		if _, ok := lookup(doc, []string{"zz mine"}); !ok || !isFree(back, s) {
			t.Fatalf("%q becomes %q", edited, back)
		}
		for _, path := range kept {
			if _, ok := lookup(doc, path); !ok {
				t.Fatalf("%q becomes %q, without %q", edited, back, path)
			}
		}
	}
	// Without the record all values of the user remain; Remove checks that.
	back, err = Remove(after, s, nil, nil)
	if err != nil {
		t.Fatalf("%q: without the record: %v", after, err)
	}
	if !isFree(back, s) {
		t.Fatalf("%q still has the values", back)
	}
	if isStrict(after, s.Syntax) && !isBlank(back) && !isStrict(back, s.Syntax) {
		t.Fatalf("%q becomes %q, which strict parsers refuse", after, back)
	}
	for _, comment := range []string{"// one", "/* two */", "// last", "// mine", "// a file", "// no comma", "# mine"} {
		if bytes.Contains(base, []byte(comment)) && !bytes.Contains(back, []byte(comment)) {
			t.Fatalf("%q lost %s: %q", after, comment, back)
		}
	}
}

func TestLaws(t *testing.T) {
	for _, old := range jsonFiles {
		laws(t, []byte(old), hooks("/bin/bough hook"))
		laws(t, []byte(old), mcp(JSON))
	}
	for _, old := range tomlFiles {
		laws(t, []byte(old), mcp(TOML))
	}
}

var tomlFiles = []string{
	"", "model = \"o3\"", "model = 'o3'\n", "# mine\n[servers.other]\ncommand = \"x\"\n\n[tools]\nweb = true\n",
	"a = [nan, {b = 2026-01-01}]\n", "model = \"o3\"\r\n[servers]\r\n", "[[list]]\na = 1\n[[list]]\na = \"\"\"\n[servers.bough]\n\"\"\"\n",
}

func FuzzJSON(f *testing.F) {
	for _, old := range jsonFiles {
		f.Add([]byte(old))
	}
	f.Fuzz(func(t *testing.T, old []byte) {
		laws(t, old, hooks("/bin/bough hook"))
		laws(t, old, mcp(JSON))
	})
}

func FuzzTOML(f *testing.F) {
	for _, old := range tomlFiles {
		f.Add([]byte(old))
	}
	f.Fuzz(func(t *testing.T, old []byte) { laws(t, old, mcp(TOML)) })
}

// TestAdd: the added text has the layout of the file.
func TestAdd(t *testing.T) {
	for _, c := range []struct {
		old, want string
		set       *Set
	}{
		{"", "{\n  \"servers\": {\n    \"bough\": {\n      \"command\": \"/bin/bough\",\n      \"args\": [\n        \"-w\",\n        \"/a b\",\n        \"mcp\"\n      ]\n    }\n  }\n}\n", mcp(JSON)},
		{`{"a":1}`, `{"a":1,"servers":{"bough":{"command":"/bin/bough","args":["-w","/a b","mcp"]}}}`, mcp(JSON)},
		{"{\n\t\"a\": 1, // one\n}\n", "{\n\t\"a\": 1, // one\n\t\"servers\": {\n\t\t\"bough\": {\n\t\t\t\"command\": \"/bin/bough\",\n\t\t\t\"args\": [\n\t\t\t\t\"-w\",\n\t\t\t\t\"/a b\",\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t},\n}\n", mcp(JSON)},
		{"a = 1", "a = 1\n\n[servers.bough]\nargs = ['-w', '/a b', 'mcp']\ncommand = '/bin/bough'\n", mcp(TOML)},
	} {
		if got, _, _, err := Add([]byte(c.old), c.set); string(got) != c.want || err != nil {
			t.Errorf("%q becomes\n%s\nwant\n%s\n%v", c.old, got, c.want, err)
		}
	}
}

// TestEdited: an edit of the user between Add and Remove is kept.
func TestEdited(t *testing.T) {
	for _, c := range []struct {
		old, from, to, want string
		set                 *Set
	}{
		{"{\n  \"model\": \"opus\"\n}\n", `"opus"`, `"haiku"`, "{\n  \"model\": \"haiku\"\n}\n", hooks("bough hook")},
		{"{\n  \"model\": \"opus\"\n}\n", `"model"`, "// mine\n  \"model\"", "{\n  // mine\n  \"model\": \"opus\"\n}\n", hooks("bough hook")},
		{"{}\n", "{\n", "{\n  \"b\": 2,\n", "{\n  \"b\": 2\n}\n", mcp(JSON)},
		{"{}\n", "\n}\n", ",\n  \"b\": 2\n}\n", "{\n  \"b\": 2\n}\n", mcp(JSON)},
		{"{\n  \"hooks\": {}\n}\n", "{\n  \"hooks\"", "{\n  \"x\": 1, \"hooks\"", "{\n  \"x\": 1, \"hooks\": {}\n}\n", hooks("bough hook")},
		{"{\n  \"servers\": {\"mine\": {}}\n}\n", "{\"mine\": {}", "{\"yours\": {}", "{\n  \"servers\": {\"yours\": {}}\n}\n", mcp(JSON)},
		{"a = 1\n", "a = 1", "a = 2\nb = 3", "a = 2\nb = 3\n", mcp(TOML)},
		{"a = 1\n", "'mcp'", "\"mcp\"", "a = 1\n", mcp(TOML)},
		{"a = 1\n", "command = '/bin/bough'\n", "command = '/bin/bough' # it\n# mine\n[b]\n", "a = 1\n# mine\n[b]\n", mcp(TOML)},
		{"a = 1\n", "['-w', '/a b', 'mcp']", "[\n  '-w', '/a b', # two\n  'mcp',\n]", "a = 1\n", mcp(TOML)},
	} {
		after, base, splices, err := Add([]byte(c.old), c.set)
		if err != nil {
			t.Fatal(err)
		}
		edited := strings.Replace(string(after), c.from, c.to, 1)
		if edited == string(after) {
			t.Fatalf("%q is not in %q", c.from, after)
		}
		got, err := Remove([]byte(edited), c.set, splices, Containers(base, c.set))
		if err != nil || string(got) != c.want {
			t.Errorf("%q becomes %q, want %q: %v", edited, got, c.want, err)
		}
	}
}

// TestOutdated: a value of another version is replaced.
func TestOutdated(t *testing.T) {
	old := []byte("{\n  \"x\": 1\n}\n")
	first, _, _, err := Add(old, hooks("/old/bough hook"))
	if err != nil {
		t.Fatal(err)
	}
	second, base, _, err := Add(first, hooks("/new/bough hook"))
	if err != nil || !bytes.Equal(base, old) {
		t.Fatalf("the base is %q: %v", base, err)
	}
	want, _, _, _ := Add(old, hooks("/new/bough hook"))
	if !bytes.Equal(second, want) {
		t.Errorf("got %s", second)
	}
}

// TestRefused: a file that cannot be changed is an error with the place.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		data, want string
		set        *Set
	}{
		{"{\n  \"a\": }\n", "line 2, column 8", mcp(JSON)},
		{"{\"a\":1} x", "column 9", mcp(JSON)},
		{"[]", "line 1: the content is not an object", mcp(JSON)},
		{"{\n\"servers\": [\n]}", "line 2: servers is not an object", mcp(JSON)},
		{"{\"hooks\":{\"Before\":{}}}", "line 1: hooks.Before is not an array", hooks("bough hook")},
		{"{\"servers\":{\"bough\":{}}}", "line 1: servers.bough is in use", mcp(JSON)},
		{"{\"a\":1,\n \"a\":2}", `line 2, column 2: the name "a" is used twice`, mcp(JSON)},
		{"a = \n", "line 1, column 5", mcp(TOML)},
		{"servers = 1\n", "servers is not a table", mcp(TOML)},
		{"servers = {a = 1}\n", "servers is not a table that can be extended", mcp(TOML)},
		{"[servers.bough]\nx = 1\n", "servers.bough is in use", mcp(TOML)},
	} {
		_, _, _, err := Add([]byte(c.data), c.set)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.data, err, c.want)
		}
	}
	inline := []byte("servers = {bough = {command = 'x', args = ['-w', 'x', 'mcp']}}\n")
	if got, err := Remove(inline, mcp(TOML), nil, nil); err == nil {
		t.Errorf("an inline table became %q", got)
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "settings.json")
	f, err := Read(path)
	if err != nil || f.Exists {
		t.Fatalf("a missing file: %+v, %v", f, err)
	}
	if err := f.Replace([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace([]byte("{}")); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that appeared was replaced: %v", err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	if f, err = Read(link); err != nil || string(f.Data) != "{}" {
		t.Fatalf("%+v, %v", f, err)
	}
	if err := f.Replace([]byte("[]")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	info, statErr := os.Lstat(link)
	if string(data) != "[]" || err != nil || statErr != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the target has %q, the link is %v: %v, %v", data, info.Mode(), err, statErr)
	}
	if info, err = os.Stat(path); err != nil || info.Mode().Perm() != 0o640 && os.PathSeparator == '/' {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	if f, err = Read(link); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	if _, err := Read(link); err == nil {
		t.Error("a link without a target was read")
	}
	if _, err := Read(dir); err == nil {
		t.Error("a folder was read")
	}
}

// TestByteOrderMark: a byte order mark is no part of the content, and stays.
func TestByteOrderMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	const old = "\ufeff{\r\n  \"model\": \"opus\"\r\n}\r\n"
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	s := mcp(JSON)
	after, base, splices, err := Add(f.Data, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(after); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "\ufeff"+string(after) || bytes.Equal(after, base) {
		t.Fatalf("the file is %q, %v", data, err)
	}
	if f, err = Read(path); err != nil {
		t.Fatal(err)
	}
	back, err := Remove(f.Data, s, splices, Containers(base, s))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, after, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(back); !errors.Is(err, ErrChanged) {
		t.Errorf("a file whose mark another program removed was replaced: %v", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(back); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != old {
		t.Errorf("the file is %q, %v, want %q", data, err, old)
	}
}
