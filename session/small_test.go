package session_test

import (
	"fmt"

	"github.com/bough-dev/bough/session"
)

// smallSessions are files that cover all features, small enough for tests that run
// once per byte.
func smallSessions() map[string][]byte {
	raw := func(messages ...string) (runs []session.Run) {
		for _, m := range messages {
			runs = append(runs, session.Run{Raw: []byte(m)})
		}
		return runs
	}
	meta := func(pairs ...string) (m session.Metadata) {
		for i := 0; i < len(pairs); i += 2 {
			m.Set(pairs[i], []byte(pairs[i+1]))
		}
		return m
	}
	record := []session.Record{{Raw: []byte(`{"call_id": "c1"}`)}, {Raw: []byte(`{"call_id": "c2", "n": 1e-07}`)}}
	documents := map[string]*session.Document{
		"plain": {
			Metadata: meta("title", `"Bread"`, "message_count", "2", "continued_from", "[]", "continued_to", "[]"),
			Messages: raw(m("a"), under("a", "b")),
		},
		"continuation": {
			Metadata: meta("message_count", "4", "continued_from", `["p"]`, "continued_to", "[]"),
			Messages: raw(m("h"), marker("p", `,"parent_id":"x"`), m("a"), late("a", "b")),
			Header:   2,
		},
		"imported": {
			Metadata: meta("title", `"Bread"`, "bough", `{"sources":[{"format":"x"}]}`),
			Messages: raw(m("a"), joined(`"x"`, "a", "b"), replaced("a", "d", "c"), under("a", "d")),
		},
		"checkpoint": {
			Metadata: meta("continued_from", `["p"]`, "branched_from", `"p"`, "branch_point", `"b"`, "lineage", `["p"]`, "flattened_snapshot", "true",
				"message_count", "2", "bough", fmt.Sprintf(`{"kind":"checkpoint","sealed":{"messages":2,"crc32c":%q}}`, session.SealPlaceholder)),
			Messages: raw(m("a"), m("b")),
		},
		"branch": {
			Metadata: meta("branched_from", `"p"`, "branch_point", `"a"`, "flattened_snapshot", "true", "bough", `{"kind":"branch"}`),
			Messages: raw(message("a", `"tool_calls":[{"id":"c1"}]`), message("b", `"tool_call_id":"c1"`)),
			Records:  session.Records{Calls: record, Results: record},
		},
		"Penguin's": {
			CreatedAt: "2026-05-25T15:32:00.000001", LastActive: "2026-05-25T15:32:00.000001",
			Metadata: meta("message_count", "2", "token_count", "12", "continued_from", `"p"`),
			Messages: raw(message("a", `"x":-Infinity`)),
			Records:  session.Records{Lifecycles: record},
		},
	}
	files := map[string][]byte{
		"odd": []byte("\r\n{ \"x\" : [] ,\"metadata\":{\"n\":NaN,\"t\\u0069tle\":\"\\ud83d\",\"k\":{\"a\":1,\"a\":-2.50}}, \"messages\"\t:\r\n" +
			" [{\"id\":\"\\u0061\\\"\\\\\",\"s\":\"caf\u00e9 \u4f60\u597d \U0001f600\"} , {\"metadata\":null,\"id\":\"b\"}\n] }\n\n"),
	}
	for name, d := range documents {
		d.ID = "s"
		data, err := d.Bytes(nil)
		if err != nil {
			panic(err)
		}
		files[name] = data
	}
	return files
}
