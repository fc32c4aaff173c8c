package convert

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
)

// measured returns transcripts for formats that are only written: random paths, and the
// active paths of all fixtures.
func measured(t *testing.T) (list []*transcript.Transcript) {
	t.Helper()
	for seed := range testsize.Of(15, 30, 300) {
		tr := testtranscript.Tree(rand.New(rand.NewPCG(uint64(seed), 17)))
		tr.Messages = pathTo(tr, tr.Leaf)
		list = append(list, tr)
	}
	for _, f := range Formats {
		if !f.Reads() {
			continue
		}
		for _, path := range fixturesOf(t, f) {
			all, _, _ := f.ReadAll(bytes.NewReader(readFile(t, path)))
			for _, tr := range all {
				tr.Messages = pathTo(tr, tr.Leaf)
				list = append(list, tr)
			}
		}
	}
	if len(list) < 100 {
		t.Fatalf("only %d transcripts", len(list))
	}
	return list
}

// TestATIF: a trajectory has consecutive steps of known sources, what only an agent has is in
// its steps, and each result belongs to a call of the step that it is in. All texts are there.
func TestATIF(t *testing.T) {
	for _, tr := range measured(t) {
		var b bytes.Buffer
		if _, err := atifFormat.Write(&b, tr, testOptions("run")); err != nil {
			t.Fatal(err)
		}
		var v struct {
			Version string `json:"schema_version"`
			ID      string `json:"session_id"`
			Agent   struct{ Name, Version string }
			Steps   []struct {
				ID          int `json:"step_id"`
				Source      string
				Message     *string
				Model       string           `json:"model_name"`
				Thoughts    string           `json:"reasoning_content"`
				Calls       []map[string]any `json:"tool_calls"`
				Observation *struct {
					Results []map[string]string
				}
			}
		}
		if err := json.Unmarshal(b.Bytes(), &v); err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		if v.Version != "ATIF-v1.4" || v.ID != "run" || v.Agent.Name == "" || v.Agent.Version == "" || len(v.Steps) == 0 && len(tr.Messages) > 0 {
			t.Errorf("the trajectory is\n%s", &b)
		}
		said := ""
		for i, s := range v.Steps {
			if s.Message == nil || s.ID != i+1 || !slices.Contains([]string{"user", "agent", "system"}, s.Source) ||
				s.Source != "agent" && (s.Model != "" || s.Thoughts != "" || s.Calls != nil || s.Observation != nil) {
				t.Fatalf("step %d of\n%s", i, &b)
			}
			said += *s.Message + "\n" + s.Thoughts + "\n"
			ids := map[any]bool{}
			for _, c := range s.Calls {
				if _, is := c["arguments"].(map[string]any); !is || c["function_name"] == "" || c["tool_call_id"] == "" {
					t.Errorf("a call of step %d of\n%s", i, &b)
				}
				ids[c["tool_call_id"]] = true
			}
			if s.Observation != nil {
				for _, r := range s.Observation.Results {
					if !ids[r["source_call_id"]] {
						t.Errorf("a result of step %d of\n%s", i, &b)
					}
					said += r["content"] + "\n"
				}
			}
		}
		for _, m := range tr.Messages {
			for _, p := range m.Parts {
				if text, _ := json.Marshal(p.Text); !strings.Contains(said, p.Text) && !bytes.Contains(b.Bytes(), text[1:len(text)-1]) {
					t.Errorf("%q is not in\n%s", p.Text, &b)
				}
			}
		}
	}
}
