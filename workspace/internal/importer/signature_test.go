package importer

import (
	"testing"
)

// TestUnsign holds that a changed object loses its signature, and that everything else
// stays the same.
func TestUnsign(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{"thinking":"a x","signature":"s"}`, `{"thinking":"a y","signature":"s"}`, `{"thinking":"a y"}`},
		{`{"signature": "s", "thinking": "a x"}`, `{"signature": "s", "thinking": "a y"}`, `{"thinking": "a y"}`},
		{`[{"a":1, "signature":"s" , "thinking":"x","b":2}, {"thinking":"z","signature":"s"}]`, `[{"a":1, "signature":"s" , "thinking":"y","b":2}, {"thinking":"z","signature":"s"}]`,
			`[{"a":1, "thinking":"y","b":2}, {"thinking":"z","signature":"s"}]`},
		{`{"text":"x","thought":true,"thoughtSignature":"s"}`, `{"text":"y","thought":true,"thoughtSignature":"s"}`, `{"text":"y","thought":true}`},
		{`{"thoughtSignature":"s","args":{"thinking":"x","signature":"t"}}`, `{"thoughtSignature":"s","args":{"thinking":"y","signature":"t"}}`, `{"args":{"thinking":"y"}}`},
		{`{"type":"thinking","text":"x","meta":{"signature":"s"}}`, `{"type":"thinking","text":"y","meta":{"signature":"s"}}`, `{"type":"thinking","text":"y","meta":{}}`},
		{`{"text":"x","meta":[{"signature":"s"}]}`, `{"text":"y","meta":[{"signature":"s"}]}`, `{"text":"y","meta":[{"signature":"s"}]}`},
		{`{"name":"f","signature":"func(x)"}`, `{"name":"g","signature":"func(x)"}`, `{"name":"g","signature":"func(x)"}`},
		{`{"thinking":"x","signature":"s"}`, `{"thinking":"x","signature":"s"}`, `{"thinking":"x","signature":"s"}`},
	} {
		if got, _ := Unsign([]byte(c.before), []byte(c.after)); string(got) != c.want {
			t.Errorf("%s becomes %s, want %s", c.after, got, c.want)
		}
	}
}
