package session_test

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
)

func TestNewMessageID(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id, err := session.NewMessageID(rand.Reader)
		if err != nil || !uuid.MatchString(id) || seen[id] {
			t.Fatalf("id %q, %v", id, err)
		}
		seen[id] = true
	}
	id, err := session.NewMessageID(bytes.NewReader(bytes.Repeat([]byte{0xff}, 16)))
	if want := "ffffffff-ffff-4fff-bfff-ffffffffffff"; err != nil || id != want {
		t.Errorf("id %q, %v, want %q", id, err, want)
	}
	if id, err := session.NewMessageID(strings.NewReader("short")); err == nil {
		t.Errorf("from too little: %q", id)
	}
}

// TestSurrogateIDs: ids that are different halves of surrogate pairs are different,
// and can be named as parents.
func TestSurrogateIDs(t *testing.T) {
	s, err := session.Decode("s", []byte(`{"messages":[{"id":"\ud83d"},{"id":"\ud83e"},{"id":"c","metadata":{"parent_id":"\ud83d"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTree(s)
	if err != nil || tr.Parent(2) != 0 {
		t.Errorf("the tree is %+v, %v", tr, err)
	}
}

func TestGenerated(t *testing.T) {
	for id, want := range map[string]bool{
		"session_20200525_150000_4b9ad01c":        true,
		"cp_20200525_150000_4b9ad01c":             true,
		"849dde0b-1a2b-4c3d-8e4f-5a6b7c8d9e0f":    true,
		"849DDE0B-1a2b-4c3d-8e4f-5a6b7c8d9e0f":    true,
		"session_20200525_150000_4b9ad01":         false,
		"session_20200525_150000_4b9ad01c0":       false,
		"session_20200525_150000_4b9ad01g":        false,
		"session_20200525-150000_4b9ad01c":        false,
		"20200525_150000_4b9ad01c":                false,
		"cp_session_20200525_150000_4b9ad01c":     false,
		"849dde0b-1a2b-4c3d-8e4f-5a6b7c8d9e0f-ok": false,
		"": false,
	} {
		if got := session.Generated(id); got != want {
			t.Errorf("Generated(%q) = %v", id, got)
		}
	}
}
