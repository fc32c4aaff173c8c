package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// mostDepth is how deeply a message may be nested. Programs that read session files
// stop at a thousand or so.
const mostDepth = 256

// Parse returns what a message in the form f says. Tool calls of Gemini without an id
// get one, call_ and eight hexadecimal digits that are read from random. Nobody can
// tell yet which call a result of Gemini answers: see [Message.Unmatched].
//
// The error is an *[Error], or that of random.
func Parse(f Format, blob []byte, random io.Reader) (*Message, error) {
	switch {
	case !utf8.Valid(blob):
		return nil, wrong("", "the message is not UTF-8")
	case !isJSON(blob):
		return nil, wrong("", "the message is not JSON")
	case tooDeep(blob, mostDepth):
		return nil, wrong("", "the message is nested more than %d deep", mostDepth)
	}
	blob = tidy(blob)
	if !isObject(blob) {
		return nil, wrong("", "the message is no JSON object")
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
		panic("content: no such format: " + string(f))
	}
	if err != nil {
		return nil, err
	}
	return m.whole(), nil
}

// isJSON reports what [json.Valid] does, faster.
func isJSON(blob []byte) bool {
	if bytes.Contains(blob, []byte("NaN")) || bytes.Contains(blob, []byte("Infinity")) {
		return json.Valid(blob) // rawjson takes Python's numbers
	}
	return rawjson.Check(blob) == nil
}

// whole returns m with parts that are not nil, so that its JSON is an array.
func (m *Message) whole() *Message {
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	return m
}

// parts makes a part of each element of an array. One of type "" is left out.
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

// roleOf returns a role, which must be one of those listed.
func roleOf(value []byte, roles ...string) (string, error) {
	if value == nil {
		return "", wrong("role", "a message needs one: %s", choice(roles))
	}
	for _, role := range roles {
		if text(value) == role {
			return role, nil
		}
	}
	return "", wrong("role", "%s is none of %s", value, choice(roles))
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

// textOf returns the text of a member that is a string, "" if there is none.
func textOf(at string, value []byte) (string, error) {
	if value != nil && !isText(value) {
		return "", wrong(at, "must be a string")
	}
	return text(value), nil
}
