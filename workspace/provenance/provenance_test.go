package provenance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/project"
	"github.com/bough-dev/bough/workspace/provenance"
)

// TestOrigins: the last good line of a session or an agent counts, in any form of it.
func TestOrigins(t *testing.T) {
	o := provenance.Parse([]byte(strings.Join([]string{
		`{"session_id":"a","owner":"Ada"}`,
		`{"session_id":"a","owner":"Bo","project":{"id":"notes"}}`,
		`{"session_id":"a","owner":`,
		`{"session_id":"a"} {}`,
		`{"owner":"Cy","session_id":"b"}`,
		`{"session_id":"\u0063","owner":"Di"}`,
		`{"agent_id":"a","owner":"Eve"}`,
		`{"session_id":"d","agent_id":"d"}`,
		`{"session_id":"e","agent\u005fid":"e"}`,
		`{"session_id":"f","project":{"id":"../x\u0000"}}`,
		`{}`, `[]`, ``,
		`{"session_id":"b","owner":"torn`,
	}, "\n")))
	for id, want := range map[string]string{"a": "Bo notes", "b": "Cy ", "c": "Di ", "d": "none", "e": "none", "f": " ", "": "none"} {
		got, ok := o.Session(id)
		text := got.Owner + " " + name(got.Project)
		if !ok {
			text = "none"
		}
		if text != want {
			t.Errorf("%q comes from %q, want %q", id, text, want)
		}
	}
	if got, ok := o.Agent("a"); !ok || got.Owner != "Eve" {
		t.Errorf("the agent comes from %+v, %v", got, ok)
	}
	if _, ok := (provenance.List{}).Session("a"); ok {
		t.Error("no origins have one")
	}
}

func name(p *project.Project) string {
	if p == nil {
		return ""
	}
	return p.ID
}

// BenchmarkOrigins measures what each exchange and each list of sessions costs of 100,000 that came from elsewhere.
func BenchmarkOrigins(b *testing.B) {
	var lines strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&lines, `{"session_id":"session_20260525_153200_%08x","owner":"Ada","project":{"id":"github.com/me/site","path":"docs"}}`+"\n", i)
	}
	for b.Loop() {
		provenance.Parse([]byte(lines.String()))
	}
}
