package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/server/internal/exchange"
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
		return "", exchange.Wrong(what+" is not a UUID", exchange.Quote(s)+": "+err.Error())
	}
	return u.String(), nil
}

// decode decodes the body, a JSON object, into v. An absent body counts as an empty
// object.
func (c *call) decode(v any) error { return c.bodyLimits().Decode(c.w, c.r, v) }

// bodyLimits returns the limits of a body of JSON.
func (s *Server) bodyLimits() exchange.Limits {
	return exchange.Limits{Body: s.opts.Limits.Body, Depth: s.opts.Limits.Depth}
}

func isNull(data json.RawMessage) bool {
	return len(data) == 0 || bytes.Equal(bytes.TrimSpace(data), []byte("null"))
}

// object validates a member that must be an object of at most [Limits].Object
// bytes. It returns nil if the member is absent or null, which is an error if it is
// required.
func (c *call) object(name string, value json.RawMessage, needed bool) (json.RawMessage, error) {
	switch {
	case isNull(value) && needed:
		return nil, exchange.Wrong(name+" is missing", "it must be an object")
	case isNull(value):
		return nil, nil
	case !exchange.IsObject(value):
		return nil, exchange.Wrong(name+" must be an object", "it is a value of another type")
	case len(value) > c.opts.Limits.Object:
		return nil, exchange.Wrong(name+" is too large", fmt.Sprintf("%d bytes; at most %d are accepted", len(value), c.opts.Limits.Object))
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
	values, err := exchange.Query(c.r)
	return &query{values, err}
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
		q.err = exchange.Wrong(name+" must be true or false", exchange.Quote(s))
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
		q.err = exchange.Wrong(fmt.Sprintf("%s must be a number from %d to %d", name, low, high), exchange.Quote(s))
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
		q.err = exchange.Wrong("cursor is not valid", err)
	}
	return at
}
