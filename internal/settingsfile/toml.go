package settingsfile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// addTable returns the splice that adds a table at the end of a TOML file.
func addTable(data []byte, a Addition) ([]Splice, error) {
	doc, err := decode(data, TOML)
	if err != nil {
		return nil, err
	}
	for n := range a.Path {
		v, ok := lookup(doc, a.Path[:n+1])
		if _, table := v.(map[string]any); ok && !table {
			return nil, &ConflictError{Path: a.Path[:n+1], Want: "a table"}
		}
		if ok && n == len(a.Path)-1 {
			return nil, &ConflictError{Path: a.Path}
		}
	}
	var pairs map[string]any
	if err := json.Unmarshal(a.Value, &pairs); err != nil {
		panic("settingsfile: the value of a table is not an object: " + err.Error())
	}
	body, err := toml.Marshal(pairs)
	if err != nil {
		return nil, err
	}
	text := "[" + tableName(a.Path) + "]\n" + string(body)
	switch {
	case len(data) == 0:
	case bytes.HasSuffix(data, []byte("\n")):
		text = "\n" + text
	default:
		text = "\n\n" + text
	}
	if bytes.Contains(data, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	splices := []Splice{{len(data), text}}
	if _, err := decode(Apply(data, splices), TOML); err != nil {
		// The table above is an inline table, which cannot be extended.
		return nil, &ConflictError{Path: a.Path[:max(1, len(a.Path)-1)], Want: "a table that can be extended"}
	}
	return splices, nil
}

// tableName returns a path as the name of a table.
func tableName(path []string) string {
	var parts []string
	for _, name := range path {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
		}) {
			name = quote(name)
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ".")
}

// removeTables removes the tables with the given names, and the tables below them. It
// keeps comments that follow the last value of a table.
func removeTables(data []byte, paths [][]string) ([]byte, error) {
	type span struct{ begin, end int }
	var spans []span
	inside := false
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		begin, end := extent(&p, e, data)
		if n := len(spans); inside && n > 0 {
			spans[n-1].end = afterValue(data, spans[n-1].end, begin)
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			name := keyOf(e)
			inside = slices.ContainsFunc(paths, func(path []string) bool {
				return len(name) >= len(path) && slices.Equal(name[:len(path)], path)
			})
			if inside {
				spans = append(spans, span{begin, end})
			}
		case unstable.KeyValue:
			if inside {
				spans[len(spans)-1].end = end
			}
		}
	}
	if err := p.Error(); err != nil {
		return nil, &SyntaxError{Err: err}
	}
	if len(spans) == 0 {
		return nil, &ConflictError{Path: paths[0], Want: "a table with a header of its own"}
	}
	if inside {
		spans[len(spans)-1].end = afterValue(data, spans[len(spans)-1].end, len(data))
	}
	for _, s := range slices.Backward(spans) {
		begin := s.begin
		if before := bytes.TrimRight(data[:begin], " \t\r\n"); len(before) < begin && bytes.Count(data[len(before):begin], []byte("\n")) > 1 {
			begin = len(before) + bytes.IndexByte(data[len(before):begin], '\n') + 1 // with the blank lines before it
		}
		data = slices.Delete(slices.Clone(data), begin, s.end)
	}
	return data, nil
}

// afterValue returns the offset after the last line from offset at, and before next, that is
// neither blank nor a comment: such a line closes a value that begins before at.
func afterValue(data []byte, at, next int) int {
	end := at
	for line := range bytes.Lines(data[at:max(at, next)]) {
		at += len(line)
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			end = at
		}
	}
	return end
}

// extent returns the offsets of the lines of an expression.
func extent(p *unstable.Parser, e *unstable.Node, data []byte) (begin, end int) {
	begin, end = len(data), 0
	var walk func(n *unstable.Node)
	walk = func(n *unstable.Node) {
		if n.Raw.Length > 0 {
			at := int(n.Raw.Offset)
			begin, end = min(begin, at), max(end, at+int(n.Raw.Length))
		}
		for it := n.Children(); it.Next(); {
			walk(it.Node())
		}
	}
	walk(e)
	begin = bytes.LastIndexByte(data[:begin], '\n') + 1
	if i := bytes.IndexByte(data[end:], '\n'); i >= 0 {
		end += i + 1
	} else {
		end = len(data)
	}
	return begin, end
}

// keyOf returns the name of a table.
func keyOf(e *unstable.Node) []string {
	var name []string
	for it := e.Key(); it.Next(); {
		name = append(name, string(it.Node().Data))
	}
	return name
}
