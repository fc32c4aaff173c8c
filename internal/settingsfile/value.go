package settingsfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// decode returns the values of a file. Content without a value is nil.
func decode(data []byte, syntax Syntax) (any, error) {
	if syntax == TOML {
		doc := map[string]any{}
		if err := toml.Unmarshal(data, &doc); err != nil {
			var at *toml.DecodeError
			if errors.As(err, &at) {
				line, column := at.Position()
				return nil, &SyntaxError{line, column, errors.New(at.Error())}
			}
			return nil, &SyntaxError{Err: err}
		}
		return doc, nil
	}
	if isBlank(data) {
		return nil, nil
	}
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	return valueOf(root.Value), nil
}

// valueOf returns a JSON value; a number is a json.Number.
func valueOf(v hujson.ValueTrimmed) any {
	switch v := v.(type) {
	case *hujson.Object:
		m := map[string]any{}
		for _, member := range v.Members {
			m[nameOf(member)] = valueOf(member.Value.Value)
		}
		return m
	case *hujson.Array:
		list := []any{}
		for _, e := range v.Elements {
			list = append(list, valueOf(e.Value))
		}
		return list
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			return v.String()
		case 't', 'f':
			return v.Bool()
		case '0':
			return json.Number(v)
		}
	}
	return nil
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// parse parses JSON with comments. An object with a name twice is an error, because
// programs differ in which of the two they use.
func parse(data []byte) (hujson.Value, error) {
	root, err := hujson.Parse(data)
	if err != nil {
		return root, &SyntaxError{Err: errors.New(strings.TrimPrefix(err.Error(), "hujson: "))} // it has the line and the column
	}
	for v := range root.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range object.Members {
			name := nameOf(m)
			if seen[name] {
				line, column := place(data, m.Name.StartOffset)
				return root, &SyntaxError{line, column, errors.New("the name " + strconv.Quote(name) + " is used twice")}
			}
			seen[name] = true
		}
	}
	return root, nil
}

// isStrict reports whether data is JSON without comments and trailing commas, or blank. TOML
// is always strict.
func isStrict(data []byte, syntax Syntax) bool {
	return syntax == TOML || isBlank(data) || json.Valid(data)
}

func isBlank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// place returns the line and the column of an offset, from 1.
func place(data []byte, at int) (line, column int) {
	before := data[:at]
	return bytes.Count(before, []byte("\n")) + 1, at - bytes.LastIndexByte(before, '\n')
}

// lookup returns the value at a path.
func lookup(doc any, path []string) (any, bool) {
	for _, name := range path {
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[name]
			if !ok {
				return nil, false
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// without returns doc without the value at a path. It may change doc.
func without(doc any, path []string) any {
	if len(path) == 0 {
		return nil
	}
	switch v := doc.(type) {
	case map[string]any:
		if len(path) == 1 {
			delete(v, path[0])
		} else {
			v[path[0]] = without(v[path[0]], path[1:])
		}
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i < 0 || i >= len(v) {
			return doc
		}
		if len(path) == 1 {
			return slices.Delete(v, i, i+1)
		}
		v[i] = without(v[i], path[1:])
	}
	return doc
}

// isEmpty reports whether v is an object or array without values.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// sortPaths sorts paths so that removing the values in this order keeps the indexes of the
// later ones valid: the last element of an array first.
func sortPaths(paths [][]string) {
	slices.SortStableFunc(paths, func(a, b []string) int {
		for i := range min(len(a), len(b)) {
			if a[i] == b[i] {
				continue
			}
			m, err1 := strconv.Atoi(a[i])
			n, err2 := strconv.Atoi(b[i])
			if err1 == nil && err2 == nil {
				return n - m
			}
			if a[i] < b[i] {
				return -1
			}
			return 1
		}
		return len(b) - len(a)
	})
}
