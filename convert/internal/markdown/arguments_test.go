package markdown

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriteArguments(t *testing.T) {
	long := strings.Repeat("long ", 30)
	for _, c := range []struct{ in, want string }{
		{`{}`, ""},
		{`{"path":"a.go","line":1.50,"all":true,"none":null,"empty":""}`, "\n- `path`: `a.go`\n- `line`: `1.50`\n- `all`: `true`\n- `none`: `null`\n- `empty`: `\"\"`\n"},
		{`{"file_path":"/x/a.py","content":"def f():\n  pass\n"}`, "\n- `file_path`: `/x/a.py`\n\n`content`:\n\n```python\ndef f():\n  pass\n```\n"},
		{`{"content":"a\nb","path":"x/Makefile","limit":3}`, "\n`content`:\n\n```\na\nb\n```\n\n- `path`: `x/Makefile`\n- `limit`: `3`\n"},
		{`{"command":"ls -l\nwc -l","description":"Counts"}`, "\n`command`:\n\n```sh\nls -l\nwc -l\n```\n\n- `description`: `Counts`\n"},
		{`{"command":["bash","-lc","echo 'a b' | wc"]}`, "\n- `command`: `echo 'a b' | wc`\n"},
		{`{"command":["grep","a b","it's"]}`, "\n- `command`: `grep 'a b' 'it'\\''s'`\n"},
		{`{"file_path":"a.go","old_string":"one","new_string":"two\nthree\n"}`, "\n- `file_path`: `a.go`\n\n`old_string, new_string`:\n\n```diff\n-one\n+two\n+three\n```\n"},
		{`{"input":"*** Begin Patch\n*** End Patch"}`, "\n`input`:\n\n```diff\n*** Begin Patch\n*** End Patch\n```\n"},
		{`{"text":"has a ` + "```" + ` fence\nand ` + "`" + `one"}`, "\n`text`:\n\n````\nhas a ``` fence\nand `one\n````\n"},
		{`{"query":"a ` + "`" + `b` + "`" + `"}`, "\n- `query`: `` a `b` ``\n"},
		{`{"edits":[{"old_string":"a\n","new_string":"b\n"}],"tags":["x","y"]}`, "\n`edits.0.old_string, new_string`:\n\n```diff\n-a\n+b\n```\n\n- `tags`: `[\"x\",\"y\"]`\n"},
		{`{"a":{"b":{"c":{"d":{"e":["` + long + `"]}}}}}`, "\n`a.b.c.d.e`:\n\n```json\n[\n  \"" + long + "\"\n]\n```\n"},
		{`{"half a surrogate":"\ud800"}`, "\n- `half a surrogate`: `\uFFFD`\n"},
		{"no JSON\n```\n", "\n````\nno JSON\n```\n````\n"},
		{`["a list"]`, "\n```\n[\"a list\"]\n```\n"},
		{"", ""},
	} {
		var b bytes.Buffer
		writeArguments(&b, c.in)
		if got := b.String(); got != c.want {
			t.Errorf("of %s came\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}
