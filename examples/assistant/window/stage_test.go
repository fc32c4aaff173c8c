package window

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/examples/assistant/desk"
	"github.com/bough-dev/bough/examples/assistant/view"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// A stage is a window and the hands of its user. The goroutine of the test calls
// what the window posts, so the test sees each state of the screen.
type stage struct {
	*Window
	t     *testing.T
	model *rehearsed
	posts chan func()
}

// patience is how long the stage waits for something to be shown.
const patience = time.Minute

func open(t *testing.T, dir string, lines ...string) *stage {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &stage{t: t, model: &rehearsed{lines: lines, rest: make(chan struct{})}, posts: make(chan func(), 100)}
	models := func(context.Context, string) (model.Model, error) { return s.model, nil }
	d, err := desk.New(ctx, another(t, dir), "assistant", agents.TurnOptions{Model: "rehearsed", Models: models})
	if err != nil {
		t.Fatal(err)
	}
	a := currentApp(t)
	perform(func() {
		s.Window = New(ctx, a, d, func(f func()) {
			select {
			case s.posts <- f:
			case <-ctx.Done():
			}
		})
		s.Show()
	})
	t.Cleanup(func() {
		cancel()
		perform(s.Close)
	})
	return s
}

// another opens the workspace as another program does.
func another(t *testing.T, dir string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// await calls what the window posts until the screen shows something.
func (s *stage) await(what string, shown func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		ok := false
		perform(func() { ok = shown() })
		if ok {
			return
		}
		select {
		case f := <-s.posts:
			perform(f)
		case <-deadline:
			s.t.Fatalf("the window does not show %s; it shows\n%s", what, s.describe())
		}
	}
}

// describe returns the screen as text.
func (s *stage) describe() string {
	var out strings.Builder
	perform(func() {
		out.WriteString(s.header.title.Text + " (" + s.header.detail.Text + ") " + s.header.reason.Text + "\n")
		for _, b := range s.talk.shown {
			out.WriteString(b.author.Text + ": " + b.text.String() + "\n")
		}
		out.WriteString(s.queueText() + "[" + s.input.send.Text + "] " + s.input.hint.Text + "\n" + s.status.Text + "\n")
	})
	return out.String()
}

func (s *stage) queueText() string {
	if s.input.waiting.Hidden {
		return ""
	}
	return s.input.queue.Text + "\n"
}

// awaitTalk waits until exactly these messages are shown.
func (s *stage) awaitTalk(texts ...string) {
	s.t.Helper()
	s.await(strings.Join(texts, " / "), func() bool { return strings.Join(s.texts(), "\n") == strings.Join(texts, "\n") })
}

// texts returns the messages that are shown.
func (s *stage) texts() (list []string) {
	for _, b := range s.talk.shown {
		list = append(list, strings.TrimSpace(b.text.String()))
	}
	return list
}

// awaitMode waits until the input has a mode, and its button the label.
func (s *stage) awaitMode(m view.Mode, label string) {
	s.t.Helper()
	s.await("the mode "+string(m), func() bool { return s.screen.Input.Mode == m && s.input.send.Text == label })
}

// awaitOpen waits until the conversation with a title is open, and returns its row.
func (s *stage) awaitOpen(title string) (row view.Row) {
	s.t.Helper()
	s.await(title+" open", func() bool {
		row = s.screen.Tree.Rows[s.screen.Tree.Open]
		return row.Title == title && s.header.title.Text == title
	})
	return row
}

// row returns the row with a title, which must be visible in the sidebar.
func (s *stage) row(title string) (row view.Row) {
	s.t.Helper()
	s.await("the row "+title, func() bool {
		for id, r := range s.screen.Tree.Rows {
			if r.Title == title {
				row = s.screen.Tree.Rows[id]
				return true
			}
		}
		return false
	})
	return row
}

// click opens a conversation in the sidebar.
func (s *stage) click(title string) {
	s.t.Helper()
	id := s.row(title).ID
	perform(func() { s.sidebar.tree.Select(id) })
	s.awaitOpen(title)
}

func (s *stage) write(text string) {
	perform(func() { s.input.entry.SetText(text) })
}

// enter writes a message and presses Enter.
func (s *stage) enter(text string) {
	s.write(text)
	perform(func() { s.input.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) })
}

// altEnter writes a message and presses Alt+Enter.
func (s *stage) altEnter(text string) {
	s.write(text)
	perform(func() {
		s.input.entry.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierAlt})
	})
}

func (s *stage) tap(b *widget.Button) {
	s.t.Helper()
	perform(func() {
		if b.Disabled() || !b.Visible() {
			s.t.Errorf("the button %q cannot be tapped", b.Text)
		}
		test.Tap(b)
	})
}

// choose opens the menu of the message with a text and selects an item.
func (s *stage) choose(text, item string) {
	s.t.Helper()
	var more *widget.Button
	var m view.Message
	s.await(text, func() bool {
		for _, b := range s.talk.shown {
			if strings.TrimSpace(b.text.String()) == text {
				more, m = b.more, b.message
			}
		}
		return more != nil
	})
	s.tap(more)
	perform(func() {
		menu := s.Canvas().Overlays().Top()
		if menu == nil {
			s.t.Fatal("no menu is open")
		}
		s.Canvas().Overlays().Remove(menu)
		for _, i := range s.messageMenu(m).Items {
			if i.Label == item {
				i.Action()
				return
			}
		}
		s.t.Errorf("the menu has no %q", item)
	})
}

// name answers the question for the name of a checkpoint.
func (s *stage) name(text string) {
	s.t.Helper()
	perform(func() {
		entry, ok := s.Canvas().Focused().(*widget.Entry)
		if !ok {
			s.t.Fatal("nothing asks for a name")
		}
		entry.SetText(text)
		entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	})
}

// A rehearsed model answers with one line after another. It streams the text up
// to a bar, and the rest when the test says so.
type rehearsed struct {
	lines []string
	asked atomic.Int64
	rest  chan struct{}
}

// Ask implements [model.Model].
func (m *rehearsed) Ask(ctx context.Context, _ *model.Request, stream func(string)) (*model.Reply, error) {
	line := "Yes."
	if n := int(m.asked.Add(1)); n <= len(m.lines) {
		line = m.lines[n-1]
	}
	before, after, waits := strings.Cut(line, "|")
	stream(before)
	if waits {
		select {
		case <-m.rest:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		stream(after)
	}
	return &model.Reply{Text: before + after}, nil
}

// finish has the model complete its reply.
func (s *stage) finish() {
	s.t.Helper()
	select {
	case s.model.rest <- struct{}{}:
	case <-time.After(patience):
		s.t.Fatal("the model is not answering")
	}
}
