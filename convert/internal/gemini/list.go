package gemini

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// all reads a record that lists all messages. If replace is set, the list replaces the
// live messages: messages with the same ids, or the same content in the same order, are
// the same, and the rest is discarded. Further items are read like separate records.
func (r *reader) all(raw json.RawMessage, list gjson.Result, replace bool) error {
	r.ride(raw, false)
	items := slices.DeleteFunc(list.Array(), func(v gjson.Result) bool { return !v.IsObject() })
	if !replace {
		return r.each(items)
	}
	if r.clears = r.onlyContext(items); r.clears {
		for _, v := range items {
			if r.at[v.Get("id").Str] == nil {
				r.insert(0, v)
			}
		}
		return nil
	}
	at := 0
	for i, v := range items {
		if k := r.find(v, at); k >= 0 {
			if err := r.align(r.live[k], v); err != nil {
				return err
			}
			at = k + 1
			continue
		}
		if isMessage(v) && r.rides(v, r.last(at)) {
			r.insert(at, v)
			at++
			continue
		}
		r.cut(at)
		return r.each(items[i:])
	}
	r.cut(at)
	return nil
}

func (r *reader) each(items []gjson.Result) error {
	for _, v := range items {
		if err := r.line(json.RawMessage(v.Raw)); err != nil {
			return err
		}
	}
	return nil
}

// onlyContext reports whether items have only context, while there are
// messages. The program writes such a list before it resumes a chat; a list
// with the messages follows.
func (r *reader) onlyContext(items []gjson.Result) bool {
	return len(items) > 0 && r.last(len(r.live)) != nil &&
		!slices.ContainsFunc(items, func(v gjson.Result) bool { return !isContext(v) })
}

// clear discards all messages.
func (r *reader) clear() {
	r.clears = false
	r.cut(0)
}

// cut discards the live messages from index at on.
func (r *reader) cut(at int) {
	for at < len(r.live) && r.isSkipped(r.live[at]) {
		at++
	}
	if at < len(r.live) {
		id := r.live[at].id
		r.ride(rawjson.Compact(map[string]string{"$rewindTo": id}), true)
		r.rewind(id)
	}
}

// find returns the index of the live record from at on that equals an item of a list, -1
// if there is none. Only records that lists omit may be between.
func (r *reader) find(v gjson.Result, at int) int {
	id := v.Get("id").Str
	if n := r.at[id]; n != nil && id != "" {
		k := slices.Index(r.live, n)
		if k < at || slices.ContainsFunc(r.live[at:k], func(n *node) bool { return !r.isSkipped(n) }) {
			return -1
		}
		return k
	}
	if !isMessage(v) || isContext(v) {
		return -1
	}
	said := sayingOf(v)
	for k := at; k < len(r.live); k++ {
		n := r.live[k]
		if n.m != nil && n.says().same(said) {
			return k
		}
		if !r.isSkipped(n) {
			break
		}
	}
	return -1
}

// isSkipped reports whether lists omit a record: notices, context and messages of the user
// to the program.
func (r *reader) isSkipped(n *node) bool { return n.m == nil || n.says().skipped }

// align matches an item of a list to a live record, perhaps with another id. The item
// is dropped if the contents are equal.
func (r *reader) align(n *node, v gjson.Result) error {
	if id := v.Get("id").Str; id != n.id {
		delete(r.at, n.id)
		n.id = id
		r.at[id] = n
		return nil
	}
	if n.m == nil || n.says().same(sayingOf(v)) {
		return nil
	}
	return r.message(json.RawMessage(v.Raw), n.id, v)
}

// insert makes an item of a list live at index at, if it matches no live
// message. Results of tools are dropped, because the record of the call has
// them.
func (r *reader) insert(at int, v gjson.Result) {
	n := &node{id: v.Get("id").Str}
	if at > 0 {
		n.parent = r.live[at-1]
	}
	r.live = slices.Insert(r.live, at, n)
	r.at[n.id] = n
	if isContext(v) {
		r.context(v)
		r.ride(json.RawMessage(v.Raw), false)
	}
}

// last returns the last message before live[at], nil if there is none.
func (r *reader) last(at int) *node {
	for _, n := range slices.Backward(r.live[:at]) {
		if n.m != nil {
			return n
		}
	}
	return nil
}

// rides reports whether a record with the type of a message is not one: it has
// context, or results of tools that are in the record before it.
func (r *reader) rides(v gjson.Result, before *node) bool {
	if isContext(v) {
		return true
	}
	ids := responseIDs(v)
	if len(ids) == 0 || before == nil {
		return false
	}
	results := before.says().results
	return !slices.ContainsFunc(ids, func(id string) bool { return results[id] == [32]byte{} })
}

// A saying is the content of a record, independent of its form.
type saying struct {
	sum     [32]byte
	skipped bool
	results map[string][32]byte // results of the tools that it calls, by id of the call
}

// same reports whether s equals an item of a list, which may lack results.
func (s saying) same(item saying) bool {
	if s.sum != item.sum {
		return false
	}
	for id, sum := range item.results {
		if s.results[id] != sum {
			return false
		}
	}
	return true
}

// sayingOf returns the content of a record.
func sayingOf(v gjson.Result) saying {
	var m transcript.Message
	results := setParts(&m, v)
	return sayingOfMessage(&m, results)
}

// sayingOfMessage is [sayingOf] for a message and the results of the tools that it calls.
func sayingOfMessage(m *transcript.Message, results []content.Part) saying {
	s := saying{sum: digest(append([]content.Part{{Type: m.Role}}, m.Parts...))}
	s.skipped = len(m.Parts) == 0
	if len(m.Parts) == 1 && m.Role == "user" && m.Parts[0].Type == content.TypeText {
		text := strings.TrimSpace(m.Parts[0].Text)
		s.skipped = text == "" || text[0] == '/' || text[0] == '?'
	}
	for i := range results {
		if c := results[i].Call(); results[i].Type == content.TypeToolResult {
			if s.results == nil {
				s.results = map[string][32]byte{}
			}
			s.results[c.ID] = digest(results[i : i+1])
		}
	}
	return s
}

func digest(parts []content.Part) [32]byte {
	h := sha256.New()
	for i := range parts {
		p := &parts[i]
		c := p.Call()
		mime, data, url := p.File()
		fmt.Fprintf(h, "%q %q %q %q %q %q %q\n", p.Type, p.Text, c.Name, c.Arguments, mime, data, url)
	}
	return [32]byte(h.Sum(nil))
}

// responseIDs returns the ids of the calls that a record answers, if it does nothing
// else.
func responseIDs(v gjson.Result) (ids []string) {
	list := v.Get("content")
	if v.Get("type").Str != "user" || !list.IsArray() {
		return nil
	}
	for _, part := range list.Array() {
		id := part.Get("functionResponse.id").Str
		if id == "" {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// isContext reports whether a record has only context that the program adds for the
// model.
func isContext(v gjson.Result) bool {
	if v.Get("type").Str != "user" {
		return false
	}
	text := ""
	for _, part := range v.Get("content").Array() {
		switch said := part.Get("text"); {
		case part.Type == gjson.String:
			text += part.Str
		case said.Type == gjson.String:
			text += said.Str
		case part.IsObject():
			return false
		}
	}
	text = strings.TrimSpace(text)
	for _, tag := range []string{"session_context>", "hook_context>"} {
		if strings.HasPrefix(text, "<"+tag) {
			_, rest, closed := strings.Cut(text, "</"+tag)
			return !closed || strings.TrimSpace(rest) == ""
		}
	}
	return false
}

// context sets the folder from the context for the model.
func (r *reader) context(v gjson.Result) {
	if r.conv.Dir != "" || !isContext(v) {
		return
	}
	text := v.Get("content.0.text").Str
	for _, mark := range []string{"- **Workspace Directories:**\n  - ", "I'm currently working in the directory: "} {
		if _, rest, ok := strings.Cut(text, mark); ok {
			r.conv.Dir, _, _ = strings.Cut(rest, "\n")
			return
		}
	}
}

func isMessage(v gjson.Result) bool {
	kind := v.Get("type").Str
	return kind == "user" || kind == "gemini"
}

func roleOf(v gjson.Result) string {
	if v.Get("type").Str == "gemini" {
		return "assistant"
	}
	return "user"
}
