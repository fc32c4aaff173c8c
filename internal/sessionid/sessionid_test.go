package sessionid_test

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
)

func TestNewMessage(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id, err := sessionid.NewMessage(rand.Reader)
		if err != nil || !uuid.MatchString(id) || seen[id] {
			t.Fatalf("id %q, %v", id, err)
		}
		seen[id] = true
	}
	id, err := sessionid.NewMessage(bytes.NewReader(bytes.Repeat([]byte{0xff}, 16)))
	if want := "ffffffff-ffff-4fff-bfff-ffffffffffff"; err != nil || id != want {
		t.Errorf("id %q, %v, want %q", id, err, want)
	}
	if id, err := sessionid.NewMessage(strings.NewReader("short")); err == nil {
		t.Errorf("from too little: %q", id)
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
		if got := sessionid.Generated(id); got != want {
			t.Errorf("Generated(%q) = %v", id, got)
		}
	}
}

func TestValid(t *testing.T) {
	for id, want := range map[string]bool{
		"session_20260525_153200_4b9ad01c": true,
		"session_root":                     true,
		"a":                                true,
		"sub agent (2)":                    true,
		"分岐":                               true,
		strings.Repeat("a", 200):           true,
		strings.Repeat("a", 201):           false,
		"":                                 false,
		".":                                false,
		"..":                               false,
		"../x":                             false,
		"a/b":                              false,
		`a\b`:                              false,
		"a.b":                              false,
		"a*":                               false,
		"a?":                               false,
		"a@b":                              false,
		"C:x":                              false,
		`a"b`:                              false,
		"a|b":                              false,
		"a<b":                              false,
		"a\nb":                             false,
		"a\x00b":                           false,
		"a\x7fb":                           false,
		"a\u0085b":                         false,
		"a\xffb":                           false,
		"session_index":                    false,
	} {
		if sessionid.Valid(id) != want {
			t.Errorf("Valid(%q) = %v", id, !want)
		}
	}
}

func TestNew(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("test", 9*60*60)
	defer func() { time.Local = local }()
	now := time.Date(2026, 5, 25, 23, 32, 7, 999, time.UTC)
	id, err := sessionid.New(now, bytes.NewReader([]byte{0x4b, 0x9a, 0, 0x1c}))
	if err != nil || id != "session_20260526_083207_4b9a001c" {
		t.Errorf("New = %q, %v", id, err)
	}
	if !sessionid.Valid(id) {
		t.Errorf("%q is not valid", id)
	}
	if _, err := sessionid.New(now, bytes.NewReader([]byte{1, 2, 3})); err == nil {
		t.Error("New is content with three random bytes")
	}
}

func TestDefaultTitle(t *testing.T) {
	for id, want := range map[string]string{
		"session_20260525_153200_4b9ad01c": "Session 4b9ad01c",
		"short":                            "Session short",
	} {
		if got := sessionid.DefaultTitle(id); got != want {
			t.Errorf("DefaultTitle(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestUUID(t *testing.T) {
	const id = "849DDE0B-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
	if got := sessionid.UUID(id); got != strings.ToLower(id) {
		t.Errorf("the UUID of %s is %s", id, got)
	}
	line := sessionid.UUID("session_20260525_153200_4b9ad01c")
	if line != "c695ae88-4a28-5738-8510-02869d03453b" || !sessionid.IsUUID(line) {
		t.Errorf("the UUID of a session is %s", line)
	}
	if got := sessionid.MessageUUID(line, "m1"); got == sessionid.MessageUUID(line, "m2") || !sessionid.IsUUID(got) {
		t.Errorf("the UUID of a message is %s", got)
	}
	for _, s := range []string{"", "m1", "849dde0b1a2b4c3d8e4f5a6b7c8d9e0f", "{849dde0b-1a2b-4c3d-8e4f-5a6b7c8d9e0f}"} {
		if sessionid.IsUUID(s) {
			t.Errorf("%q is a UUID", s)
		}
	}
}
