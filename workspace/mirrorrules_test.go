package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// two returns two machines that have the conversation Bread with the messages a and b.
func two(t *testing.T, limit int) (here, there *machine, bread string, said []string) {
	list := machines(t, limit, 2)
	bread = list[0].new("Bread")
	said = list[0].say("a", "b")
	if left := exchange(list[0], list[1]); len(left) > 0 {
		t.Fatalf("omitted: %+v", left)
	}
	return list[0], list[1], bread, said
}

// TestMirrorUndo: an undo reverts all that was received at once, redo repeats it, and neither is a
// fact for others.
func TestMirrorUndo(t *testing.T) {
	t.Parallel()
	here, there, _, said := two(t, 2)
	there.append(workspace.Append{Session: "Bread", Text: "c"})
	there.append(workspace.Append{Session: "Bread", Text: "d", Parent: said[0]})
	there.checkpoint("Bread")
	there.agent("ada")
	if _, err := there.Bookmark(t.Context(), said[0], "here", workspace.BookmarkOptions{}); err != nil {
		t.Fatal(err)
	}
	before := here.answers()
	at := here.base.Last
	exchange(here, there)
	after := here.answers()
	if before == after {
		t.Fatal("nothing was received")
	}
	for range 2 {
		if _, err := here.Undo(t.Context(), history.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := here.answers(); got != before {
			t.Fatalf("after undo:\n%s\nwant\n%s", got, before)
		}
		here.healthy()
		if err := redo(here.space); err != nil {
			t.Fatal(err)
		}
		if got := here.answers(); got != after {
			t.Fatalf("after redo:\n%s\nwant\n%s", got, after)
		}
		here.healthy()
	}
	f := here.facts(mirror.Known{Since: at})
	if len(f.Since) > 0 || f.Last == at {
		t.Errorf("facts since %d: %+v", at, f.Since)
	}
	log, err := here.Log(t.Context(), history.LogOptions{Groups: true})
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(log.Operations, func(o history.Operation) bool { return o.Verb == "pull" }); i < 0 || log.Operations[i].Args["remote"] != "home" {
		t.Errorf("the log is %+v", log.Operations)
	}
}

// TestMirrorSince: removals, undos and their reversal are facts, and take effect elsewhere, unless
// something there needs what they remove.
func TestMirrorSince(t *testing.T) {
	t.Parallel()
	here, there, bread, said := two(t, 10)
	extra := here.append(workspace.Append{Session: "Bread", Text: "c"}).Message
	soup := here.new("Soup")
	exchange(here, there)
	undo := func() {
		t.Helper()
		if _, err := here.Undo(t.Context(), history.UndoOptions{In: bread}); err != nil {
			t.Fatal(err)
		}
	}
	since := func() mirror.Operation {
		t.Helper()
		list := here.facts(here.known()).Since
		if len(list) != 1 {
			t.Fatalf("%d operations", len(list))
		}
		return list[0]
	}
	undo()
	if got, want := fmt.Sprint(since().Undone), fmt.Sprint([]mirror.Ref{{Session: bread, Message: extra}}); got != want {
		t.Fatalf("undone are %s, want %s", got, want)
	}
	exchange(here, there)
	sameAnswers(t, here, there)
	if err := redo(here.space); err != nil {
		t.Fatal(err)
	}
	if got := since(); fmt.Sprint(got.Redone) != fmt.Sprint([]mirror.Ref{{Session: bread, Message: extra}}) || len(got.Undone) > 0 {
		t.Fatalf("the redo is %+v", got)
	}
	exchange(here, there)
	sameAnswers(t, here, there)

	undo()
	reply := there.append(workspace.Append{Session: "Bread", Parent: extra, Text: "a reply"}).Message
	there.base = there.facts(mirror.Known{})
	if left := exchange(here, there); len(left) != 1 || left[0].What != bread+"@"+extra {
		t.Errorf("omitted: %+v", left)
	}
	if got := there.texts(bread); got != "a b c a reply" {
		t.Errorf("the other machine has %q", got)
	}
	here.apply(mirror.Changes{Messages: []mirror.NewMessages{{Session: bread, Messages: there.messages(bread)}}})
	if got := here.texts(bread); got != "a b c a reply" {
		t.Errorf("this machine has %q", got)
	}
	_ = reply
	here.base, there.base = here.facts(mirror.Known{}), there.facts(mirror.Known{})

	if _, err := here.Remove(t.Context(), soup, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := since(); !slices.Equal(got.Removed, []string{soup}) || got.Verb != "rm" {
		t.Fatalf("the removal is %+v", got)
	}
	version := sessionIn(there.facts(mirror.Known{}), soup).Version
	there.append(workspace.Append{Session: soup, Text: "not seen there"})
	if done := there.apply(mirror.Changes{Removed: []mirror.Removal{{Session: soup, Version: version}}}); len(done.Left) != 1 || done.Operation != 0 {
		t.Errorf("a session with another message is removed: %+v", done)
	}
	version = sessionIn(there.facts(mirror.Known{}), soup).Version
	if done := there.apply(mirror.Changes{Removed: []mirror.Removal{{Session: soup, Version: version}}}); len(done.Left) > 0 || len(done.Sessions) != 1 {
		t.Errorf("it is not removed: %+v", done)
	}
	here.base = here.facts(mirror.Known{})
	if _, err := here.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := since(); !slices.Equal(got.Returned, []string{soup}) || len(got.Removed)+len(got.Undone) > 0 {
		t.Errorf("the undo of the removal is %+v", got)
	}
	_ = said
}

// TestMirrorHead: the head stays at its message if others continue elsewhere, and the conversation
// continues at its end if they continued from there.
func TestMirrorHead(t *testing.T) {
	t.Parallel()
	here, there, _, _ := two(t, 10)
	c := here.say("c")[0]
	there.append(workspace.Append{Session: "Bread", Text: "d"})
	exchange(here, there)
	if next := here.append(workspace.Append{Text: "e"}); string(next.Parent) != c {
		t.Errorf("the message at the head follows %s, want %s", next.Parent, c)
	}
	exchange(here, there)
	f := there.append(workspace.Append{Session: "Bread", Text: "f"}).Message
	exchange(here, there)
	if next := here.append(workspace.Append{Text: "g"}); string(next.Parent) != f {
		t.Errorf("the message at the head follows %s, want %s", next.Parent, f)
	}
	if _, err := there.Head(t.Context()); err == nil && there.facts(mirror.Known{}).Head != nil {
		t.Error("the head of the other machine is set")
	}
}

// TestMirrorHostile: what would damage a session is omitted as a whole, with the reason, and
// everything else is received.
func TestMirrorHostile(t *testing.T) {
	t.Parallel()
	here, there, bread, said := two(t, 10)
	there.new("Soup")
	soup := there.say("x", "y")
	there.checkpoint("Soup")
	facts := there.facts(mirror.Known{})
	var good, point mirror.NewSession
	for _, s := range facts.Sessions {
		n := mirror.NewSession{Session: s, Messages: there.messages(s.ID)}
		switch s.Kind {
		case session.Checkpoint:
			point = n
		case session.Root:
			good = n // Soup is the last one
		}
	}
	message := func(id, text string) json.RawMessage {
		return fmt.Appendf(nil, `{"role":"user","content":%q,"id":%q,"metadata":{}}`, text, id)
	}
	as := func(change func(*mirror.NewSession)) mirror.Changes {
		n := good
		n.Messages = slices.Clone(n.Messages)
		change(&n)
		return mirror.Changes{New: []mirror.NewSession{n}}
	}
	add := func(list ...mirror.Message) mirror.Changes {
		return mirror.Changes{Messages: []mirror.NewMessages{{Session: bread, Messages: list}}}
	}
	deep := json.RawMessage(`{"id":"deep","content":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}")
	before := here.files()
	for _, c := range []struct {
		name string
		mirror.Changes
		why string
	}{
		{"a path as an id", as(func(n *mirror.NewSession) { n.ID = "../../evil" }), "invalid session id"},
		{"an empty id", as(func(n *mirror.NewSession) { n.ID = "" }), "invalid session id"},
		{"the index", as(func(n *mirror.NewSession) { n.ID = "session_index" }), "invalid session id"},
		{"a shell that is not JSON", as(func(n *mirror.NewSession) { n.Shell = json.RawMessage(`{"metadata":`) }), "shell is malformed"},
		{"no shell", as(func(n *mirror.NewSession) { n.Shell = nil }), "not here"},
		{"a list as a shell", as(func(n *mirror.NewSession) { n.Shell = json.RawMessage(`[1]`) }), "shell is malformed"},
		{"a key twice", as(func(n *mirror.NewSession) { n.Shell = json.RawMessage(`{"metadata":{},"metadata":{},"messages":[]}`) }), "shell is malformed"},
		{"a shell without messages", as(func(n *mirror.NewSession) { n.Shell = json.RawMessage(`{"metadata":{}}`) }), "messages"},
		{"another kind", as(func(n *mirror.NewSession) { n.Kind = session.Checkpoint }), "shell is that of a root"},
		{"it continues itself", as(func(n *mirror.NewSession) {
			n.Kind, n.Shell = "", bytes.Replace(n.Shell, []byte(`"continued_from":[]`), fmt.Appendf(nil, `"continued_from":[%q]`, n.ID), 1)
		}), "cycle"},
		{"it continues a missing one", as(func(n *mirror.NewSession) {
			n.Kind, n.Shell = "", bytes.Replace(n.Shell, []byte(`"continued_from":[]`), []byte(`"continued_from":["gone"]`), 1)
		}), "not here"},
		{"two origins", as(func(n *mirror.NewSession) {
			n.Shell = bytes.Replace(n.Shell, []byte(`"continued_from":[]`), []byte(`"continued_from":["a","b"]`), 1)
		}), "continued_from"},
		{"a message twice", as(func(n *mirror.NewSession) { n.Messages = append(n.Messages, n.Messages[0]) }), "duplicate"},
		{"a cycle of parents", as(func(n *mirror.NewSession) {
			n.Messages[0].Raw = bytes.Replace(n.Messages[0].Raw, []byte(`"metadata": {`), fmt.Appendf(nil, `"metadata": {"parent_id": %q, `, soup[1]), 1)
		}), "ancestor"},
		{"a seal that does not fit", mirror.Changes{New: []mirror.NewSession{{Session: point.Session, Messages: point.Messages[:1]}}}, "seal"},
		{"a message that is not JSON", add(mirror.Message{ID: "m", Raw: json.RawMessage(`{"id":"m"`)}), "malformed"},
		{"two values", add(mirror.Message{ID: "m", Raw: json.RawMessage(`{"id":"m"},{"id":"n"}`)}), "more than one"},
		{"the end of the array", add(mirror.Message{ID: "m", Raw: json.RawMessage(`{"id":"m"}],"x":[{"id":"n"}`)}), "malformed"},
		{"another id", add(mirror.Message{ID: "m", Raw: message("n", "")}), `has the id "n"`},
		{"no id", add(mirror.Message{ID: "", Raw: json.RawMessage(`{"role":"user"}`)}), "no id"},
		{"a member twice", add(mirror.Message{ID: "m", Raw: json.RawMessage(`{"id":"m","role":"user","role":"user"}`)}), "duplicate"},
		{"invalid UTF-8", add(mirror.Message{ID: "m", Raw: json.RawMessage("{\"id\":\"m\",\"content\":\"\xff\"}")}), "UTF-8"},
		{"too deep", add(mirror.Message{ID: "deep", Raw: deep}), "deep"},
		{"other content", add(mirror.Message{ID: said[1], Raw: message(said[1], "forged"), Parent: session.ID(said[0])}), "other content"},
		{"a half", add(mirror.Message{ID: "m", Raw: message("m", "fine"), Parent: session.ID(said[1])}, mirror.Message{ID: "n", Raw: json.RawMessage(`1`)}), "not an object"},
		{"a ring", add(mirror.Message{ID: "m", Raw: message("m", ""), Parent: "n"}, mirror.Message{ID: "n", Raw: message("n", ""), Parent: "m"}), "ancestor"},
		{"a marker", add(mirror.Message{ID: "m", Raw: json.RawMessage(`{"id":"m","metadata":{"type":"session_transition","previous_session":"x"}}`), Parent: session.ID(said[1])}), "marker"},
		{"a missing session", mirror.Changes{Messages: []mirror.NewMessages{{Session: "../x", Messages: []mirror.Message{{ID: "m", Raw: message("m", "")}}}}}, "not here"},
		{"a title of two lines", mirror.Changes{Titles: map[string]string{bread: "a\nb"}}, "one line"},
		{"a bookmark on nothing", mirror.Changes{AddBookmarks: []bookmark.Bookmark{{Session: bread, Message: "gone", Label: "x"}}}, "does not have"},
		{"a bookmark named HEAD", mirror.Changes{AddBookmarks: []bookmark.Bookmark{{Session: bread, Message: said[0], Label: "HEAD"}}}, "reserved"},
		{"an agent with a path as its name", mirror.Changes{Agents: []mirror.Agent{{Name: "../x", Head: &mirror.Head{}}}}, "invalid name"},
		{"an agent without trees", mirror.Changes{Agents: []mirror.Agent{{Name: "eve", Settings: json.RawMessage(`{}`), Head: &mirror.Head{}}}}, "agents/eve.json"},
		{"an exploration with a path as its id", mirror.Changes{Explorations: []mirror.File{{ID: "../x", Data: json.RawMessage(`{}`)}}}, "invalid exploration id"},
		{"a learning of two lines", mirror.Changes{Learnings: []json.RawMessage{json.RawMessage("{}\n{}")}}, "one line"},
		{"an attachment with another content", mirror.Changes{Attachments: []mirror.Content{{SHA256: strings.Repeat("0", 64), Data: []byte("x")}}}, "does not match"},
		{"an attachment with a path as its name", mirror.Changes{Attachments: []mirror.Content{{SHA256: "../x", Data: []byte("x")}}}, "not a SHA-256"},
	} {
		done := here.apply(c.Changes)
		if len(done.Left) != 1 || !strings.Contains(done.Left[0].Why, c.why) || done.Operation != 0 {
			t.Errorf("%s: %+v, want the reason %q", c.name, done, c.why)
		}
		if after := here.files(); fmt.Sprint(before) != fmt.Sprint(after) {
			sameFiles(t, c.name, before, after)
			before = after
		}
	}
	all := mirror.Changes{
		New:      []mirror.NewSession{{Session: mirror.Session{ID: "a/b", Shell: good.Shell}}, good, point},
		Messages: []mirror.NewMessages{{Session: bread, Messages: []mirror.Message{{ID: "m", Raw: message("m", "orphan"), Parent: "gone"}}}},
	}
	if done := here.apply(all); len(done.Left) != 1 || len(done.Sessions) != 3 {
		t.Errorf("with one that is invalid: %+v", done)
	}
	if got := here.texts("Soup"); got != "x y" {
		t.Errorf("the conversation beside it is %q", got)
	}
	if kinds := here.kinds(doctor.Options{}); !slices.Equal(kinds, []string{doctor.OrphanMessage}) {
		t.Errorf("doctor finds %q", kinds)
	}
	raw := message("p", "the parent")
	if done := here.apply(add(mirror.Message{ID: "gone", Raw: bytes.Replace(raw, []byte(`"p"`), []byte(`"gone"`), 1), Parent: "m"})); len(done.Left) != 1 || !strings.Contains(done.Left[0].Why, "ancestor") {
		t.Errorf("a parent that follows its own orphan: %+v", done)
	}
}

// TestMirrorLarge: a message of many megabytes is received.
func TestMirrorLarge(t *testing.T) {
	t.Parallel()
	here, _, bread, said := two(t, 10)
	raw := fmt.Appendf(nil, `{"role":"user","content":"%s","id":"large","metadata":{}}`, strings.Repeat("x", 20<<20))
	done := here.apply(mirror.Changes{Messages: []mirror.NewMessages{{Session: bread, Messages: []mirror.Message{{ID: "large", Parent: session.ID(said[1]), Raw: raw}}}}})
	if len(done.Left) > 0 {
		t.Fatalf("omitted: %.300v", done.Left)
	}
	list := here.messages(bread)
	if last := list[len(list)-1]; !bytes.Equal(last.Raw, raw) || string(last.Parent) != said[1] {
		t.Errorf("it has %d bytes below %s", len(last.Raw), last.Parent)
	}
}

// TestMirrorBusy: an agent that runs a turn is omitted.
func TestMirrorBusy(t *testing.T) {
	t.Parallel()
	here, there, _, _ := two(t, 10)
	there.agent("ada")
	exchange(here, there)
	there.answer("ada", "hello")
	file := filepath.Join(here.Dir(), agent.Path("ada"))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Decode("ada", data)
	if err != nil {
		t.Fatal(err)
	}
	a.Queue.Add(turn.Entry{ID: "q", Mode: turn.FollowUp, Content: "later"})
	a.Turn = turn.Turn{State: turn.InTool, Prompt: "m1", Last: "m2", Calls: []turn.OpenCall{{Call: model.Call{ID: "c", Name: "f", Arguments: "{}"}, Node: "m3"}}}
	write := func(data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	busy := a.Encode()
	write(busy)
	if left := exchange(here, there); len(left) != 1 || left[0] != (mirror.Left{What: "ada", Why: "busy"}) {
		t.Errorf("omitted: %+v", left)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, busy) {
		t.Errorf("its file is %s, %v", now, err)
	}
	a.Turn = turn.Turn{}
	write(a.Encode())
	c := mirror.Changes{Agents: there.facts(mirror.Known{}).Agents}
	if done := here.apply(c); len(done.Left) > 0 || done.Operation == 0 {
		t.Errorf("when it is idle: %+v", done)
	}
	now, err := here.Agent("ada").Info(t.Context())
	if err != nil || len(now.Queue) != 1 || now.Head.Node != there.head("ada").Node {
		t.Errorf("the agent is %+v, %v", now, err)
	}
	c.Agents[0].Name = "ada-laptop"
	if done := here.apply(c); len(done.Left) > 0 {
		t.Errorf("with another name: %+v", done)
	}
	if now, err := here.Agent("ada-laptop").Info(t.Context()); err != nil || len(now.Queue) != 1 {
		t.Errorf("under its new name it is %+v, %v", now, err)
	}
	if _, err := here.Agent("ada").Info(t.Context()); err != nil && !strings.Contains(err.Error(), "ada") {
		t.Error(err)
	}
	here.healthy()
}

// TestMirrorDialects: what a folder of Penguin's receives stays in Penguin's dialect, and the facts
// are the same on both sides.
func TestMirrorDialects(t *testing.T) {
	t.Parallel()
	for _, penguinTakes := range []bool{false, true} {
		list := machines(t, 1000, 2)
		own, penguin := list[0], list[1]
		own.new("Bread")
		own.say("a", "b")
		own.checkpoint("Bread")
		own.branch("Bread")
		if err := os.CopyFS(penguin.Dir(), fixtures.Penguin()); err != nil {
			t.Fatal(err)
		}
		from, to := penguin, own
		if penguinTakes {
			from, to = own, penguin
		}
		kinds := to.kinds(doctor.Options{})
		is := from.facts(mirror.Known{})
		c := mirror.Changes{}
		for _, s := range is.Sessions {
			c.New = append(c.New, mirror.NewSession{Session: s, Messages: from.messages(s.ID)})
		}
		if done := to.apply(c); len(done.Left) > 0 {
			t.Errorf("omitted: %+v", done.Left)
		}
		has := to.facts(mirror.Known{})
		for _, s := range is.Sessions {
			got := sessionIn(has, s.ID)
			if got == nil || got.Kind != s.Kind || string(got.Shell) != string(s.Shell) || got.Title != s.Title || got.Newest != s.Newest {
				t.Errorf("%s became\n%+v", s.ID, got)
			}
			if fmt.Sprint(to.messages(s.ID)) != fmt.Sprint(from.messages(s.ID)) {
				t.Errorf("the messages of %s differ", s.ID)
			}
		}
		if now := to.kinds(doctor.Options{}); !slices.Equal(now, kinds) {
			t.Errorf("doctor finds %q, before %q", now, kinds)
		}
	}
}

// TestMirrorKnown: sessions whose versions are known are not described again, unless a continuation
// of them has changed.
func TestMirrorKnown(t *testing.T) {
	t.Parallel()
	here, _, bread, _ := two(t, 2)
	next := here.append(workspace.Append{Session: bread, Text: "c"}).Session
	soup := here.new("Soup")
	versions := map[string]string{}
	for _, s := range here.facts(mirror.Known{}).Sessions {
		versions[s.ID] = s.Version
	}
	last := here.append(workspace.Append{Session: bread, Text: "d"}).Message
	f := here.facts(mirror.Known{Projects: here.facts(mirror.Known{}).Projects, Versions: func() map[string]string { return versions }})
	for _, s := range f.Sessions {
		switch s.ID {
		case soup:
			if s.Shell != nil {
				t.Error("an unchanged session is described")
			}
		case bread:
			if s.Newest != last || s.Shell == nil {
				t.Errorf("the line is %+v", s)
			}
		case next:
			if s.Shell == nil || s.Newest != "" {
				t.Errorf("its continuation is %+v", s)
			}
		}
	}
}

// TestMirrorShell: what belongs to a conversation beside its messages and its title, and what users
// set for messages, is received; the messages and the title stay.
func TestMirrorShell(t *testing.T) {
	t.Parallel()
	here, there, bread, said := two(t, 2)
	next := here.append(workspace.Append{Session: bread, Text: "c"}).Session
	point := here.checkpoint(bread).ID
	exchange(here, there)
	if _, err := here.Line(bread).SetConfigs(t.Context(), []byte(`{"model":"echo"}`), true); err != nil {
		t.Fatal(err)
	}
	if _, err := here.Line(bread).SetMeta(t.Context(), said[0], []byte(`{"stars":5}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := there.Rename(t.Context(), bread, "Rye"); err != nil {
		t.Fatal(err)
	}
	before := there.answers()
	shell := sessionIn(here.facts(mirror.Known{}), bread).Shell
	c := mirror.Changes{
		Shells:   []mirror.Shell{{Session: bread, Shell: shell}},
		Metadata: []mirror.Metadata{{Session: bread, Message: said[0], Value: json.RawMessage(`{"meta":{"stars":5}}`)}},
	}
	if done := there.apply(c); len(done.Left) > 0 || done.Operation == 0 {
		t.Fatalf("%+v", done)
	}
	now := sessionIn(there.facts(mirror.Known{}), bread)
	if string(now.Shell) != string(shell) || now.Title != "Rye" || there.texts(bread) != "a b c" {
		t.Errorf("the session is %+v with %q", now, there.texts(bread))
	}
	if got := there.messages(bread)[0].Raw; !strings.Contains(string(got), `"stars"`) {
		t.Errorf("the message is %s", got)
	}
	if done := there.apply(c); done.Operation != 0 {
		t.Errorf("again: %+v", done)
	}
	there.healthy()
	if _, err := there.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := there.answers(); got != before {
		t.Errorf("after undo:\n%s\nwant\n%s", got, before)
	}
	facts := here.facts(mirror.Known{})
	for name, c := range map[string]mirror.Changes{
		"other links":          {Shells: []mirror.Shell{{Session: next, Shell: shell}}},
		"another kind":         {Shells: []mirror.Shell{{Session: point, Shell: shell}}},
		"of nothing":           {Shells: []mirror.Shell{{Session: "gone", Shell: shell}}},
		"not JSON":             {Shells: []mirror.Shell{{Session: bread, Shell: json.RawMessage(`{`)}}},
		"with messages":        {Shells: []mirror.Shell{{Session: bread, Shell: bytes.Replace(shell, []byte(`"messages":[]`), []byte(`"messages":[{"id":"x"}]`), 1)}}},
		"another seal":         {Shells: []mirror.Shell{{Session: point, Shell: bytes.Replace(sessionIn(facts, point).Shell, []byte(`"crc32c":"`), []byte(`"crc32c":"x`), 1)}}},
		"a note to nothing":    {Metadata: []mirror.Metadata{{Session: bread, Message: "gone", Value: json.RawMessage(`{}`)}}},
		"a note that is text":  {Metadata: []mirror.Metadata{{Session: bread, Message: said[0], Value: json.RawMessage(`"x"`)}}},
		"a note in a snapshot": {Metadata: []mirror.Metadata{{Session: point, Message: said[0], Value: json.RawMessage(`{}`)}}},
	} {
		if done := there.apply(c); len(done.Left) != 1 || done.Operation != 0 {
			t.Errorf("%s: %+v", name, done)
		}
	}
}

// TestMirrorExplorations: the folders of an exploration and the variables of its command stay on its
// machine, and one from elsewhere has neither. Its command travels, as its other members do.
func TestMirrorExplorations(t *testing.T) {
	t.Parallel()
	here, there, _, _ := two(t, 10)
	const id = "7c9a0c52-7d0e-4c5e-9d6b-0d2f3b1a9c77"
	file := func(command, status, adopted string) []byte {
		return fmt.Appendf(nil, `{"id":%q,"state":"s1","runner":{"command":%q,"model":"m","dir":"/home/a","bindings":{"TOKEN":"secret"}},"active_ids":[],`+
			`"branches":[{"branch_id":"b","status":%q,"folder":"x","state":"s2"}],"adopted_node_id":%s}`, id, command, status, adopted)
	}
	write := func(data []byte) {
		t.Helper()
		if err := here.Exploration(id).Write(t.Context(), data); err != nil {
			t.Fatal(err)
		}
	}
	write(file("make", "executing", "null"))
	if list := here.facts(mirror.Known{}).Explorations; len(list) > 0 {
		t.Errorf("one that runs is told: %s", list)
	}
	write(file("make", "completed", "null"))
	told := here.facts(mirror.Known{}).Explorations
	if len(told) != 1 || !strings.Contains(string(told[0].Data), `"command":"make"`) ||
		strings.Contains(string(told[0].Data), "/home") || strings.Contains(string(told[0].Data), "secret") {
		t.Fatalf("told is %s", told)
	}
	if done := there.apply(mirror.Changes{Explorations: told}); len(done.Left) > 0 {
		t.Fatalf("%+v", done)
	}
	if got := there.facts(mirror.Known{}).Explorations; len(got) != 1 || string(got[0].Data) != string(told[0].Data) {
		t.Errorf("the other machine has %s", got)
	}
	told[0].Data = bytes.Replace(told[0].Data, []byte(`"adopted_node_id":null`), []byte(`"adopted_node_id":"n"`), 1)
	if done := here.apply(mirror.Changes{Explorations: told}); len(done.Left) > 0 {
		t.Fatalf("%+v", done)
	}
	data, err := here.Exploration(id).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := gjson.ParseBytes(data); got.Get("runner.bindings.TOKEN").Str != "secret" || got.Get("runner.dir").Str != "/home/a" || got.Get("branches.0.folder").Str != "x" || got.Get("adopted_node_id").Str != "n" {
		t.Errorf("it has become %s", data)
	}
	for _, hostile := range [][]byte{file("rm -rf /", "completed", "null"), file("", "completed", "null"), file("", "pending", "null"), []byte("[]"), []byte("{")} {
		if done := there.apply(mirror.Changes{Explorations: []mirror.File{{ID: id, Data: hostile}}}); len(done.Left) != 1 {
			t.Errorf("%s is received", hostile)
		}
	}
}

// TestMirrorEvents: a watcher sees the new messages, message by message where there are few.
func TestMirrorEvents(t *testing.T) {
	t.Parallel()
	here, there, bread, said := two(t, 10)
	reply := there.append(workspace.Append{Session: bread, Parent: said[0], Text: "c"}).Message
	soup := there.new("Soup")
	at, err := here.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exchange(here, there)
	var got []string
	for e, err := range here.EventsBetween(t.Context(), at, here.base.Last) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Type, e.Session, e.Message, e.Parent))
	}
	want := []string{
		fmt.Sprintf("%s %s %s %s", events.BranchCreated, bread, reply, said[0]),
		fmt.Sprintf("%s %s %s %s", events.MessageAdded, bread, reply, said[0]),
		fmt.Sprintf("%s %s  ", events.SessionCreated, soup),
	}
	for _, event := range want {
		if !slices.Contains(got, event) {
			t.Errorf("the events are %q, without %q", got, event)
		}
	}
}
