package testtranscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// records draws single records, whose ids and parents often collide or are missing.
type records struct {
	*rand.Rand
	n int
}

func (r *records) one(list ...string) string { return oneOf(r.Rand, list...) }

// id returns a quoted id, which is sometimes taken.
func (r *records) id() string {
	if r.n++; r.IntN(60) == 0 {
		r.n -= 3
	}
	return fmt.Sprintf("%q", fmt.Sprintf("id%06d", r.n))
}

// parent returns the quoted id of a record near the last one, or null.
func (r *records) parent() string {
	if r.IntN(6) == 0 {
		return "null"
	}
	return fmt.Sprintf("%q", fmt.Sprintf("id%06d", r.n-5+r.IntN(7)))
}

// claudeCode returns a record of Claude Code.
func (r *records) claudeCode() string {
	call := r.one("c1", "c2", "c3")
	block := r.one(`{"type":"text","text":"`+call+`"}`, `{"type":"tool_use","id":"`+call+`","name":"f","input":{}}`, `{"type":"tool_result","tool_use_id":"`+call+`","content":"r"}`)
	return fmt.Sprintf(r.one(
		`{"type":"user","uuid":%s,"parentUuid":%s,"sessionId":"s","message":{"role":"user","content":[`+block+`]}}`,
		`{"type":"assistant","uuid":%s,"parentUuid":%s,"isSidechain":`+r.one("true", "false", "false", "false")+`,"message":{"id":"`+r.one("m1", "m2")+`","role":"assistant","content":[`+block+`]}}`,
		`{"type":"`+r.one("system", "attachment", "progress", "new")+`","uuid":%s,"parentUuid":%s}`,
		`{"type":"user","uuid":%s,"parentUuid":%s,"isMeta":true,"isCompactSummary":`+r.one("true", "false")+`,"message":{"role":"user","content":"x"}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":%s,"parentUuid":null,"logicalParentUuid":%s,"compactMetadata":{"preservedSegment":{"tailUuid":`+r.parent()+`}}}`,
		`{"type":"last-prompt","sessionId":"s","leafUuid":%[2]s,"lastPrompt":%[1]s}`,
		`{"type":"`+r.one("custom-title", "ai-title", "queue-operation")+`","sessionId":%s,"customTitle":%[1]s,"aiTitle":%[2]s}`,
		`{"type":"summary","leafUuid":%[2]s,"summary":%[1]s}`,
	), r.id(), r.parent())
}

// pi returns an entry of pi.
func (r *records) pi() string {
	said := `"message":{"role":"` + r.one("user", "assistant", "toolResult", "alien") + `","content":"x"}`
	return fmt.Sprintf(r.one(
		`{"type":"message","id":%s,"parentId":%s,`+said+`}`,
		`{"type":"`+r.one("label", "custom", "compaction", "branch_summary", "session_info")+`","id":%s,"parentId":%s,"name":"n","summary":"`+r.one("", "s")+`"}`,
		`{"type":"message","id":%s,"parentId":%s,`+said+`}`,
	), r.id(), r.parent())
}

// piUnlinked returns an entry of the first version of pi, which has no ids.
func (r *records) piUnlinked() string {
	said := `"message":{"role":"` + r.one("user", "assistant", "hookMessage") + `","content":"x"}`
	return r.one(`{"type":"message",`+said+`}`, `{"type":"thinking_level_change"}`, `{"type":"compaction","summary":"s","firstKeptEntryIndex":2}`)
}

// A Loose has files whose records are in any order, linked at random.
type Loose struct {
	ClaudeCode []byte
	Pi         []byte
	PiUnlinked []byte // of the first version, without ids
}

// DrawLoose returns count groups of files. Their ids are numbered consecutively.
func DrawLoose(random *rand.Rand, count int) []Loose {
	r := &records{Rand: random}
	list := make([]Loose, count)
	for i := range list {
		var claude, pi, unlinked strings.Builder
		pi.WriteString(`{"type":"session","version":3,"id":"s","cwd":"/"}` + "\n")
		unlinked.WriteString(`{"type":"session","id":"s","cwd":"/"}` + "\n")
		for range r.IntN(14) {
			claude.WriteString(r.claudeCode() + "\n")
			pi.WriteString(r.pi() + "\n")
			unlinked.WriteString(r.piUnlinked() + "\n")
		}
		list[i] = Loose{[]byte(claude.String()), []byte(pi.String()), []byte(unlinked.String())}
	}
	return list
}
