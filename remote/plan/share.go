package plan

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Alone makes of facts those of a workspace that has nothing but their sessions and the bookmarks in
// these: each session is complete, and names none from which it was copied. Attachments stay for the
// caller.
func (h *Here) Alone(f *mirror.Facts) {
	there := map[string]bool{}
	for i, s := range f.Sessions {
		there[s.ID] = true
		if s.Shell != nil {
			f.Sessions[i].Shell = alone(s.Shell)
		}
	}
	f.Bookmarks = slices.DeleteFunc(slices.Clone(f.Bookmarks), func(b bookmark.Bookmark) bool { return !there[b.Session] })
	f.Agents, f.Explorations, f.Learnings, f.Head = nil, nil, nil, nil
	for i := range f.Since {
		f.Since[i].Line = nil // it may name other conversations, and files
		f.Since[i].Removed = slices.DeleteFunc(slices.Clone(f.Since[i].Removed), func(id string) bool {
			_, ok := h.known(id)
			return !ok
		})
	}
}

// alone returns a shell with only those members of which it is known that they name no other session, and
// no file.
func alone(shell json.RawMessage) json.RawMessage {
	keep := func(object json.RawMessage, keys ...string) (pairs []rawjson.Pair) {
		for _, p := range rawjson.Pairs(object, rawjson.Root(object)) {
			if slices.Contains(keys, p.Key) {
				pairs = append(pairs, p)
			}
		}
		return pairs
	}
	root := keep(shell, "id", "created_at", "metadata", "messages", "llm_request_lifecycles", "tool_call_records", "tool_result_records")
	for i, p := range root {
		switch p.Key {
		case "llm_request_lifecycles":
			root[i].Value = []byte("[]")
		case "metadata":
			keys := []string{"flattened_snapshot", "branch_point", "bough"}
			continued := (&join.Session{Shell: shell}).Continues()
			if continued {
				keys = append(keys, "continued_from")
			}
			metadata := keep(p.Value, keys...)
			for j, m := range metadata {
				if m.Key == "bough" && gjson.ParseBytes(m.Value).IsObject() {
					metadata[j].Value = rawjson.AppendLine(nil, keep(m.Value, "kind", "sealed"))
				}
			}
			if !continued {
				metadata = append(metadata, rawjson.Pair{Key: "continued_from", Value: []byte("[]")})
			}
			root[i].Value = rawjson.AppendLine(nil, metadata)
		}
	}
	return rawjson.AppendLine(nil, root)
}
