package mcp

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

func TestParse(t *testing.T) {
	c, err := Parse([]byte(`{
  "other": 1,
  "mcpServers": {
    "z": {"command": "run", "args": ["-x", "${A}"], "env": {"K": "v"}, "autoApprove": ["*"]},
    "off": {"command": "run", "disabled": true},
    "a": {"type": "http", "url": "https://example.com/mcp", "headers": {"H": "v"}},
    "old": {"type": "sse", "url": "http://example.com/sse"}
  }
}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{Servers: []Server{
		{Name: "z", Command: "run", Args: []string{"-x", "${A}"}, Env: map[string]string{"K": "v"}},
		{Name: "a", URL: "https://example.com/mcp", Headers: map[string]string{"H": "v"}},
		{Name: "old", URL: "http://example.com/sse", SSE: true},
	}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v\nwant %+v", c, want)
	}
}

// TestParseErrors: an error has its line, and never a value of env or headers.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "line 1: the file is empty"},
		{"[]", "line 1: not an object"},
		{"{}", `line 1: there is no object "mcpServers"`},
		{"{\n\"mcpServers\": []}", "line 2: not an object"},
		{"{\n\"mcpServers\": {\n\"a\": 1}}", "line 3: not an object"},
		{"{\n\"mcpServers\": {\n\"a\": {}}}", `line 3: the server "a": it has neither a command nor a url`},
		{`{"mcpServers": {"a": {"command": "x", "url": "http://y"}}}`, `line 1: the server "a": it has a command and a url`},
		{`{"mcpServers": {"": {"command": "x"}}}`, `line 1: the server "": it has no name`},
		{`{"mcpServers": {"a": {"command": "x", "type": "carrier pigeon"}}}`, `line 1: the server "a": unknown type "carrier pigeon"; the types are stdio, http and sse`},
		{`{"mcpServers": {"a": {"command": "x", "type": "http"}}}`, `line 1: the server "a": its type is http, but it has no url`},
		{`{"mcpServers": {"a": {"url": "http://x", "type": "stdio"}}}`, `line 1: the server "a": its type is stdio, but it has no command`},
		{"{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"env\": {\"K\": 123456}}}}", `line 2: the server "a": env must not be a JSON number`},
		{`{"mcpServers": {"a": {"command": ["x"]}}}`, `line 1: the server "a": command must not be a JSON array`},
		{"{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}", `line 3: duplicate key "a"`},
		{"{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},}}", "line 2: "},
	} {
		_, err := Parse([]byte(c.in))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("Parse(%q): %v, want %s", c.in, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "123456") {
			t.Errorf("Parse(%q): %v", c.in, err)
		}
	}
}

func TestExpand(t *testing.T) {
	env := []string{"A=one", "EMPTY=", "A=two", "TOKEN=secret value"}
	for _, c := range []struct{ in, want, problem string }{
		{"plain $A $ {A}", "plain $A $ {A}", ""},
		{"<${A}>", "<two>", ""},
		{"${env:A}${A}", "twotwo", ""},
		{"${EMPTY}${EMPTY:-x}${NONE:-}${NONE:-y:-z}", "xy:-z", ""},
		{"${NONE}", "", "the environment variable NONE is not set"},
		{"${input:token}", "", "invalid variable ${input:token}; use ${NAME} or ${NAME:-TEXT}"},
		{"${A", "${A", ""},
	} {
		got, _, err := expand(c.in, env)
		switch {
		case err == nil && c.problem != "", err != nil && err.Error() != c.problem:
			t.Errorf("expand(%q): %v, want %q", c.in, err, c.problem)
		case err == nil && got != c.want:
			t.Errorf("expand(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestHide(t *testing.T) {
	s := Server{Name: "a", URL: "http://x?key=${TOKEN}", Headers: map[string]string{"Authorization": "Bearer 0123456789"}, Env: map[string]string{"DEBUG": "1"}}
	_, secrets, err := s.expand([]string{"TOKEN=secret value"})
	if err != nil {
		t.Fatal(err)
	}
	in := "Bearer 0123456789; 0123456789; secret value; secret+value; 1 x"
	if got, want := hide(in, secrets), "…; …; …; …; 1 x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, bad := range []string{"ftp://x", "http://", "http://[x", "x"} {
		s.URL = bad
		if _, _, err := s.expand(nil); err == nil {
			t.Errorf("a server at %q is not accepted", bad)
		}
	}
}

// FuzzParse: a parsed configuration names every server once, with a command or an address.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "x", "args": ["${A}"]}, "b": {"url": "http://x"}}}`))
	f.Add([]byte(`{"mcpServers": {"a": {"env": {"A": NaN}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("the error has no line: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, s := range c.Servers {
			if seen[s.Name] || s.Name == "" || (s.Command == "") == (s.URL == "") {
				t.Errorf("the server %+v", s)
			}
			seen[s.Name] = true
		}
	})
}

// FuzzFilter: for input in pieces of any size, the filter passes the lines that begin with
// "{", and reports the others.
func FuzzFilter(f *testing.F) {
	f.Add("Welcome\n{\"a\":1}\n[info] {\n\n {\"b\":2}")
	f.Add("{\n}\n\r\n{}")
	f.Fuzz(func(t *testing.T, in string) {
		var want, noise string
		for line := range strings.SplitAfterSeq(in, "\n") {
			line = strings.TrimLeft(line, " \t\r\n")
			if strings.HasPrefix(line, "{") {
				want += line
			} else {
				noise += line
			}
		}
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.HalfReader(strings.NewReader(in))} {
			var noted bytes.Buffer
			got, err := io.ReadAll(&filter{ReadCloser: io.NopCloser(r), note: func(b []byte) { noted.Write(b) }})
			if err != nil || string(got) != want || noted.String() != noise {
				t.Errorf("got %q and noted %q, want %q and %q", got, &noted, want, noise)
			}
		}
	})
}
