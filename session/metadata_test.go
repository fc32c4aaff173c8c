package session_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
)

// TestMetadata: members keep their order, and members of a file keep the form of their
// names.
func TestMetadata(t *testing.T) {
	of := decode(t, "s", []byte(`{"metadata":{"t\u0069tle":"x","b":1.0,"c":null},"messages":[]}`)).Metadata()
	var m session.Metadata
	m.Set("b", []byte("2"))
	m.Set("d", []byte("3"))
	m.Merge(of, func(name string) bool { return name != "c" })
	m.Set("d", []byte("4"))
	var list []string
	for name, value := range m.All() {
		list = append(list, name+"="+string(value))
	}
	if got := strings.Join(list, " "); got != `b=1.0 d=4 title="x"` {
		t.Errorf("the members are %s", got)
	}
	if m.Get("c") != nil || string(of.Get("c")) != "null" {
		t.Errorf("c is %s, in the file %s", m.Get("c"), of.Get("c"))
	}
	d := session.Document{ID: "s", Metadata: m}
	data, err := d.Bytes(nil)
	if err != nil || !strings.Contains(string(data), `"t\u0069tle": "x"`) {
		t.Errorf("it is written as %s, %v", data, err)
	}
}
