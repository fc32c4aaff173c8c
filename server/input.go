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

// session returns the workspace's name for the session in the path, by its UUID
// only.
func (c *call) session() (string, error) { return nameOf("session_id", c.r.PathValue("session_id")) }

// nameOf returns the workspace's name for the session or message with a UUID, in
// any form that uuid.Parse accepts.
func nameOf(what, id string) (string, error) {
	u, err := parseUUID(what, id)
	if err != nil {
		return "", err
	}
	return namePrefix + u, nil
}

// uuidIn returns the UUID in a name.
func uuidIn(name string) string { return strings.TrimPrefix(name, namePrefix) }

// parseUUID returns a UUID in its standard form.
func parseUUID(what, s string) (string, error) {
	u, err := uuid.Parse(s)
	if err != nil {
		return "", wrong(what+" is not a UUID", quote(s)+": "+err.Error())
	}
	return u.String(), nil
}

// decode decodes the body, a JSON object, into v. An absent body counts as an empty
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

// bodyError returns the failure for an error of reading a body.
func bodyError(err error) error {
	if f := explain(err); f.status != http.StatusInternalServerError {
		return f
	}
	return wrong("the body is incomplete", err)
}

// jsonType refuses a Content-Type other than JSON. An absent one means JSON.
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

// unmarshal decodes a JSON object of a client into v.
func (c *call) unmarshal(what string, data []byte, v any) error {
	switch {
	case !utf8.Valid(data):
		return wrong("the "+what+" is not valid UTF-8", "JSON is UTF-8 (RFC 8259)")
	case deeper(data, c.opts.Limits.Depth):
		return wrong("the "+what+" is nested too deeply", fmt.Sprintf("at most %d levels are accepted", c.opts.Limits.Depth))
	case !json.Valid(data):
		return wrong("the "+what+" is not JSON", json.Unmarshal(data, new(any)))
	case !isObject(data):
		return wrong("the "+what+" must be a JSON object", "it is a value of another type")
	}
	var mistyped *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, v); {
	case errors.As(err, &mistyped):
		must := "must be a string"
		if mistyped.Type.Kind() == reflect.Bool {
			must = "must be true or false"
		}
		return wrong(mistyped.Field+" has the wrong type", "it "+must+", not "+mistyped.Value)
	case err != nil:
		return wrong("the "+what+" cannot be decoded", err)
	}
	return nil
}

// deeper reports whether arrays and objects are nested more than limit deep in
// data, which need not be valid JSON.
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

// object validates a member that must be an object of at most [Limits].Object
// bytes. It returns nil if the member is absent or null, which is an error if it is
// required.
func (c *call) object(name string, value json.RawMessage, needed bool) (json.RawMessage, error) {
	switch {
	case isNull(value) && needed:
		return nil, wrong(name+" is missing", "it must be an object")
	case isNull(value):
		return nil, nil
	case !isObject(value):
		return nil, wrong(name+" must be an object", "it is a value of another type")
	case len(value) > c.opts.Limits.Object:
		return nil, wrong(name+" is too large", fmt.Sprintf("%d bytes; at most %d are accepted", len(value), c.opts.Limits.Object))
	}
	return value, nil
}

// A query holds the parameters of a request. Its methods store the first error in
// err and then return zero values.
type query struct {
	values url.Values
	err    error
}

func (c *call) query() *query {
	values, err := url.ParseQuery(c.r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.err = wrong("the query cannot be parsed", err)
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

// truth returns a boolean parameter.
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

// number returns a numeric parameter, which must be between low and high.
func (q *query) number(name string, byDefault, low, high int) int {
	s := q.text(name)
	if s == "" {
		return byDefault
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		q.err = wrong(fmt.Sprintf("%s must be a number from %d to %d", name, low, high), quote(s))
		return byDefault
	}
	return n
}

// cursor returns the cursor, the end of the previous page, or nil.
func (q *query) cursor() *cursor {
	s := q.text("cursor")
	if s == "" {
		return nil
	}
	at, err := parseCursor(s)
	if err != nil {
		q.err = wrong("cursor is not valid", err)
	}
	return at
}
