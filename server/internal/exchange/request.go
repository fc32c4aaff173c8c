package exchange

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
	"strings"
	"unicode/utf8"
)

// Limits bound a body of JSON.
type Limits struct {
	Body  int64 // its bytes
	Depth int   // of arrays and objects
}

// Decode decodes the body, a JSON object, into v. An absent body counts as an empty
// object.
func (l Limits) Decode(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, l.Body))
	if err != nil {
		return BodyError(err)
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	if err := jsonType(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	return l.Unmarshal("body", body, v)
}

// BodyError returns the failure for an error of reading a body.
func BodyError(err error) error {
	if f := Explain(err); f != nil {
		return f
	}
	return Wrong("the body is incomplete", err)
}

// jsonType refuses a Content-Type other than JSON. An absent one means JSON.
func jsonType(contentType string) error {
	if contentType == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return Fail(http.StatusUnsupportedMediaType, "the body must be JSON", "Content-Type is "+Quote(contentType)+", not application/json")
	}
	return nil
}

// Unmarshal decodes a JSON object of a client into v. It checks the depth but not the size.
func (l Limits) Unmarshal(what string, data []byte, v any) error {
	switch {
	case !utf8.Valid(data):
		return Wrong("the "+what+" is not valid UTF-8", "JSON is UTF-8 (RFC 8259)")
	case deeper(data, l.Depth):
		return Wrong("the "+what+" is nested too deeply", fmt.Sprintf("at most %d levels are accepted", l.Depth))
	case !json.Valid(data):
		return Wrong("the "+what+" is not JSON", json.Unmarshal(data, new(any)))
	case !IsObject(data):
		return Wrong("the "+what+" must be a JSON object", "it is a value of another type")
	}
	var mistyped *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, v); {
	case errors.As(err, &mistyped):
		must := "must be a string"
		if mistyped.Type.Kind() == reflect.Bool {
			must = "must be true or false"
		}
		return Wrong(mistyped.Field+" has the wrong type", "it "+must+", not "+mistyped.Value)
	case err != nil:
		return Wrong("the "+what+" cannot be decoded", err)
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

// IsObject reports whether data, valid JSON, is an object.
func IsObject(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) }

// Query parses the query of a request. It returns what can be parsed with an error too.
func Query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		err = Wrong("the query cannot be parsed", err)
	}
	for name, list := range values {
		if !utf8.ValidString(name + strings.Join(list, "")) {
			err = Wrong("the query is not valid UTF-8", Quote(name))
		}
	}
	return values, err
}
