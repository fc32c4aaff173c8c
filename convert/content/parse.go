package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// maxDepth is the maximum nesting depth of a message. Programs that read session
// files fail at about a thousand.
const maxDepth = 256

// Parse decodes a message in the format f. Tool calls of Gemini without an id get
// one, call_ and eight hexadecimal digits from random. The calls of Gemini's
// results are found later: see [Message.Unmatched].
//
// The error is an *[Error], or that of random.
func Parse(f Format, blob []byte, random io.Reader) (*Message, error) {
	switch {
	case !utf8.Valid(blob):
		return nil, wrong("", "the message is not UTF-8")
	case !isJSON(blob):
		return nil, wrong("", "the message is not JSON")
	case tooDeep(blob, maxDepth):
		return nil, wrong("", "the message is nested more than %d deep", maxDepth)
	}
	blob = tidy(blob)
	if !isObject(blob) {
		return nil, wrong("", "the message is not a JSON object")
	}
	var m *Message
	var err error
	switch f {
	case "", OpenAI:
		m, err = fromOpenAI(blob)
	case Acontext:
		m, err = fromAcontext(blob)
	case Anthropic:
		m, err = fromAnthropic(blob)
	case Gemini:
		m, err = fromGemini(blob, random)
	default:
		panic("content: unknown format: " + string(f))
	}
	if err != nil {
		return nil, err
	}
	return m.whole(), nil
}

// isJSON is a faster [json.Valid].
func isJSON(blob []byte) bool {
	if bytes.Contains(blob, []byte("NaN")) || bytes.Contains(blob, []byte("Infinity")) {
		return json.Valid(blob) // rawjson accepts Python's numbers
	}
	return rawjson.Check(blob) == nil
}

// whole sets Parts to an empty slice if it is nil, so that its JSON is an array.
func (m *Message) whole() *Message {
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	return m
}

// parts parses each element of an array into a part. Parts with an empty type are
// dropped.
func parts(at string, array []byte, part func(element []byte) (Part, error)) ([]Part, error) {
	var list []Part
	var err error
	i := 0
	elements(array, func(element []byte) {
		if err == nil {
			var p Part
			if p, err = part(element); err != nil {
				err = in(fmt.Sprintf("%s[%d]", at, i), err)
			} else if p.Type != "" {
				list = append(list, p)
			}
		}
		i++
	})
	return list, err
}

// roleOf returns a role, which must be one of roles.
func roleOf(value []byte, roles ...string) (string, error) {
	if value == nil {
		return "", wrong("role", "missing; want %s", choice(roles))
	}
	for _, role := range roles {
		if text(value) == role {
			return role, nil
		}
	}
	return "", wrong("role", "%s is not %s", value, choice(roles))
}

func choice(names []string) string {
	s := names[0]
	for i, name := range names[1:] {
		if i == len(names)-2 {
			s += " or " + name
		} else {
			s += ", " + name
		}
	}
	return s
}

// textOf returns the text of an optional string member.
func textOf(at string, value []byte) (string, error) {
	if value != nil && !isText(value) {
		return "", wrong(at, "must be a string")
	}
	return text(value), nil
}
