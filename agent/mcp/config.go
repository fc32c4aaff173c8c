package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A Config lists servers.
type Config struct {
	Servers []Server // in the order of the file
}

// A Server is a program, or a server at a URL.
type Server struct {
	Name string

	Command string // "" if the server is at a URL
	Args    []string
	Env     map[string]string // in addition to the environment of all programs

	URL     string
	Headers map[string]string
	SSE     bool // use HTTP with server-sent events, as older servers do
}

// Parse parses the JSON that lists servers. An error names the line.
func Parse(data []byte) (*Config, error) {
	c, err := parse(data)
	var syntax *rawjson.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("line %d: %s", 1+bytes.Count(data[:min(syntax.Offset, len(data))], []byte("\n")), syntax.Problem)
	}
	return c, err
}

// parse is Parse with errors of type *[rawjson.SyntaxError].
func parse(data []byte) (*Config, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, err
	}
	root := rawjson.Root(data)
	members, err := rawjson.Members(data, root)
	if err != nil {
		return nil, err
	}
	at, ok := rawjson.Find(members, "mcpServers")
	if !ok {
		return nil, &rawjson.SyntaxError{Offset: root.Start, Problem: `there is no object "mcpServers"`}
	}
	servers, err := rawjson.Members(data, at)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	for _, m := range servers {
		s, enabled, err := parseServer(m.Key, data, m.Value)
		var syntax *rawjson.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return nil, err
		case err != nil:
			return nil, &rawjson.SyntaxError{Offset: m.Value.Start, Problem: fmt.Sprintf("the server %q: %s", m.Key, err)}
		case enabled:
			c.Servers = append(c.Servers, s)
		}
	}
	return c, nil
}

// parseServer parses a server and reports whether it is enabled. An error other than a
// *[rawjson.SyntaxError] is about the server as a whole.
func parseServer(name string, data []byte, at rawjson.Span) (Server, bool, error) {
	if _, err := rawjson.Members(data, at); err != nil {
		return Server{}, false, err
	}
	var v struct {
		Type     string            `json:"type"`
		Command  string            `json:"command"`
		URL      string            `json:"url"`
		Args     []string          `json:"args"`
		Env      map[string]string `json:"env"`
		Headers  map[string]string `json:"headers"`
		Disabled bool              `json:"disabled"`
	}
	var is *json.UnmarshalTypeError
	switch err := json.Unmarshal(at.Of(data), &v); {
	case errors.As(err, &is):
		return Server{}, false, &rawjson.SyntaxError{
			Offset:  at.Start + int(is.Offset) - 1,
			Problem: fmt.Sprintf("the server %q: %s must not be a JSON %s", name, is.Field, kind(is.Value)),
		}
	case err != nil:
		return Server{}, false, err
	}
	s := Server{Name: name, Command: v.Command, Args: v.Args, Env: v.Env, URL: v.URL, Headers: v.Headers, SSE: v.Type == "sse"}
	return s, !v.Disabled, s.problem(v.Type)
}

// kind returns the kind of a value for an error of encoding/json, without the
// value.
func kind(value string) string {
	word, _, _ := strings.Cut(value, " ")
	return word
}

func (s *Server) problem(kind string) error {
	switch {
	case s.Name == "":
		return errors.New("it has no name")
	case s.Command == "" && s.URL == "":
		return errors.New("it has neither a command nor a url")
	case s.Command != "" && s.URL != "":
		return errors.New("it has a command and a url")
	}
	switch kind {
	case "":
	case "stdio":
		if s.Command == "" {
			return errors.New("its type is stdio, but it has no command")
		}
	case "http", "streamable-http", "streamableHttp", "sse":
		if s.URL == "" {
			return fmt.Errorf("its type is %s, but it has no url", kind)
		}
	default:
		return fmt.Errorf("unknown type %q; the types are stdio, http and sse", kind)
	}
	return nil
}

// expand returns s with environment variables expanded, and the secrets that errors must
// not contain.
func (s Server) expand(env []string) (_ Server, secrets []string, err error) {
	text := func(in string) string {
		out, used, e := expand(in, env)
		secrets = append(secrets, used...)
		if err == nil {
			err = e
		}
		return out
	}
	values := func(in map[string]string) map[string]string {
		out := map[string]string{}
		for k, v := range in {
			out[k] = text(v)
			secrets = append(append(secrets, out[k]), strings.Fields(out[k])...)
		}
		return out
	}
	s.Command, s.URL = text(s.Command), text(s.URL)
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = text(a)
	}
	s.Args, s.Env, s.Headers = args, values(s.Env), values(s.Headers)
	if err == nil && s.URL != "" {
		u, e := url.Parse(s.URL)
		if e != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			err = errors.New("its url does not begin with http:// or https://")
		} else if password, ok := u.User.Password(); ok {
			secrets = append(secrets, password)
		}
	}
	if err != nil {
		err = fmt.Errorf("the MCP server %q: %w", s.Name, err)
	}
	return s, secrets, err
}

// expand returns s with environment variables expanded, and the values used.
func expand(s string, env []string) (_ string, used []string, err error) {
	if !strings.Contains(s, "${") {
		return s, nil, nil
	}
	variable := regexp.MustCompile(`\$\{([^}]*)\}`)
	variableName := regexp.MustCompile(`^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-.*)?$`)
	out := variable.ReplaceAllStringFunc(s, func(match string) string {
		m := variableName.FindStringSubmatch(match[2 : len(match)-1])
		if m == nil {
			err = fmt.Errorf("invalid variable %s; use ${NAME} or ${NAME:-TEXT}", match)
			return ""
		}
		name, otherwise := m[1], m[2]
		v, ok := lookup(env, name)
		switch {
		case ok && (v != "" || otherwise == ""):
			used = append(used, v)
			return v
		case otherwise != "":
			return otherwise[2:]
		}
		err = fmt.Errorf("the environment variable %s is not set", name)
		return ""
	})
	return out, used, err
}

// lookup returns the value of an environment variable. If there are several,
// the last one counts, as for programs.
func lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// environment returns the environment of a program.
func (s *Server) environment(env []string) []string {
	list := append([]string{}, env...)
	for k, v := range s.Env {
		list = append(list, k+"="+v)
	}
	return list
}

// hide returns text without the secrets.
func hide(text string, secrets []string) string {
	const least = 6
	for _, s := range secrets {
		if len(s) >= least {
			text = strings.ReplaceAll(text, s, "…")
			text = strings.ReplaceAll(text, url.QueryEscape(s), "…")
		}
	}
	return text
}
