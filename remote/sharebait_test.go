package remote_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
)

// sessionText returns a session file with messages, which continues a session or nothing.
func sessionText(id, continues string, messages ...string) string {
	from := "[]"
	if continues != "" {
		from = fmt.Sprintf("[%q]", continues)
		messages = append([]string{fmt.Sprintf(`{"id":"m-%s","role":"system","content":"","metadata":{"type":"session_transition","previous_session":%q}}`, id, continues)}, messages...)
	}
	return fmt.Sprintf(`{"id":%q,"created_at":"2026-11-24T15:00:00+00:00","metadata":{"continued_from":%s},"messages":[%s]}`, id, from, strings.Join(messages, ","))
}

func message(id, parent, text string) string {
	if parent != "" {
		parent = fmt.Sprintf(`"parent_id":%q`, parent)
	}
	return fmt.Sprintf(`{"id":%q,"role":"user","content":%q,"created_at":"2026-11-24T15:00:01+00:00","metadata":{%s}}`, id, text, parent)
}

// write writes a session file as another program does.
func (c *computer) write(id, text string) {
	c.t.Helper()
	dir := filepath.Join(c.w.Dir(), "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// offer sends a session to the share as if it belonged there.
func (c *computer) offer(id, text string) {
	c.t.Helper()
	c.write(id, text)
	r := c.team()
	defer r.Close()
	if _, err := r.Share(c.t.Context(), []string{id}); err != nil {
		c.t.Fatal(err)
	}
	c.syncTeam()
}

// TestShareBait: who knows the id of a private session cannot get it by sending another one with that id
// before it is on the machine, however it gets there.
func TestShareBait(t *testing.T) {
	const id, first = "session_20261124_150000_aaaaaaaa", "session_20261124_140000_bbbbbbbb"
	ctx := t.Context()
	private := sessionText(id, "", message("r0", "", "hidden beginning"), message("r1", "r0", "hidden middle"), message("r2", "r1", "hidden end"))
	byPull := func(_, desktop *computer, _ string) { desktop.pull() }
	for name, c := range map[string]struct {
		private string                                       // the session of the laptop
		bait    func(m *computer, named string)              // the other one sends it; named is a line that the desktop shares
		arrive  func(laptop, desktop *computer, team string) // the private session comes to the desktop
		stays   bool                                         // it was never taken
	}{
		"a message":          {private, func(m *computer, _ string) { m.offer(id, sessionText(id, "", message("b0", "", "bait"))) }, byPull, false},
		"no message":         {private, func(m *computer, _ string) { m.offer(id, sessionText(id, "")) }, byPull, false},
		"the real beginning": {private, func(m *computer, _ string) { m.offer(id, sessionText(id, "", message("r0", "", "hidden beginning"))) }, byPull, false},
		"ids of messages": {private, func(m *computer, _ string) {
			m.offer(id, sessionText(id, "", message("r0", "", "bait"), message("r1", "r0", "bait")))
		}, byPull, false},
		"what is not applied": {private, func(m *computer, _ string) { m.forge(id) }, byPull, true},
		"a continuation of a shared line": {
			sessionText(id, first, message("r2", "", "hidden end")),
			func(m *computer, named string) { m.offer(id, sessionText(id, named, message("b0", "", "bait"))) },
			byPull, false,
		},
		"the first part of a line": {
			sessionText(id, first, message("r2", "", "hidden end")),
			func(m *computer, _ string) { m.offer(first, sessionText(first, "", message("b0", "", "bait"))) },
			byPull, false,
		},
		"a file that is copied": {
			private, func(m *computer, _ string) { m.offer(id, sessionText(id, "", message("b0", "", "bait"))) },
			func(_, desktop *computer, _ string) { desktop.write(id, private) }, false,
		},
		"a file that is copied, in place of nothing": {
			private, func(m *computer, _ string) { m.offer(id, sessionText(id, "")) },
			func(_, desktop *computer, _ string) {
				desktop.write(id, private)
				must(desktop.w.New(ctx, "Something else"))                                           // notes it in the log
				must(desktop.w.Append(ctx, workspace.Append{Session: id, Text: "hidden to myself"})) // and so does the user
			}, false,
		},
		"one that was removed": {
			private, func(m *computer, _ string) { m.offer(id, sessionText(id, "", message("r0", "", "hidden beginning"))) },
			func(_, desktop *computer, _ string) {
				must(desktop.w.Remove(ctx, id, workspace.RemoveOptions{}))
				desktop.pull()
			}, false,
		},
		"one out of the trash": {
			private, func(m *computer, _ string) { m.offer(id, sessionText(id, "", message("r0", "", "hidden beginning"))) },
			func(_, desktop *computer, _ string) {
				must(desktop.w.Remove(ctx, id, workspace.RemoveOptions{}))
				for range 3 { // that, the pull of the bait, and the first removal
					must(desktop.w.Undo(ctx, history.UndoOptions{In: id}))
				}
			}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := computers(t, &bucket.Memory{}, "laptop", "desktop")
			laptop, desktop := list[0], list[1]
			m := computers(t, &bucket.Memory{}, "thief")[0]
			named := must(desktop.w.New(ctx, "Public")).ID
			must(desktop.w.Append(ctx, workspace.Append{Session: named, Text: "public words"}))
			team, key := &bucket.Memory{}, filepath.Join(t.TempDir(), "team.key")
			shared := *desktop // with a store of its own
			shared.share(team, key, named)
			shared.syncTeam()
			m.share(team, key)
			m.syncTeam()

			if strings.Contains(c.private, first) {
				laptop.write(first, sessionText(first, "", message("r0", "", "hidden beginning"), message("r1", "r0", "hidden middle")))
			}
			laptop.write(id, c.private)
			laptop.push()
			if name == "one out of the trash" {
				desktop.pull()
				must(desktop.w.Remove(ctx, id, workspace.RemoveOptions{}))
			}
			c.bait(m, named)
			got := shared.syncTeam()
			if c.stays != (len(got.Left) > 0) {
				t.Errorf("the bait: %+v", got.Left)
			}
			c.arrive(laptop, desktop, key)
			_, _ = desktop.w.Append(ctx, workspace.Append{Session: id, Text: "hidden answer"})
			got = shared.syncTeam()
			if !c.stays && len(got.Unshared) != 1 {
				t.Errorf("no longer shared is %v", got.Unshared)
			}
			must(desktop.w.Append(ctx, workspace.Append{Session: named, Text: "more public words"}))
			shared.syncTeam()
			m.syncTeam()
			m.offer(id, sessionText(id, "", message("b0", "", "bait"), message("b9", "", "more bait")))
			shared.syncTeam()
			all := everythingIn(t, team, key)
			for _, secret := range []string{"hidden middle", "hidden end", "hidden answer", "hidden to myself"} {
				if strings.Contains(all, secret) {
					t.Errorf("the share has %q", secret)
				}
			}
			if name != "a continuation of a shared line" && !strings.Contains(all, "more public words") {
				t.Error("the share lacks what was shared")
			}

			// The user decides.
			line := must(desktop.w.Mirror().Line(ctx, id))
			r := shared.team()
			defer r.Close()
			if _, err := r.Share(ctx, []string{line}); err != nil {
				t.Fatal(err)
			}
			shared.syncTeam()
			shared.syncTeam()
			if all := everythingIn(t, team, key); !strings.Contains(all, "hidden end") && !strings.Contains(all, "hidden answer") {
				t.Error("the share lacks what was named")
			}
		})
	}
}

// forge sends a session to the share that no workspace applies.
func (c *computer) forge(id string) {
	c.t.Helper()
	r := c.team()
	info := must(r.Info())
	r.Close()
	store := must(c.opts.OpenStore(c.t.Context(), info.URL))
	root := must(os.OpenRoot(c.t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(c.t.Context(), store, must(seal.ReadKeyFile(info.Key)).Key)).OpenWriter(root))
	shell := json.RawMessage(fmt.Sprintf(`{"id":%q,"created_at":7,"metadata":{"continued_from":[]},"messages":[1]}`, id))
	must(w.Append(stream.Cursors{}, nil, []record.Op{{Do: record.Set, Entity: "session/" + id, Field: "shell", Value: shell}}))
	if err := w.Upload(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

// TestShareUndone: in a share, a machine cannot undo messages of another one. A conversation that came from the share
// stays shared while only users of the share add to it.
func TestShareUndone(t *testing.T) {
	ctx := t.Context()
	a := computers(t, &bucket.Memory{}, "laptop")[0]
	own := computers(t, &bucket.Memory{}, "desktop", "tablet")
	b := own[0]
	line := must(a.w.New(ctx, "Public")).ID
	one := must(a.w.Append(ctx, workspace.Append{Session: line, Text: "first"})).Message
	two := must(a.w.Append(ctx, workspace.Append{Session: line, Text: "second"})).Message
	team, key := &bucket.Memory{}, filepath.Join(t.TempDir(), "team.key")
	a.share(team, key, line)
	a.syncTeam()
	shared := *b
	shared.share(team, key)
	shared.syncTeam()
	b.push() // to all of one's own machines
	own[1].pull()
	b.pull()

	// The other one undoes the last message, and sends that.
	r := shared.team()
	info := must(r.Info())
	r.Close()
	root := must(os.OpenRoot(t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(ctx, team, must(seal.ReadKeyFile(info.Key)).Key)).OpenWriter(root))
	must(w.Append(stream.Cursors{}, nil, []record.Op{
		{Do: record.Add, Entity: "session/" + line, Field: "undone", Value: json.RawMessage(fmt.Sprintf("%q", two))},
	}))
	if err := w.Upload(ctx); err != nil {
		t.Fatal(err)
	}
	texts := func(c *computer) (list []string) {
		for _, m := range must(c.w.Mirror().Messages(ctx, line)) {
			list = append(list, textOf(m))
		}
		return list
	}
	for _, c := range []*computer{a, &shared} {
		c.syncTeam()
		if got := texts(c); !slices.Equal(got, []string{"first", "second"}) {
			t.Errorf("%s has %q", c.name, got)
		}
	}
	late := computers(t, &bucket.Memory{}, "late")[0]
	late.share(team, key)
	late.syncTeam()
	if got := texts(late); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("one who comes later has %q", got)
	}

	// An own undo is not undone by an exchange.
	must(a.w.Undo(ctx, history.UndoOptions{}))
	a.syncTeam()
	a.syncTeam()
	if got := texts(a); !slices.Equal(got, []string{"first"}) {
		t.Errorf("after an undo there is %q", got)
	}

	must(b.w.Append(ctx, workspace.Append{Session: line, Parent: one, Text: "reply"}))
	b.push()
	got := shared.syncTeam()
	a.syncTeam()
	if len(got.Unshared) > 0 || !slices.Contains(texts(a), "reply") {
		t.Errorf("the reply is not there: %q, %v", texts(a), got.Unshared)
	}
}
