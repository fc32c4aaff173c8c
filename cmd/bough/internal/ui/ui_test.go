package ui

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/keytable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the golden screens")

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.LazyGC(m)).Run()) }

// A desk is a page without a terminal: commands run at once.
type desk struct {
	t testing.TB
	w *workspace.Workspace
	m *model

	folder string // that of work

	mu   sync.Mutex
	sent []tea.Msg // by commands while they run
}

// begin is the time at which the tests begin. Each call of the clock is a second later.
var begin = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func newDesk(t testing.TB, columns, rows int) *desk {
	now := begin
	clock := func() time.Time { now = now.Add(time.Second); return now }
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "trips"), &workspace.Options{
		Now: clock, Random: rand.NewChaCha8([32]byte{1}), Settle: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return (&desk{w: w}).again(t, columns, rows)
}

// again returns a page of the same workspace at its beginning.
func (d *desk) again(t testing.TB, columns, rows int) *desk {
	d = &desk{t: t, w: d.w, folder: d.folder}
	d.m = newModel(&env{
		Options: Options{Now: func() time.Time { return begin.Add(2 * time.Hour) }}, w: d.w, ctx: t.Context(),
		after: func(time.Duration, tea.Msg) tea.Cmd { return nil },
		send: func(msg tea.Msg) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.sent = append(d.sent, msg)
		},
	})
	d.send(tea.WindowSizeMsg{Width: columns, Height: rows})
	return d
}

// start shows what the workspace has.
func (d *desk) start() {
	d.m.reading = true
	d.run(d.m.env.loadTree(nil))
}

func (d *desk) send(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.m.Update(msg)
	d.run(cmd)
}

// run runs a command, and those that follow, except for the blinking of cursors.
func (d *desk) run(cmd tea.Cmd) {
	d.t.Helper()
	if cmd == nil {
		return
	}
	msg := cmd()
	if text := d.m.env.crashed(); text != "" {
		d.t.Fatal(text)
	}
	d.mu.Lock()
	sent := d.sent
	d.sent = nil
	d.mu.Unlock()
	for _, msg := range sent {
		d.send(msg)
	}
	if v := reflect.ValueOf(msg); v.IsValid() && v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() { // a batch or a sequence
		for i := range v.Len() {
			d.run(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	if msg != nil {
		d.send(msg)
	}
}

// keys types keys: names such as "enter" in angle brackets, else characters.
func (d *desk) keys(text string) {
	d.t.Helper()
	named := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
		"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
		"ctrl+j": {Code: 'j', Mod: tea.ModCtrl}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "space": {Code: tea.KeySpace, Text: " "},
	}
	for text != "" {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">"); ok && text[0] == '<' {
			k, known := named[name]
			if !known {
				d.t.Fatalf("no key %q", name)
			}
			d.send(k)
			text = rest
			continue
		}
		r := []rune(text)[0]
		d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		text = text[len(string(r)):]
	}
}

// screen returns the screen as plain text, after checking that it fits the terminal.
func (d *desk) screen() string {
	d.t.Helper()
	content := d.m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) > d.m.height {
		d.t.Errorf("%d lines on a terminal of %d", len(lines), d.m.height)
	}
	for i, l := range lines {
		if w := lipgloss.Width(l); w > d.m.width {
			d.t.Errorf("line %d is %d columns wide on a terminal of %d: %q", i, w, d.m.width, ansi.Strip(l))
		}
		lines[i] = strings.TrimRight(ansi.Strip(l), " ")
	}
	return strings.Join(lines, "\n")
}

// shows checks that the screen has texts.
func (d *desk) shows(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if s := d.screen(); !strings.Contains(s, text) {
			d.t.Fatalf("no %q on the screen:\n%s", text, s)
		}
	}
}

func (d *desk) must(_ any, err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// conversation begins a conversation.
func (d *desk) conversation(title string, texts ...string) (session, last string) {
	d.t.Helper()
	e, err := d.w.New(d.t.Context(), title)
	d.must(e, err)
	for i, text := range texts {
		role := []string{"user", "assistant"}[i%2]
		r, err := d.w.Append(d.t.Context(), workspace.Append{Session: e.ID, Role: role, Text: text})
		d.must(r, err)
		last = r.Message
	}
	return e.ID, last
}

// file writes the file of a session, as another program does.
func (d *desk) file(id, text string) {
	d.t.Helper()
	dir := filepath.Join(d.w.Dir(), "conversations")
	d.must(nil, os.MkdirAll(dir, 0o700))
	d.must(nil, os.WriteFile(filepath.Join(dir, id+".json"), []byte(text), 0o600))
}

// story is two conversations, one of them with a fork, a checkpoint, a branch and a bookmark.
func (d *desk) story() {
	d.t.Helper()
	ctx := d.t.Context()
	d.conversation("Plan the trip", "Where shall we go?", "To Lisbon.\n\n* by train\n* in May", "And where do we sleep?", "Near the river.")
	bread, _ := d.conversation("面包 and 🍞 bread", "How wet is too wet? 多湿算太湿?", "It depends on the flour. 取决于面粉。", "And with rye?", "Wetter.")
	path, err := d.w.Show(ctx, bread, partial())
	d.must(path, err)
	second := path.Messages[1].ID
	d.must(d.w.Append(ctx, workspace.Append{Session: bread, Parent: second, Text: "And with spelt?"}))
	d.must(d.w.Append(ctx, workspace.Append{Session: bread, Role: "assistant", Text: "Dryer."}))
	d.must(d.w.Checkpoint(ctx, bread+"@"+second, workspace.SnapshotOptions{Name: "Before rye"}))
	d.must(d.w.Bookmark(ctx, bread+"@"+second, "flour", workspace.BookmarkOptions{}))
	d.must(d.w.Branch(ctx, bread+"@"+second, workspace.SnapshotOptions{Name: "With oats"}))
	d.must(d.w.Append(ctx, workspace.Append{Text: "And with oats?"}))
}

// work is a conversation with two states of a folder, an agent, and an exploration.
func (d *desk) work() {
	d.t.Helper()
	ctx := d.t.Context()
	id, last := d.conversation("Fix the parser", "The parser is slow.", "I changed the loop.")
	dir, err := filepath.EvalSymlinks(d.t.TempDir())
	d.must(dir, err)
	dir = filepath.Join(dir, "site")
	d.folder = dir
	write := func(name, text string) { d.must(nil, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	d.must(nil, os.Mkdir(dir, 0o700))
	write("loop.go", "package loop\n\nvar n = 1\n")
	d.must(d.w.Folder(dir).Snap(ctx, id, files.SnapOptions{At: "prompt"}))
	write("loop.go", "package loop\n\nvar n = 2\n")
	write("日本.txt", "new\n")
	d.must(d.w.Folder(dir).Snap(ctx, id, files.SnapOptions{At: "end"}))
	d.must(d.w.Agent("ada").Create(ctx, agents.Options{Model: "openai:gpt-5"}))
	d.must(d.w.Rewind(ctx, id, checkpoint.CutOptions{}))
	x := d.exploration(id, last)
	d.must(nil, d.w.Exploration(x.ID).Write(ctx, x.Encode()))
}

// exploration returns an exploration of a message with a strategy of each status.
func (d *desk) exploration(id, message string) *explore.Exploration {
	at := func(seconds int) string {
		return begin.Add(time.Hour + time.Duration(seconds)*time.Second).Format("2006-01-02T15:04:05.000000+00:00")
	}
	confidence := 0.8
	branch := func(n int, name string, status explore.Status) explore.Branch {
		return explore.Branch{ID: fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", n), Parent: message, Strategy: name, Status: status, Depth: 1}
	}
	x := &explore.Exploration{
		ID: "00000000-0000-4000-8000-000000000000", Session: id, Node: message, Question: "The parser is slow.", Method: explore.Best,
		CreatedAt: at(0), Branches: []explore.Branch{
			branch(1, "rewrite", explore.Completed), branch(2, "patch", explore.Executing), branch(3, "cache", explore.Failed), branch(4, "wait", explore.Pending),
		},
	}
	x.Active = []string{x.Branches[1].ID}
	b := x.Branches
	b[0].Confidence, b[0].Result, b[0].StartedAt, b[0].EndedAt = &confidence, "All of it is new.", at(0), at(12)
	b[0].Metrics = []byte(`{"seconds":1.5}`)
	b[1].StartedAt, b[1].Description = at(0), "Only the loop"
	b[2].Reason = "exit status 1"
	return x
}

// A shot is a view that a golden file has, and the keys that lead to it.
type shot struct{ name, keys string }

// TestScreens compares the screens of each view with golden ones, at two sizes.
func TestScreens(t *testing.T) {
	for _, c := range []struct {
		story func(*desk)
		shots []shot
	}{
		{(*desk).story, []shot{
			{"begin", ""},
			{"fork", "<tab><tab>gl"},
			{"conversation", "<home>j<enter>"},
			{"help", "?"},
			{"search", "/rye"},
			{"go", "<ctrl+k>bread"},
			{"log", "L"},
			{"question", "<tab>c"},
			{"message", "<tab>iFirst<ctrl+j>second 日本"},
			{"refused", "]"},
			{"comparison", "/oats<enter>=/spelt<enter>="},
			{"bookmarks", "B"},
			{"merge", "/spelt<enter>M"},
		}},
		{(*desk).work, []shot{
			{"agents", "A"},
			{"states", "F"},
			{"difference", "F<enter>"},
			{"explorations", "X"},
			{"exploration", "X<enter>"},
			{"restore", "Fbefore<enter>r"},
			{"explore", "<tab>xrewrite: all of it<ctrl+j>patch"},
		}},
	} {
		all := newDesk(t, 80, 24)
		c.story(all)
		for _, size := range [][2]int{{80, 24}, {200, 50}} {
			for _, s := range c.shots {
				name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
				t.Run(name, func(t *testing.T) {
					d := all.again(t, size[0], size[1])
					d.start()
					d.keys(s.keys)
					screen := d.screen() + "\n"
					if d.folder != "" {
						screen = strings.ReplaceAll(screen, d.folder, "/home/ada/site")
					}
					golden(t, name+".txt", screen)
				})
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the screen is\n%s\nwant\n%s\n'go test ./cmd/bough/internal/ui -run TestScreens -update' writes it", got, want)
	}
}

// TestVerbs: each change is made at the selected message, is reported, and can be undone and
// redone.
func TestVerbs(t *testing.T) {
	d := newDesk(t, 100, 30)
	bread, last := d.conversation("Bread", "How wet?", "It depends.", "And rye?", "Wetter.")
	d.start()
	d.shows("Bread", "Wetter.", "message 4 of 4")
	d.keys("<tab>kk")
	d.shows("message 2 of 4")
	for _, c := range []struct{ keys, says, verb string }{
		{"cBefore rye<enter>", "Saved checkpoint “Before rye” · u undoes it", "checkpoint"},
		{"mflour<enter>", "Added bookmark “flour” · u undoes it", "bookmark"},
		{"r", "Continuing from here in “Bread” · u undoes it", "rewind"},
		{"R<ctrl+u>Loaf<enter>", "Renamed to “Loaf” · u undoes it", "rename"},
		{"iAnd spelt?<enter>", "Added a message to “Loaf” · u undoes it", "append"},
	} {
		d.keys(c.keys)
		d.shows(c.says)
		log, err := d.w.Log(t.Context(), history.LogOptions{Limit: 1})
		if err != nil || log.Operations[0].Verb != c.verb {
			t.Fatalf("after %q the log has %+v, %v", c.keys, log, err)
		}
		d.keys("u")
		d.shows("Undid: ")
		d.keys("U")
		d.shows("Redid: ")
	}
	d.shows("And spelt?")
	d.keys("bWith oats<enter>")
	d.shows("Created branch “With oats”", "With oats")
	d.keys("<esc>")
	d.shows("message 2 of 2")
	branch, err := d.w.Show(t.Context(), "With oats", partial())
	d.must(branch, err)
	if n := len(branch.Messages); n != 2 {
		t.Errorf("the branch has %d messages, want 2", n)
	}
	d.keys("<tab>D")
	d.shows("Move “With oats” to the trash?")
	d.keys("n")
	d.shows("Nothing was changed")
	d.keys("Dy")
	d.shows("Moved “With oats” to the trash")
	if _, err := d.w.Show(t.Context(), "With oats", partial()); !isGone(err) {
		t.Errorf("the branch is not in the trash: %v", err)
	}
	whole, err := d.w.Show(t.Context(), bread+"@"+last, partial())
	d.must(whole, err)
	if len(whole.Messages) != 4 {
		t.Errorf("the conversation has %d messages, want 4", len(whole.Messages))
	}
}

// TestMerge: a branch is merged into the head after a look at the message that this adds, and
// messages are copied to the head.
func TestMerge(t *testing.T) {
	d := newDesk(t, 100, 30)
	bread, second := d.conversation("Bread", "How wet?", "It depends.")
	d.must(d.w.Branch(t.Context(), bread+"@"+second, workspace.SnapshotOptions{Name: "Oats"}))
	d.must(d.w.Append(t.Context(), workspace.Append{Text: "And with oats?"}))
	d.must(d.w.Append(t.Context(), workspace.Append{Text: "Decision: soak the oats.", Role: "assistant"}))
	d.must(d.w.Rewind(t.Context(), bread, checkpoint.CutOptions{}))
	d.start()
	d.keys("/soak<enter>")
	d.shows("message 4 of 4")
	d.keys("M")
	d.shows("Merge “Oats”, 2 messages, into the head", "soak the oats", "enter merges")
	d.keys("<enter>")
	d.shows("Merged “Oats” into “Bread” · u undoes it", "· merged “Oats” · head")
	d.keys("u/soak the<enter>M<enter><ctrl+k>Oats<enter>")
	d.shows("message 4 of 4")
	d.keys("M")
	d.shows("All messages of this branch were merged into the head before")
	d.keys("pn")
	d.shows("Nothing was changed")
	d.keys("Py")
	d.shows("Copied messages to “Bread” · u undoes it", "And with oats?", "soak the oats.")
	whole, err := d.w.Show(t.Context(), bread, partial())
	d.must(whole, err)
	if n := len(whole.Messages); n != 5 {
		t.Errorf("%d messages, want 2, the merge, and the turn of 2", n)
	}
}

// TestBookmarks: the list opens a bookmark, and D in the tree removes it.
func TestBookmarks(t *testing.T) {
	d := newDesk(t, 100, 30)
	d.conversation("Bread", "How wet?", "It depends.", "And rye?", "Wetter.")
	d.start()
	d.keys("B")
	d.shows("No bookmarks")
	d.keys("<tab>kkmflour<enter>GB")
	d.shows("★ flour", "Bread")
	d.keys("<enter>")
	d.shows("message 2 of 4", "★ flour")
	d.keys("<tab>l")
	for range 6 {
		if d.m.tree.selected().Kind == treerows.Bookmark {
			break
		}
		d.keys("j")
	}
	d.keys("D")
	d.shows("Remove the bookmark “flour”?")
	d.keys("y")
	d.shows("u undoes it")
	if left, err := d.w.Bookmarks(t.Context(), workspace.BookmarksOptions{}); err != nil || len(left.Bookmarks) > 0 {
		t.Errorf("%+v, %v are left", left, err)
	}
}

// TestExploration: an exploration is read again while it runs, and its result becomes the head.
func TestExploration(t *testing.T) {
	d := newDesk(t, 100, 40)
	d.work()
	d.start()
	d.keys("X<enter>")
	d.shows("1 of 4 strategies completed, 1 running", "1  rewrite  completed · 80 % · 12.0 s", "2  patch  executing", "exit status 1", "seconds 1.5")
	x, err := d.m.env.explorer().Open(t.Context(), "00000000-0000-4000-8000-000000000000")
	d.must(x, err)
	x.Branches[1].Status, x.Branches[1].Result, x.Active = explore.Completed, "The loop is new.", nil
	x.Branches[3].Status, x.Branches[3].Reason = explore.Failed, "cancelled"
	d.must(nil, d.w.Exploration(x.ID).Write(t.Context(), x.Encode()))
	d.send(screenTick{d.m.screens[0].(*textScreen)})
	d.shows("2 of 4 strategies completed", "The loop is new.")
	d.keys("2")
	d.shows("Move the head to the result of strategy 2?")
	d.keys("y")
	d.shows("The loop is new.", "head")
	d.keys("X<enter>7y")
	d.shows("7")
	if m := d.screen(); strings.Contains(m, "u undoes it") {
		t.Errorf("a strategy that does not exist was adopted:\n%s", m)
	}
}

// TestFiles: the states of a conversation are listed, with what changed before and after them.
func TestFiles(t *testing.T) {
	d := newDesk(t, 100, 40)
	d.conversation("Alone", "Nothing.")
	d.start()
	d.keys("F")
	d.shows("No states of files belong to this conversation")
	d.work()
	d = d.again(t, 100, 40)
	d.start()
	d.keys("F")
	d.shows("site after the answer", "site before the answer", "2 files", "1 file")
	d.keys("<enter>")
	d.shows("2 changes since the state before", "changed  loop.go", "-var n = 1", "+var n = 2", "added  日本.txt")
	d.keys("n")
	d.shows("0 changes since then", "No file is different.")
}

// TestRestoreFiles: the plan of a restore is shown before it is made. Where others changed a file
// too, nothing is restored until the user says what happens to it. An undo brings all back.
func TestRestoreFiles(t *testing.T) {
	d := newDesk(t, 100, 60)
	d.work()
	d = d.again(t, 100, 60)
	d.start()
	content := func(name, want string) {
		t.Helper()
		if got, _ := os.ReadFile(filepath.Join(d.folder, name)); string(got) != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	const one, two, mine = "package loop\n\nvar n = 1\n", "package loop\n\nvar n = 2\n", "package loop\n\nvar n = 3\n"
	d.keys("Fbefore<enter>r")
	d.shows("Restore site before the answer", "2 files would change", d.folder, "● f  the files", "● 1  restore nothing", "To be written", "  loop.go", "To be deleted", "  日本.txt", "enter restores")
	content("loop.go", two)
	d.keys("<enter>")
	d.shows("Restored files of “site” · u undoes it")
	content("loop.go", one)
	content("日本.txt", "")
	d.keys("u")
	d.shows("Undid: restored files of “site”")
	content("loop.go", two)
	content("日本.txt", "new\n")

	d.must(nil, os.WriteFile(filepath.Join(d.folder, "loop.go"), []byte(mine), 0o600))
	d.keys("Fbefore<enter>r")
	d.shows("1 conflict", "Nothing can be restored like this.", "loop.go  changed since")
	d.keys("<enter>")
	d.shows("1 conflict")
	content("loop.go", mine)
	d.keys("2")
	d.shows("● 2  keep them as they are", "1 file would change", "Kept", "loop.go  others changed it too")
	d.keys("3")
	d.shows("● 3  take those of the state", "2 files would change")
	d.keys("oloop.go<enter>")
	d.shows("only loop.go", "1 file would change")
	d.keys("<enter>")
	d.shows("Restored files of “site” · u undoes it")
	content("loop.go", one)
	content("日本.txt", "new\n")
	d.keys("u")
	content("loop.go", mine)

	d.keys("Fbefore<enter>r3")
	d.shows("2 files would change")
	d.must(nil, os.Remove(filepath.Join(d.folder, "日本.txt")))
	d.keys("<enter>")
	d.shows("Nothing was restored: the folder", "1 file would change")
	content("loop.go", mine)
	d.must(nil, os.WriteFile(filepath.Join(d.folder, "日本.txt"), []byte("new\n"), 0o600))
	d.keys("<esc><esc>")

	d.keys("<tab>Gw")
	d.shows("Restore site after the answer", "b  the files and the head", "t  only what this turn changed")
	d.keys("5b")
	d.shows("● b  the files and the head", "● 5", "1 file would change")
	d.keys("<enter>")
	d.shows("u undoes it", "· head")
	content("loop.go", two)
	d.keys("u")
	d.shows("Undid")
	content("loop.go", mine)
}

// TestRestoreLate: a plan is not shown once another key was pressed, which was not meant for it.
func TestRestoreLate(t *testing.T) {
	d := newDesk(t, 100, 40)
	d.work()
	d = d.again(t, 100, 40)
	d.start()
	pressed := d.m.pressed
	d.keys("?<esc>")
	if cmd := d.m.showPlan(restorePlan{&textScreen{title: "Restore"}, pressed}); cmd != nil || len(d.m.screens) > 0 {
		t.Errorf("it has %d screens", len(d.m.screens))
	}
	d.shows("The plan of the restore is not shown, because a key was pressed meanwhile.")
}

// TestExplore: an exploration is begun with strategies, a command that the user types, which is
// approved by that, or one of the settings, which needs to be approved.
func TestExplore(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	d := newDesk(t, 100, 40)
	d.conversation("Bread", "Which flour?")
	d.start()
	var typed []string
	d.m.env.Commands = func() ([]string, error) { return []string{"bake"}, nil }
	d.m.env.Command = func(name string) (string, error) {
		return "", &fault.Error{Code: fault.Refused, Message: "the user has not approved the command " + name}
	}
	d.keys("xwheat<enter>bake<enter>")
	d.shows("the user has not approved the command bake")
	d.m.env.Typed = func(r explore.Runner) error { typed = append(typed, r.Command); return nil }
	d.keys("xwheat<ctrl+j>wheat<enter>")
	d.shows("two strategies are named")
	d.keys("xwheat<ctrl+j>spelt: dark flour<enter>")
	d.shows("Tried by:", "A model…", "The command bake", "A command that you type…")
	d.keys("type<enter>echo  \"good\"<enter>")
	d.shows("Folder of which each gets a copy")
	d.keys("<enter>")
	d.shows("What most agree on")
	d.keys("<enter>")
	d.shows("2 of 2 strategies completed", "1  wheat  completed", "2  spelt  completed", "dark flour", "good")
	if len(typed) != 1 || typed[0] != `echo  "good"` {
		t.Errorf("%q was approved", typed)
	}
	d.keys("2y")
	d.shows("good", "· head")
	all, err := d.m.env.explorer().List(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("%d explorations, %v", len(all), err)
	}
	d.keys("xwheat<enter>a model<enter>openai:gpt-5<enter>best<enter>")
	d.shows("no model")
}

// TestAgents: agents and their trees are created, and the head of an agent moves in them.
func TestAgents(t *testing.T) {
	d := newDesk(t, 100, 30)
	d.start()
	d.keys("nBread<enter>")
	d.shows("Created “Bread” · u undoes it", "No messages yet")
	d.keys("aada<enter>openai:gpt-5<enter>")
	d.shows("Created agent “ada” · u undoes it", "agent ada")
	d.keys("<tab>nTrains<enter>")
	d.shows("Created a tree of agent “ada” · u undoes it", "agent ada")
	ada, err := d.w.Agent("ada").Info(t.Context())
	d.must(ada, err)
	if len(ada.Trees) != 2 || ada.Head.Tree != ada.Trees[1].ID || ada.Model != "openai:gpt-5" {
		t.Errorf("the agent is %+v", ada)
	}
	d.must(nil, continueAgent(t.Context(), d.w.Agent("ada"), ada.Trees[0].ID))
	d.keys("r")
	d.shows("Moved the head of agent “ada”")
	if ada, err = d.w.Agent("ada").Info(t.Context()); err != nil || ada.Head.Tree != ada.Trees[1].ID {
		t.Errorf("the head is at %+v, %v", ada.Head, err)
	}
	d.keys("aAda!<enter><enter>")
	d.shows("Ada!")
	if d.m.said == "" || !d.m.refused {
		t.Errorf("an agent of a wrong name: %q", d.m.said)
	}
}

// TestRefused: what the workspace refuses is said, and changes nothing.
func TestRefused(t *testing.T) {
	d := newDesk(t, 100, 30)
	bread, _ := d.conversation("Bread", "How wet?", "It depends.")
	d.must(d.w.Branch(t.Context(), bread, workspace.SnapshotOptions{Name: "Oats", KeepHead: true}))
	d.start()
	before, err := d.w.Position(t.Context())
	d.must(before, err)
	d.keys("D")
	d.shows("Cannot delete “Bread”: it has copies, such as “Oats”")
	d.keys("<tab>]")
	d.shows("No message of this path has another reply beside it")
	d.keys("<tab>y")
	d.shows("Select a message to copy its text")
	d.keys("U")
	d.shows("nothing to redo")
	after, err := d.w.Position(t.Context())
	d.must(after, err)
	if after != before {
		t.Errorf("the log grew from %v to %v", before, after)
	}
}

// TestUndoAsks: the change of another program is undone only after a question.
func TestUndoAsks(t *testing.T) {
	d := newDesk(t, 100, 30)
	d.conversation("Bread", "How wet?")
	d.start()
	d.keys("<tab>mflour<enter>")
	d.must(d.w.Rename(t.Context(), "Bread", "Loaf"))
	d.keys("]u") // what was said in between does not matter
	d.shows("Undo this? Renamed to “Loaf”")
	d.keys("<esc>")
	d.must(d.w.Show(t.Context(), "Loaf", partial()))
	d.keys("uy")
	d.must(d.w.Show(t.Context(), "Bread", partial()))
	d.keys("mrye<enter>]u")
	d.shows("Undid: added bookmark “rye”")
}

// TestSearch: a search finds as the user types, and opens the message on a path that has it.
func TestSearch(t *testing.T) {
	d := newDesk(t, 100, 30)
	d.story()
	d.start()
	d.keys("/with ry")
	d.shows("And with rye?", "1/1")
	d.keys("<enter>")
	d.shows("message 3 of 4", "reply 1/2", "Wetter.")
	d.keys("]")
	d.shows("reply 2/2", "Dryer.")
	d.keys("[")
	d.shows("reply 1/2", "Wetter.")
	d.keys("/nothing like it")
	d.shows("nothing matches")
	d.keys("<esc>")
	d.shows("Wetter.")
}

// TestLive: messages of other programs appear. The window follows them only from the end, no
// other branch takes the place of the path, and a conversation that is removed is named.
func TestLive(t *testing.T) {
	d := newDesk(t, 80, 12)
	bread, last := d.conversation("Bread", "How wet?", "It depends.", "And rye?", "Wetter.")
	other := func(parent, text string) string {
		r, err := d.w.Append(t.Context(), workspace.Append{Session: bread, Parent: parent, Text: text})
		d.must(r, err)
		d.send(workspaceEvent{})
		return r.Message
	}
	d.start()
	added := other(last, "A fifth message")
	d.shows("A fifth message", "message 5 of 5")
	d.keys("<tab>g")
	other(added, "A sixth message")
	d.shows("How wet?", "message 1 of 6")
	d.keys("G")
	other(last, "Another fifth message")
	d.shows("A sixth message", "message 6 of 6")
	d.keys("[")
	d.shows("Another fifth message", "reply 2/2")
	d.must(d.w.Remove(t.Context(), bread, workspace.RemoveOptions{}))
	d.send(workspaceEvent{})
	d.shows("No conversations")
}

// TestFold: a long result is cut until it is unfolded.
func TestFold(t *testing.T) {
	d := newDesk(t, 100, 40)
	var text strings.Builder
	for i := range textLines + 30 {
		fmt.Fprintf(&text, "row %d\n", i)
	}
	d.conversation("Long", text.String())
	d.start()
	d.keys("<tab>G")
	d.shows("… more; l shows all", fmt.Sprint("row ", textLines-1))
	d.keys("lG")
	for range 100 {
		d.keys("<pgdown>")
	}
	d.shows(fmt.Sprint("row ", textLines+29))
	d.keys("h")
	d.shows("row 0")
}

// TestResize: a terminal of any size shows a screen that fits, in each view.
func TestResize(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.story()
	d.start()
	random := rand.New(rand.NewPCG(3, 4))
	for range testsize.Of(60, 200, 1000) {
		d.send(tea.WindowSizeMsg{Width: 1 + random.IntN(150), Height: 1 + random.IntN(50)})
		d.screen()
		switch random.IntN(8) {
		case 0:
			d.keys("<tab>")
		case 1:
			d.keys("j")
		case 2:
			d.keys("l")
		case 3:
			d.keys("?")
			d.screen()
			d.keys("q")
		case 4:
			d.keys("/bread")
			d.screen()
			d.keys("<esc>")
		case 5:
			d.keys("<tab>")
			d.keys("i日本語 and more of it 🍞🍞🍞")
			d.screen()
			d.keys("<esc>")
		case 6:
			d.send(tea.MouseWheelMsg{X: random.IntN(150), Y: random.IntN(50), Button: tea.MouseWheelDown})
		case 7:
			d.send(tea.MouseClickMsg{X: random.IntN(150), Y: random.IntN(50), Button: tea.MouseLeft})
		}
		d.screen()
	}
}

// TestActs: each act of the table of keys does something.
func TestActs(t *testing.T) {
	all := newDesk(t, 100, 30)
	all.story()
	for _, k := range keytable.Keys() {
		d := all.again(t, 100, 30)
		d.start()
		if k.Act != "open" { // in the conversation it unfolds
			d.keys("<tab>")
		}
		before := d.m.View()
		_, cmd := d.m.Update(keyOf(k.Key))
		if after := d.m.View(); cmd == nil && after.Content == before.Content && !settled[k.Act] {
			t.Errorf("%s, %s, does nothing", k.Key, k.Act)
		}
	}
}

// settled are the acts that have nothing to do at the end of a conversation without forks.
var settled = map[string]bool{"next": true, "fold": true, "unfold": true, "previous-fork": true, "next-fork": true}

func keyOf(name string) tea.KeyPressMsg {
	switch name {
	case "Enter":
		return tea.KeyPressMsg{Code: tea.KeyEnter}
	case "Ctrl+K":
		return tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// TestControl: no text of a file controls the terminal.
func TestControl(t *testing.T) {
	const attack = "zq\x1b[2J\x1b]0;t\a\u009b2J\x00\b\x7f\u0085\u202e\u2066zq"
	d := newDesk(t, 100, 30)
	title, err := json.Marshal("Bread" + attack)
	d.must(title, err)
	d.file("bread", fmt.Sprintf(`{"metadata":{"title":%s},"messages":[]}`, title))
	d.must(d.w.Append(t.Context(), workspace.Append{Session: "bread", Text: "How wet?" + attack}))
	d.must(d.w.Append(t.Context(), workspace.Append{Session: "bread", Text: "It depends." + attack + "\tdeep"}))
	d.must(d.w.Append(t.Context(), workspace.Append{Session: "bread", Role: "assistant", Content: []byte(
		`[{"type":"text","text":"a\u001b[2Jzq"},{"type":"thinking","thinking":"a\u001b[2Jzq"}]`)}))
	d.start()
	for _, keys := range []string{"", "<tab>l", "kl", "/zq", "<esc><ctrl+k>", "<esc>L", "<esc>m"} {
		d.keys(keys)
		d.shows("zq")
		v := d.m.View()
		if strings.ContainsAny(ansi.Strip(v.Content), "\x1b\a\x00\b\x7f\t\r\u009b\u0085\u202e\u2066") {
			t.Errorf("after %q: %q", keys, v.Content)
		}
		for _, sequence := range []string{"\x1b[2J", "\x1b]"} {
			if strings.Contains(v.Content, sequence) {
				t.Errorf("after %q the screen has %q", keys, sequence)
			}
		}
	}
}

// TestEnd: commands end with the page, and none begins after it.
func TestEnd(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.story()
	ctx, stop := context.WithCancel(t.Context())
	e := &env{Options: d.m.env.Options, w: d.w, ctx: ctx, send: func(tea.Msg) {}}
	ended := make(chan tea.Msg)
	follow := e.do(e.follow)
	go func() { ended <- follow() }()
	stop()
	<-ended
	e.end()
	if msg := e.do(func() tea.Msg { return note{"late"} })(); msg != nil {
		t.Errorf("a command after the end returns %v", msg)
	}
}

// TestLong scrolls a conversation of 10,000 messages from end to end and back, and reports the
// processor time of its frames.
func TestLong(t *testing.T) {
	const columns, rows = 120, 40
	count := testsize.Of(1000, 3000, 10_000)
	d := newDesk(t, columns, rows)
	var b strings.Builder
	b.WriteString(`{"metadata":{"title":"Long"},"messages":[`)
	for i := range count {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id":"m%d","role":%q,"content":"message %d: %s"}`, i, []string{"user", "assistant"}[i%2], i, strings.Repeat("日本 🍞 words ", i%60))
	}
	b.WriteString("]}")
	d.file("long", b.String())
	d.start()
	d.keys("<tab>")
	d.shows(fmt.Sprintf("message %d of %d", count, count))
	var frames []time.Duration
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	frame := func(key string) {
		begun := processorTime()
		d.keys(key)
		d.m.View()
		frames = append(frames, processorTime()-begun)
	}
	seen := map[int]bool{}
	note := func() {
		_, right, height := d.m.layout()
		for _, l := range d.m.conv.win.visible(d.m.conv.body(right), height) {
			seen[l.item] = true
		}
	}
	for note(); d.m.conv.win != (window{}); note() {
		frame("<pgup>")
	}
	if len(seen) != count {
		t.Errorf("scrolling up showed %d of %d messages", len(seen), count)
	}
	frame("G")
	d.shows(fmt.Sprintf("message %d:", count-1))
	frame("g")
	d.shows("message 0:")
	slices.Sort(frames)
	t.Logf("%d messages, %d frames: median %v, 99 %% %v, longest %v", count, len(frames), frames[len(frames)/2], frames[len(frames)*99/100], frames[len(frames)-1])
}
