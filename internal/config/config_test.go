package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, text string, scope Scope) File {
	t.Helper()
	path := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path, scope)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDefaults: each default is a valid value of its setting, and each setting has a
// description.
func TestDefaults(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Settings() {
		if seen[s.Key] || s.Doc == "" {
			t.Errorf("%s: listed twice, or without a line of documentation", s.Key)
		}
		seen[s.Key] = true
		if s.Default != "" {
			if err := s.Check([]byte(s.Default)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestSetKeepsBytes: other members are kept byte for byte.
func TestSetKeepsBytes(t *testing.T) {
	const before = "{\n  \"mine\": [1,  2],\n  \"wait\": \"5s\",\n  \"import\": { \"skip\": [ \"a\" ] }\n}\n"
	f := write(t, before, Workspace)
	if err := f.Set("wait", []byte(`"7s"`)); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(f.Path)
	if want := strings.Replace(before, "5s", "7s", 1); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := f.Set("import.skip", nil); err != nil {
		t.Fatal(err)
	}
	if f.Value("import.skip") != nil || string(f.Value("mine")) != "[1,  2]" {
		t.Errorf("after removal: %s", f.data)
	}
}

// TestSetThroughLink: a file that is a symlink stays one.
func TestSetThroughLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, Name)
	if err := os.WriteFile(target, []byte(`{"wait":"1s"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("the file system has no symlinks")
	}
	f, err := Read(link, User)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set("wait", []byte(`"2s"`)); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != `{"wait":"2s"}` {
		t.Errorf("the target has %s", got)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v", info.Mode(), err)
	}
}

// TestLayers: the workspace's value counts, lists are joined, and a workspace
// cannot set the user's settings.
func TestLayers(t *testing.T) {
	l := Layered{
		Workspace: write(t, `{"wait":"1s","pager":"evil","trust":["/"],"import":{"skip":["b"]}}`, Workspace),
		User:      write(t, `{"wait":"2s","import":{"skip":["a"]},"retention":{"every":3}}`, User),
	}
	for key, want := range map[string]string{
		"wait": `"1s"`, "pager": "", "trust": "[]", "import.skip": `["a","b"]`, "retention.every": "3", "retention.limit": "1000",
	} {
		s, _ := Find(key)
		if got, _ := l.Value(s); string(got) != want {
			t.Errorf("%s is %s, want %s", key, got, want)
		}
	}
	if n := len(l.Workspace.Check()); n != 2 {
		t.Errorf("%d problems in the workspace's file, want pager and trust", n)
	}
	var wait Time
	if err := l.Decode("wait", &wait); err != nil || time.Duration(wait) != time.Second {
		t.Errorf("wait is %v, %v", time.Duration(wait), err)
	}
}

func TestCheck(t *testing.T) {
	f := write(t, `{"wait":5,"imports":{},"import":{"skip":"x","other":1},"retention":{"limit":-1,"every":0}}`, User)
	var got []string
	for _, err := range f.Check() {
		got = append(got, strings.TrimPrefix(err.Error(), f.Path+": "))
	}
	want := []string{
		`wait is 5, want a duration such as "30s", "1h30m" or "7d"`,
		`unknown setting "imports"`,
		`import.skip is "x", want a list of texts`,
		`unknown setting "import.other"`,
		`retention.every is 0, want a whole number from 1 on`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReadDamaged(t *testing.T) {
	for _, text := range []string{"", "[]", "{", `{"a":1}x`} {
		path := filepath.Join(t.TempDir(), Name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path, User); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		key   string
		words []string
		want  string // "" for an error
	}{
		{"wait", []string{"7d"}, `"7d"`},
		{"wait", []string{"soon"}, ""},
		{"retention.max_age", []string{"2", "months"}, `"2 months"`},
		{"retention.max_age", []string{"forever"}, `"forever"`},
		{"import.skip", []string{"a*", "b"}, `["a*","b"]`},
		{"retention.every", []string{"4"}, "4"},
		{"retention.every", []string{"four"}, ""},
		{"explore.enabled", []string{"false"}, "false"},
		{"explore.prune", []string{"1.5"}, ""},
		{"explore.metrics", []string{"seconds=lower", "lines=ignore"}, `{"lines":"ignore","seconds":"lower"}`},
		{"models.prices", []string{"openai:gpt-4.1=2/8", "free=0/0"}, `{"free":"0/0","openai:gpt-4.1":"2/8"}`},
		{"pager", []string{"less", "-R"}, `"less -R"`},
	} {
		s, _ := Find(c.key)
		got, err := s.Parse(c.words)
		if (err != nil) != (c.want == "") || err == nil && string(got) != c.want {
			t.Errorf("%s %q: %s, %v; want %s", c.key, c.words, got, err, c.want)
		}
	}
}
