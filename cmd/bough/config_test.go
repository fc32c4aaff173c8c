package main

import (
	"encoding/json"
	"testing"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/config"
)

// TestExploreSettings: each member of the exploration settings is a setting of bough, with
// the same default.
func TestExploreSettings(t *testing.T) {
	data, err := json.Marshal(explore.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	if len(members) < 10 {
		t.Fatalf("only %d members", len(members))
	}
	for key, value := range members {
		s, ok := config.Find("explore." + key)
		if !ok || s.Default != string(value) {
			t.Errorf("explore.%s: the default is %s, want %s", key, s.Default, value)
		}
	}
}
