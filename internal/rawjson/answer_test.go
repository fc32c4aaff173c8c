package rawjson_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
)

type source string

func (s source) JSON() []byte { return []byte(s) }

type inner struct {
	ID    string   `json:"id"`
	Words []string `json:"words"`
}

func (i inner) MarshalJSON() ([]byte, error) { return []byte(`"of inner alone"`), nil }

type outer struct {
	inner
	At      time.Time         `json:"at"`
	Never   time.Time         `json:"never"`
	Raw     json.RawMessage   `json:"raw"`
	Empty   string            `json:"empty,omitempty"`
	Hidden  string            `json:"-"`
	Parent  *inner            `json:"parent"`
	Doc     source            `json:"doc"`
	Args    map[string]any    `json:"args"`
	None    map[string]string `json:"none"`
	Untaged int
}

func TestAnswer(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 29, 4, 980213999, time.FixedZone("", 3600))
	for _, tt := range []struct {
		v    any
		want string
	}{
		{nil, `null`},
		{[]string(nil), `[]`},
		{[][]string{nil, {"a<b>&"}}, `[[],["a<b>&"]]`},
		{at, `"2026-11-20T07:29:04.980213+00:00"`},
		{&at, `"2026-11-20T07:29:04.980213+00:00"`},
		{map[string]any{"b": at, "a": []inner(nil)}, `{"a":[],"b":"2026-11-20T07:29:04.980213+00:00"}`},
		{inner{ID: "x"}, `{"id":"x","words":[]}`},
		{
			outer{inner: inner{ID: "x"}, At: at, Raw: json.RawMessage(`{ "a": 1e400 }`), Doc: `{"n":NaN}`, Hidden: "h"},
			`{"id":"x","words":[],"at":"2026-11-20T07:29:04.980213+00:00","never":null,"raw":{"a":1e400},"parent":null,"doc":{"n":NaN},"args":{},"none":{},"Untaged":0}`,
		},
		{
			struct {
				outer
				ID int `json:"id"`
			}{ID: 7, outer: outer{Doc: "1"}},
			`{"words":[],"at":null,"never":null,"raw":null,"parent":null,"doc":1,"args":{},"none":{},"Untaged":0,"id":7}`,
		},
	} {
		if got := string(rawjson.Answer(tt.v)); got != tt.want {
			t.Errorf("Answer(%v) is\n%s, want\n%s", tt.v, got, tt.want)
		}
	}
}

func TestEscaped(t *testing.T) {
	for value, want := range map[string]string{
		`{"a":"é 日本 \u001b 👩"}`:                                              `{"a":"é 日本 \u001b 👩"}`,
		"[\"\x7f\",\"a\u009b2J\",\"\u202e\u2066\u2028\",\"\\\\\u0085\",NaN]": `["\u007f","a\u009b2J","\u202e\u2066\u2028","\\\u0085",NaN]`,
		"{\"k\u202e\":1}": `{"k\u202e":1}`,
	} {
		if got := string(rawjson.Escaped([]byte(value))); got != want {
			t.Errorf("Escaped(%q) is %s, want %s", value, got, want)
		}
	}
}

func TestStrict(t *testing.T) {
	for value, want := range map[string]string{
		`{"a":1}`:                               `{"a":1}`,
		`NaN`:                                   `null`,
		`[NaN,Infinity,-Infinity,-1,null,true]`: `[null,null,null,-1,null,true]`,
		`{"NaN":"-Infinity \" NaN","x":NaN}`:    `{"NaN":"-Infinity \" NaN","x":null}`,
	} {
		if got := string(rawjson.Strict([]byte(value))); got != want {
			t.Errorf("Strict(%s) is %s, want %s", value, got, want)
		}
	}
}
