package testchat_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/internal/testchat"
)

// TestFiles verifies the properties on which other tests depend.
func TestFiles(t *testing.T) {
	chat := testchat.Chat{Messages: 50, PerFile: 12, Text: 100, Seed: 3}
	files := chat.Files()
	if len(files) != 5 {
		t.Fatalf("%d files, want 5", len(files))
	}
	seen := map[string]bool{}
	for i, f := range files {
		var s struct {
			ID       string
			Metadata struct {
				From string `json:"continued_from"`
				To   string `json:"continued_to"`
			}
			Messages []json.RawMessage
		}
		if err := json.Unmarshal(f.Data, &s); err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
		if s.ID != f.ID {
			t.Errorf("file %d has the id %q, want %q", i, s.ID, f.ID)
		}
		if i > 0 && s.Metadata.From != files[i-1].ID {
			t.Errorf("file %d continues %q, want %q", i, s.Metadata.From, files[i-1].ID)
		}
		if i < len(files)-1 && s.Metadata.To != files[i+1].ID {
			t.Errorf("file %d is continued by %q, want %q", i, s.Metadata.To, files[i+1].ID)
		}
		header := len(s.Messages) - len(f.Messages)
		if want := [...]int{0, 3, 4, 5, 6}[i]; header != want {
			t.Errorf("file %d has a header of %d, want %d", i, header, want)
		}
		for k, m := range f.Messages {
			if !bytes.Equal(s.Messages[header+k], m.Raw) {
				t.Fatalf("file %d: message %d is %s, want %s", i, k, s.Messages[header+k], m.Raw)
			}
			var own struct{ ID string }
			if err := json.Unmarshal(m.Raw, &own); err != nil || own.ID != m.ID || seen[m.ID] {
				t.Fatalf("file %d: message %d has the id %q, want a new one, %q", i, k, own.ID, m.ID)
			}
			seen[m.ID] = true
		}
	}
	if len(testchat.All(files)) != 50 {
		t.Errorf("%d messages, want 50", len(testchat.All(files)))
	}
	if again := chat.Files(); !bytes.Equal(again[4].Data, files[4].Data) {
		t.Error("two equal chats differ")
	}
}
