package transcript

import "testing"

// TestChainID: two records with the same content have the same id, and records with only
// the same beginning do not.
func TestChainID(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":[2]}`, ` {"b": [2], "a": 1}` + "\n", true},
		{`{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{`{"a":1}`, `{"a":1}{"b":2}`, false},
		{`01a1fb7a-0000`, `01a1fb7b-0000`, false}, // not JSON, and begins with a number
		{`{"a":1} x`, `{"a":1} y`, false},
	} {
		if same := ChainID("p", []byte(c.a)) == ChainID("p", []byte(c.b)); same != c.same {
			t.Errorf("%s and %s: the same: %v, want %v", c.a, c.b, same, c.same)
		}
	}
	if ChainID("p", []byte(`{}`)) == ChainID("q", []byte(`{}`)) {
		t.Error("a record is the same after another one")
	}
}
