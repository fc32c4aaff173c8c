package join_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/join"
)

// A shown is what one machine shows when all is quiet.
type shown struct {
	Titles   map[string]string // of the sessions that are there
	Newest   map[string]string
	Messages map[string][]string
	Labels   map[string]string // "SESSION MESSAGE" by the names of bookmarks
	Agents   map[string]string // keys by name
	Heads    map[string]string // messages by key
	Log      map[int]bool
	Machines map[string]string
}

// show returns what m shows, with the faults of its rules.
func (m *machine) show() shown {
	v := join.Project(m.view)
	x := shown{map[string]string{}, map[string]string{}, map[string][]string{}, map[string]string{}, map[string]string{}, map[string]string{}, map[int]bool{}, map[string]string{}}
	for s := range m.view.Sessions() {
		if !s.Alive || m.broken.deleteWins && m.dead["session/"+s.ID] {
			continue
		}
		x.Titles[s.ID], x.Newest[s.ID] = s.Title, s.Newest
		if m.broken.arrival {
			json.Unmarshal([]byte(m.arrived["session/"+s.ID+" title"]), &s.Title)
			x.Titles[s.ID] = s.Title
		}
		x.Messages[s.ID] = []string{}
		for _, item := range present(v, s) {
			x.Messages[s.ID] = append(x.Messages[s.ID], item.ID)
		}
		slices.Sort(x.Messages[s.ID])
	}
	for _, b := range v.Bookmarks {
		if !m.broken.dropByName || !m.hidden[b.Stamps[0]] {
			x.Labels[b.Name] = b.Session + " " + b.Message
		}
	}
	for _, a := range v.Agents {
		x.Agents[a.Name] = a.Key
		if a.Head != nil {
			x.Heads[a.Key] = a.Head.Message
		}
	}
	for _, one := range m.view.Log() {
		var n int
		json.Unmarshal(one.Line, &n)
		x.Log[n] = true
	}
	for _, one := range v.Machines {
		x.Machines[one.Name] = string(one.ID)
	}
	return x
}

// lost returns how x differs from what the acts demand, of which those in arrived were published. It
// knows nothing of records and states.
func (h *acts) lost(x shown, arrived map[int]bool) (problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	// seen reports whether one of the acts for which is is true knew act n.
	seen := func(n int, is func(act) bool) bool {
		for i, a := range h.list {
			if arrived[i] && is(a) && a.known[n] {
				return true
			}
		}
		return false
	}
	kind := func(kinds string, a act) bool { return slices.Contains(strings.Fields(kinds), a.kind) }

	alive, undone, held := map[string]bool{}, map[string]bool{}, map[string]bool{}
	heads, titles, newest := map[string][]string{}, map[string][]string{}, map[string][]string{}
	labels := map[string]map[string]bool{}
	for n, a := range h.list {
		if !x.Log[a.number] {
			complain("act %d, %s, is not in the log", a.number, a.kind)
		}
		if !arrived[n] {
			continue // issued again
		}
		last := func(kinds string) bool {
			return !seen(n, func(b act) bool { return kind(kinds, b) && b.session == a.session && b.key == a.key })
		}
		switch a.kind {
		case "create", "return", "append", "rename", "undo":
			if !seen(n, func(b act) bool { return b.kind == "rm" && b.session == a.session }) {
				alive[a.session] = true
			}
		}
		switch a.kind {
		case "append":
			if last("append") {
				newest[a.session] = append(newest[a.session], a.message)
			}
		case "rename":
			if last("rename") {
				titles[a.session] = append(titles[a.session], a.text)
			}
		case "undo":
			if !seen(n, func(b act) bool { return b.kind == "redo" && b.message == a.message }) {
				undone[a.message] = true
			}
		case "bookmark":
			if !seen(n, func(b act) bool { return kind("bookmark unbookmark", b) && b.text == a.text }) {
				held[a.message] = true
				if labels[a.text] == nil {
					labels[a.text] = map[string]bool{}
				}
				labels[a.text][a.session+" "+a.message] = true
			}
		case "move":
			if !seen(n, func(b act) bool { return b.kind == "move" && b.key == a.key }) {
				heads[a.key] = append(heads[a.key], a.message)
			}
		}
	}
	for _, message := range x.Heads {
		held[message] = true
	}
	h.judgeSessions(x, alive, undone, held, complain)
	judgeNames(x, labels, complain)
	oneOf := func(what string, got map[string]string, want map[string][]string) {
		for key, values := range want {
			if value, ok := got[key]; ok && !slices.Contains(values, value) {
				complain("%s of %s is %q, want one of %q", what, key, value, values)
			}
		}
	}
	oneOf("title", x.Titles, titles)
	oneOf("newest", x.Newest, newest)
	oneOf("head", x.Heads, heads)
	keys := map[string]bool{}
	for _, key := range x.Agents {
		keys[key] = true
	}
	for _, a := range h.list {
		if a.kind == "agent" && !keys[a.key] {
			complain("agent %s is gone", a.text)
		}
		if _, ok := x.Heads[a.key]; a.kind == "move" && !ok {
			complain("agent %s has no head", a.key)
		}
	}
	return problems
}

func (h *acts) judgeSessions(x shown, alive, undone, held map[string]bool, complain func(string, ...any)) {
	children := map[string][]string{}
	for _, a := range h.list {
		if a.kind == "append" {
			children[a.parent] = append(children[a.parent], a.message)
		}
	}
	var stays func(string) bool
	stays = func(message string) bool {
		return !undone[message] || held[message] || slices.ContainsFunc(children[message], stays)
	}
	want, counted := map[string][]string{}, map[string]bool{}
	for _, a := range h.list {
		if alive[a.session] && want[a.session] == nil {
			want[a.session] = []string{}
		}
		if a.kind == "append" && alive[a.session] && !counted[a.message] && stays(a.message) {
			counted[a.message] = true
			want[a.session] = append(want[a.session], a.message)
		}
	}
	for id, messages := range want {
		slices.Sort(messages)
		if got, ok := x.Messages[id]; !ok || !slices.Equal(got, messages) {
			complain("session %s (there: %v) has the messages %v, want %v", id, ok, got, messages)
		}
	}
	for id := range x.Messages {
		if want[id] == nil {
			complain("session %s was removed and is there", id)
		}
	}
}

func judgeNames(x shown, labels map[string]map[string]bool, complain func(string, ...any)) {
	got := map[string]map[string]bool{}
	for name, place := range x.Labels {
		label, _, at := strings.Cut(name, "@")
		if got[label] == nil {
			got[label] = map[string]bool{}
		}
		got[label][place] = true
		if at != (len(labels[label]) > 1) {
			complain("a bookmark on one of %d messages is called %s", len(labels[label]), name)
		}
	}
	if g, w := fmt.Sprint(got), fmt.Sprint(labels); g != w {
		complain("bookmarks are %s, want %s", g, w)
	}
}
