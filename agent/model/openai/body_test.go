package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/convert/content"
)

// TestHosted: OpenAI's own API gets members that other servers reject, and the other way
// round.
func TestHosted(t *testing.T) {
	prompt, err := wire.Compose(&model.Request{
		Messages: []model.Message{{Role: "user", Content: json.RawMessage(`"Hello"`)}},
		Tools:    []model.Tool{{Name: "ls", Description: strings.Repeat("lists ✓", 200)}},
	}, content.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	for base, want := range map[string]struct {
		limit string
		most  int
	}{"": {"max_completion_tokens", 1023}, "http://localhost:1/v1": {"max_tokens", 1800}} {
		p := provider()
		api, err := wire.NewAPI(p.Name, p.KeyVar, "k", base, p.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(newBody(&wire.Request{Model: "m", MaxTokens: 5, Hosted: api.Hosted, Prompt: prompt}))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Tools []tool
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if n := len(got.Tools[0].Function.Description); n != want.most {
			t.Errorf("%q: the description has %d bytes, want %d", base, n, want.most)
		}
		if !strings.Contains(string(data), `"`+want.limit+`":5`) {
			t.Errorf("%q: no %s in %s", base, want.limit, data)
		}
	}
}
