package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Alone changes the facts to those of a workspace with nothing but these sessions and the bookmarks
// on their messages. Each session becomes complete: neither its shell nor its title names a session
// from which it was copied. Alone does not change Attachments; the caller must.
func (h *Here) Alone(f *mirror.Facts) {
	there := map[string]bool{}
	whole := slices.Clone(f.Sessions)
	for i, s := range f.Sessions {
		there[s.ID] = true
		if s.Shell != nil {
			f.Sessions[i].Shell = alone(s.Shell)
		}
	}
	for i, s := range f.Sessions {
		if from := sourcesOf(whole[i]); len(from) > 0 && !there[from[0]] && isGenerated(s.Title) {
			f.Sessions[i].Title = sharedTitle
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

// sharedTitle is the title in a share of a snapshot whose own one was made of that of a conversation which
// is not shared.
const sharedTitle = "Shared branch"

// isGenerated reports whether a title has the form of those that snapshots get by themselves, such as
// "T (branch)".
func isGenerated(title string) bool {
	at := strings.LastIndex(title, " (")
	if at < 0 || !strings.HasSuffix(title, ")") {
		return false
	}
	kind, _, _ := strings.Cut(title[at+2:len(title)-1], " ")
	return kind == string(session.Branch) || kind == string(session.Checkpoint)
}
