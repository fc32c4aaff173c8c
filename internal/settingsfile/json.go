package settingsfile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// A container is an object or array of a file, with the offsets of its children.
type container struct {
	start, end int // of the container, with its brackets
	object     bool
	children   []child
	trailing   bool // a comma follows the last child
}

type child struct {
	start, end int // without the comma
	comma      int // offset of the comma after it, -1 for none
	name       string
	value      hujson.Value
}

// containerOf returns the container that v is, nil if it is another value.
func containerOf(v hujson.Value) *container {
	c := &container{start: v.StartOffset, end: v.EndOffset}
	add := func(start int, name string, value hujson.Value) {
		c.children = append(c.children, child{start: start, end: value.EndOffset, comma: -1, name: name, value: value})
	}
	switch v := v.Value.(type) {
	case *hujson.Object:
		c.object = true
		for _, m := range v.Members {
			add(m.Name.StartOffset, nameOf(m), m.Value)
		}
	case *hujson.Array:
		for i, e := range v.Elements {
			add(e.StartOffset, strconv.Itoa(i), e)
		}
	default:
		return nil
	}
	for i := range c.children {
		ch := &c.children[i]
		last := i == len(c.children)-1
		if !last || ch.value.AfterExtra != nil {
			ch.comma = ch.end + len(ch.value.AfterExtra)
		}
		c.trailing = last && ch.comma >= 0
	}
	return c
}

// child returns the index of the child with a name, -1 if there is none.
func (c *container) child(name string) int {
	return slices.IndexFunc(c.children, func(ch child) bool { return ch.name == name })
}

// addValue returns the splices that add a value to a JSON file.
func addValue(data []byte, a Addition) ([]Splice, error) {
	if isBlank(data) {
		return []Splice{{0, layout(wrap(a.Path, a), "", "  ", false) + "\n"}}, nil
	}
	v, err := parse(data)
	if err != nil {
		return nil, err
	}
	depth := 0
	for {
		line, _ := place(data, v.StartOffset)
		c := containerOf(v)
		rest := a.Path[depth:]
		switch {
		case len(rest) == 0 && a.Append && (c == nil || c.object):
			return nil, &ConflictError{a.Path, line, "an array"}
		case len(rest) == 0 && a.Append:
			return c.insert(data, "", string(a.Value)), nil
		case len(rest) == 0:
			return nil, &ConflictError{Path: a.Path, Line: line}
		case c == nil || !c.object:
			return nil, &ConflictError{a.Path[:depth], line, "an object"}
		}
		i := c.child(rest[0])
		if i < 0 {
			return c.insert(data, rest[0], wrap(rest[1:], a)), nil
		}
		v = c.children[i].value
		depth++
	}
}

// wrap returns the value of an addition in objects with the names of path, and in an array
// if it is to be appended.
func wrap(path []string, a Addition) string {
	text := string(a.Value)
	if a.Append {
		text = "[" + text + "]"
	}
	for _, name := range slices.Backward(path) {
		text = "{" + quote(name) + ":" + text + "}"
	}
	return text
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string has no error
	return strings.TrimSuffix(b.String(), "\n")
}

// layout formats JSON with an indentation, or on one line.
func layout(text, indent, unit string, dense bool) string {
	var b bytes.Buffer
	if dense {
		json.Compact(&b, []byte(text)) // the text is valid
	} else {
		json.Indent(&b, []byte(text), indent, unit)
	}
	return b.String()
}

// insert returns the splices that add a child after the last one. The name is empty in an
// array.
func (c *container) insert(data []byte, name, value string) []Splice {
	if name != "" {
		name = quote(name)
	}
	inner := data[c.start+1 : c.end-1]
	if line := bytes.TrimSpace(data); !bytes.ContainsRune(line, '\n') && bytes.ContainsRune(line, '"') { // all values are on one line
		if name != "" {
			name += ":"
		}
		text := name + layout(value, "", "", true)
		return c.place(data, text, "", "")
	}
	unit := unitOf(data)
	outer := indentAt(data, c.start)
	indent := outer + unit
	if n := len(c.children); n > 0 && isLineStart(data, c.children[n-1].start) {
		indent = indentAt(data, c.children[n-1].start)
	}
	if name != "" {
		name += ": "
	}
	text := name + layout(value, indent, unit, false)
	closing := ""
	if len(c.children) == 0 && !bytes.ContainsRune(inner, '\n') {
		closing = "\n" + outer
	}
	splices := c.place(data, text, "\n"+indent, closing)
	if bytes.Contains(data, []byte("\r\n")) {
		for i := range splices {
			splices[i].Text = strings.ReplaceAll(splices[i].Text, "\n", "\r\n")
		}
	}
	return splices
}

// place returns the splices that insert text after the last child and the comments after
// it, with the text before and after, and with the comma that it needs.
func (c *container) place(data []byte, text, before, after string) []Splice {
	begin := c.start + 1
	n := len(c.children)
	if n == 0 {
		return []Splice{{lastCode(data, begin, c.end-1), before + text + after}}
	}
	last := c.children[n-1]
	if c.trailing {
		return []Splice{{lastCode(data, last.comma+1, c.end-1), before + text + ","}}
	}
	at := lastCode(data, last.end, c.end-1)
	if at == last.end {
		return []Splice{{at, "," + before + text + after}}
	}
	return []Splice{{last.end, ","}, {at, before + text + after}}
}

// lastCode returns the offset after the last character between two offsets that is not
// white space: the end of a comment, or begin.
func lastCode(data []byte, begin, end int) int {
	return begin + len(bytes.TrimRight(data[begin:end], " \t\r\n"))
}

// isLineStart reports whether only white space is before an offset on its line.
func isLineStart(data []byte, at int) bool {
	line := data[:at]
	i := bytes.LastIndexByte(line, '\n')
	return i >= 0 && isBlank(line[i+1:])
}

// indentAt returns the white space at the start of the line of an offset.
func indentAt(data []byte, at int) string {
	line := data[bytes.LastIndexByte(data[:at], '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unitOf returns the indentation of the first indented line, two spaces if there is none.
func unitOf(data []byte) string {
	for line := range bytes.Lines(data) {
		if unit := indentAt(line, 0); unit != "" && !isBlank(line) && !bytes.HasPrefix(bytes.TrimSpace(line), []byte("*")) {
			return unit
		}
	}
	return "  "
}

// removeValues removes the values at the paths, and then those containers of prune, the
// longest path first, that are empty.
func removeValues(data []byte, paths, prune [][]string) ([]byte, error) {
	paths = slices.Clone(paths)
	sortPaths(paths)
	for _, path := range paths {
		var err error
		if data, err = removeValue(data, path); err != nil {
			return nil, err
		}
	}
	for _, path := range prune {
		v, err := parse(data)
		if err != nil {
			return nil, err
		}
		if c := find(v, path); c != nil && len(c.children) == 0 && isBlank(data[c.start+1:c.end-1]) {
			if data, err = removeValue(data, path); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// find returns the container at a path, nil if there is none.
func find(v hujson.Value, path []string) *container {
	c := containerOf(v)
	for _, name := range path {
		if c == nil {
			return nil
		}
		i := c.child(name)
		if i < 0 {
			return nil
		}
		c = containerOf(c.children[i].value)
	}
	return c
}

// removeValue removes the value at a path with its comma. Comments remain.
func removeValue(data []byte, path []string) ([]byte, error) {
	v, err := parse(data)
	if err != nil {
		return nil, err
	}
	c := find(v, path[:len(path)-1])
	if c == nil {
		return data, nil
	}
	i := c.child(path[len(path)-1])
	if i < 0 {
		return data, nil
	}
	ch := c.children[i]
	switch {
	case ch.comma >= 0 && isBlank(data[ch.end:ch.comma]):
		return deleteLine(data, ch.start, ch.comma+1), nil
	case ch.comma >= 0: // a comment is before the comma
		data = slices.Delete(slices.Clone(data), ch.comma, ch.comma+1)
		return deleteLine(data, ch.start, ch.end), nil
	case i > 0:
		comma := c.children[i-1].comma
		if isBlank(data[comma+1 : ch.start]) {
			return slices.Delete(slices.Clone(data), comma, ch.end), nil
		}
		data = deleteLine(data, ch.start, ch.end)
		return slices.Delete(slices.Clone(data), comma, comma+1), nil
	}
	if isBlank(data[c.start+1:ch.start]) && isBlank(data[ch.end:c.end-1]) {
		return slices.Delete(slices.Clone(data), c.start+1, c.end-1), nil
	}
	return deleteLine(data, ch.start, ch.end), nil
}

// deleteLine deletes the bytes between two offsets, with the rest of their lines if it is
// white space, and otherwise with the spaces after them.
func deleteLine(data []byte, start, end int) []byte {
	begin := start - len(data[:start]) + len(bytes.TrimRight(data[:start], " \t"))
	after := end + len(data[end:]) - len(bytes.TrimLeft(data[end:], " \t"))
	newline := 0
	if bytes.HasPrefix(data[after:], []byte("\r\n")) {
		newline = 2
	} else if bytes.HasPrefix(data[after:], []byte("\n")) {
		newline = 1
	}
	if begin > 0 && data[begin-1] == '\n' && newline > 0 {
		return slices.Delete(slices.Clone(data), begin, after+newline)
	}
	if newline > 0 {
		return slices.Delete(slices.Clone(data), start, end)
	}
	return slices.Delete(slices.Clone(data), start, after)
}
