package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// session returns the name by which the workspace finds the session of the path: by
// its UUID and nothing else.
func (c *call) session() (string, error) { return nameOf("session_id", c.r.PathValue("session_id")) }

// nameOf returns the name of the session or message that a UUID stands for, in any
// form that uuid.Parse takes.
func nameOf(what, id string) (string, error) {
	u, err := parseUUID(what, id)
	if err != nil {
		return "", err
	}
	return namePrefix + u, nil
}

// uuidIn returns the UUID in a name.
func uuidIn(name string) string { return strings.TrimPrefix(name, namePrefix) }

// parseUUID returns a UUID in its usual form.
func parseUUID(what, s string) (string, error) {
	u, err := uuid.Parse(s)
	if err != nil {
		return "", wrong(what+" is not a UUID", quote(s)+": "+err.Error())
	}
	return u.String(), nil
}

// decode reads the body, a JSON object, into v. A body that is not there is an empty
// object.
func (c *call) decode(v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.opts.Limits.Body))
	if err != nil {
		return bodyError(err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := jsonType(c.r.Header.Get("Content-Type")); err != nil {
		return err
	}
	return c.unmarshal("body", body, v)
}

// bodyError says what went wrong with reading a body.
func bodyError(err error) error {
	if f := explain(err); f.status != http.StatusInternalServerError {
		return f
	}
	return wrong("the body did not arrive whole", err)
}

// jsonType refuses what a client says is no JSON. One that says nothing means JSON.
func jsonType(contentType string) error {
	if contentType == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return &failure{http.StatusUnsupportedMediaType, "the body must be JSON", "Content-Type is " + quote(contentType) + ", not application/json"}
	}
	return nil
}

// unmarshal reads a JSON object of a client into v.
func (c *call) unmarshal(what string, data []byte, v any) error {
	switch {
	case !utf8.Valid(data):
		return wrong("the "+what+" is not valid UTF-8", "JSON is UTF-8 (RFC 8259)")
	case deeper(data, c.opts.Limits.Depth):
		return wrong("the "+what+" is nested too deeply", fmt.Sprintf("at most %d levels are taken", c.opts.Limits.Depth))
	case !json.Valid(data):
		return wrong("the "+what+" is not JSON", json.Unmarshal(data, new(any)))
	case !isObject(data):
		return wrong("the "+what+" must be a JSON object", "it is another value")
	}
	var mistyped *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, v); {
	case errors.As(err, &mistyped):
		must := "must be a string"
		if mistyped.Type.Kind() == reflect.Bool {
			must = "must be true or false"
		}
		return wrong(mistyped.Field+" has the wrong type", "it "+must+", and is another value: "+mistyped.Value)
	case err != nil:
		return wrong("the "+what+" cannot be read", err)
	}
	return nil
}

// deeper reports whether arrays and objects are nested more than limit deep in data,
// which need not be JSON.
func deeper(data []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch b := data[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			if depth++; depth > limit {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}

func isObject(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

func isNull(data json.RawMessage) bool {
	return len(data) == 0 || bytes.Equal(bytes.TrimSpace(data), []byte("null"))
}

// object checks a member that must be an object of no more than [Limits].Object
// bytes. One that is absent or null is nil, which needed says is wrong.
func (c *call) object(name string, value json.RawMessage, needed bool) (json.RawMessage, error) {
	switch {
	case isNull(value) && needed:
		return nil, wrong(name+" is missing", "it must be an object")
	case isNull(value):
		return nil, nil
	case !isObject(value):
		return nil, wrong(name+" must be an object", "it is another value")
	case len(value) > c.opts.Limits.Object:
		return nil, wrong(name+" is too large", fmt.Sprintf("%d bytes; at most %d are taken", len(value), c.opts.Limits.Object))
	}
	return value, nil
}

// A query is the parameters of a request. The first error of its methods stands in
// err, after which they return zero values.
type query struct {
	values url.Values
	err    error
}

func (c *call) query() *query {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.err = wrong("the query cannot be read", err)
	}
	for name, list := range values {
		if !utf8.ValidString(name + strings.Join(list, "")) {
			q.err = wrong("the query is not valid UTF-8", quote(name))
		}
	}
	return q
}

// text returns a parameter, "" if it is absent.
func (q *query) text(name string) string {
	if q.err != nil {
		return ""
	}
	return q.values.Get(name)
}

// truth returns a parameter that is true or false.
func (q *query) truth(name string, byDefault bool) bool {
	s := q.text(name)
	if s == "" {
		return byDefault
	}
	b, err := strconv.ParseBool(s)
	if err != nil {
		q.err = wrong(name+" must be true or false", quote(s))
	}
	return b
}

// number returns a parameter that is a number from least to most.
func (q *query) number(name string, byDefault, least, most int) int {
	s := q.text(name)
	if s == "" {
		return byDefault
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		q.err = wrong(fmt.Sprintf("%s must be a number from %d to %d", name, least, most), quote(s))
		return byDefault
	}
	return n
}

// cursor returns the place where the answer before ended, nil for none.
func (q *query) cursor() *cursor {
	s := q.text("cursor")
	if s == "" {
		return nil
	}
	at, err := parseCursor(s)
	if err != nil {
		q.err = wrong("cursor is none of this server's", err)
	}
	return at
}
