package api_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestParse: the values of a query get the types of the verb's schema.
func TestParse(t *testing.T) {
	for _, c := range []struct{ verb, query, want string }{
		{"show", "", `{}`},
		{"show", "ref=a%40b&last=3&partial=true", `{"last":3,"partial":true,"ref":"a@b"}`},
		{"show", "ref=7&partial=1", `{"partial":true,"ref":"7"}`},
		{"show", "unknown=7", `{"unknown":"7"}`},
		{"show", "ref=", `{"ref":""}`},
		{"show", "last=", "last must be a whole number"},
		{"show", "last=1.5", `last must be a whole number, not "1.5"`},
		{"show", "partial=yes", `partial must be true or false, not "yes"`},
		{"show", "ref=a&ref=b", `the parameter "ref" is given more than once`},
		{"show", "last=" + strings.Repeat("x", 200), strings.Repeat("x", 100) + "…"},
	} {
		v, ok := api.Find(c.verb)
		if !ok {
			t.Fatalf("no verb %s", c.verb)
		}
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Parse(values)
		var e *fault.Error
		if errors.As(err, &e) {
			if e.Code != fault.Usage || !strings.Contains(e.Message, c.want) {
				t.Errorf("%s?%s: %v; want %q", c.verb, c.query, err, c.want)
			}
		} else if string(got) != c.want {
			t.Errorf("%s?%s: %s, %v; want %s", c.verb, c.query, got, err, c.want)
		}
	}
}
