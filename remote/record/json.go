package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A value of an operation is a member of its JSON if encoding/json keeps all of its bytes, else a
// string with its text: white space, and the tokens NaN and Infinity, are parts of values too.
// A message is always a string, so that a program which decodes JSON finds its bytes.

var errNotUTF8 = errors.New("a value is not valid UTF-8")

type opJSON struct {
	Do     string          `json:"do"`
	Entity string          `json:"entity"`
	Field  string          `json:"field,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Text   *string         `json:"text,omitempty"`
	Body   *Body           `json:"body,omitempty"`
	Stamps []Stamp         `json:"stamps,omitempty"`
}

// MarshalJSON encodes the operation, on one line. Value must be valid UTF-8.
func (o Op) MarshalJSON() ([]byte, error) {
	out := opJSON{Do: o.Do, Entity: o.Entity, Field: o.Field, Body: o.Body, Stamps: o.Stamps}
	switch kept, err := json.Marshal(o.Value); {
	case len(o.Value) == 0:
	case err == nil && utf8.Valid(o.Value) && bytes.Equal(kept, o.Value) && string(kept) != "null":
		out.Value = o.Value
	default:
		text, err := textOf(o.Value)
		if err != nil {
			return nil, err
		}
		out.Text = text
	}
	return line(out)
}

// UnmarshalJSON decodes the operation, with the same bytes in Value that it was encoded with. Value
// is then valid JSON, in which the number tokens of Python are allowed.
func (o *Op) UnmarshalJSON(data []byte) error {
	var in opJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*o = Op{Do: in.Do, Entity: in.Entity, Field: in.Field, Value: in.Value, Body: in.Body, Stamps: in.Stamps}
	if !utf8.Valid(in.Value) {
		return errNotUTF8
	}
	if in.Text == nil {
		return nil
	}
	if in.Value != nil {
		return errors.New("an operation has both a value and a text")
	}
	var err error
	o.Value, err = documentOf(*in.Text)
	return err
}

type itemJSON struct {
	ID      string  `json:"id,omitempty"`
	Parent  *string `json:"parent"`
	Raw     *string `json:"raw,omitempty"`
	Header  bool    `json:"header,omitempty"`
	Path    *Path   `json:"path,omitempty"`
	Content []byte  `json:"content,omitempty"`
}

// MarshalJSON encodes the item, on one line. Raw must be valid UTF-8.
func (it Item) MarshalJSON() ([]byte, error) {
	out := itemJSON{ID: it.ID, Parent: it.Parent, Header: it.Header, Path: it.Path, Content: it.Content}
	if len(it.Raw) > 0 {
		var err error
		if out.Raw, err = textOf(it.Raw); err != nil {
			return nil, err
		}
	}
	return line(out)
}

// UnmarshalJSON decodes the item, with the same bytes in Raw that it was encoded with. Raw is then
// valid JSON, in which the number tokens of Python are allowed.
func (it *Item) UnmarshalJSON(data []byte) error {
	var in itemJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*it = Item{ID: in.ID, Parent: in.Parent, Header: in.Header, Path: in.Path, Content: in.Content}
	if in.Raw == nil {
		return nil
	}
	var err error
	it.Raw, err = documentOf(*in.Raw)
	return err
}

func textOf(document []byte) (*string, error) {
	if !utf8.Valid(document) {
		return nil, errNotUTF8
	}
	text := string(document)
	return &text, nil
}

func documentOf(text string) (json.RawMessage, error) {
	if err := rawjson.Check([]byte(text)); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// line encodes v without escaping what HTML needs escaped.
func line(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
