package buffer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// A room is a workspace with a buffer and a processor that records its inputs.
type room struct {
	*testing.T
	w     *workspace.Workspace
	b     *buffer.Buffer
	notes []string

	mu      sync.Mutex
	made    map[string]bool // sessions
	parents map[string]string
	names   map[string]string // of messages, for people
	ids     map[string]string // by name
	calls   []buffer.Context
	answer  func(ctx context.Context, c buffer.Context) (buffer.Result, error)
}

// newRoom creates a room. answer is the processor; nil finds nothing.
func newRoom(t *testing.T, o buffer.Options, answer buffer.Processor) *room {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.Dir(), "conversations"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &room{
		T: t, w: w, answer: answer,
		made: map[string]bool{}, parents: map[string]string{}, names: map[string]string{}, ids: map[string]string{},
	}
	r.restart(o)
	return r
}

// restart replaces the buffer by a new one.
func (r *room) restart(o buffer.Options) {
	o.Processor = r.process
	o.Note = func(note string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notes = append(r.notes, note)
	}
	r.b = buffer.New(r.w, o)
	r.Cleanup(func() { r.close() })
}

func (r *room) close() {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r.b.Close(ctx)
}

func (r *room) process(ctx context.Context, c buffer.Context) (buffer.Result, error) {
	r.mu.Lock()
	r.calls = append(r.calls, c)
	answer := r.answer
	r.mu.Unlock()
	r.await(c.Path)
	r.check(c)
	if answer == nil {
		return buffer.Result{}, nil
	}
	return answer(ctx, c)
}

// await waits until messages that were just stored are known.
func (r *room) await(ids []string) {
	for _, id := range ids {
		for try := 0; r.nameOf(id) == "" && try < 1000; try++ {
			time.Sleep(time.Millisecond)
		}
	}
}

// check verifies that the processor's input is of a single path.
func (r *room) check(c buffer.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := c.Leaf
	for i, id := range slices.Backward(c.Path) {
		if id != at {
			r.Errorf("message %d of the path to %s is %s, want %s", i, r.names[c.Leaf], r.names[id], r.names[at])
			return
		}
		at = r.parents[at]
	}
	if at != "" {
		r.Errorf("the path to %s begins below %s", r.names[c.Leaf], r.names[at])
	}
	if len(c.New) == 0 || c.New[len(c.New)-1] != c.Leaf {
		r.Errorf("the leaf is %s, and the new messages are %s", r.names[c.Leaf], r.say(c.New))
	}
	var shown []string
	for _, m := range slices.Concat(c.Context, c.Messages) {
		shown = append(shown, m.ID)
		parent := ""
		if m.Parent != nil {
			parent = *m.Parent
		}
		if parent != r.parents[m.ID] || m.Role != "user" || string(m.Content) != fmt.Sprintf("%q", "text of "+r.names[m.ID]) || m.Created == nil {
			r.Errorf("a message is %+v", m)
		}
	}
	next := 0
	for _, id := range c.Path {
		if next < len(shown) && shown[next] == id {
			next++
		}
	}
	if next != len(shown) {
		r.Errorf("the shown messages, %s, are not on the path %s", r.say(shown), r.say(c.Path))
	}
	for _, id := range c.New {
		if !slices.Contains(shown, id) {
			r.Errorf("%s is new and not shown", r.names[id])
		}
	}
	for _, t := range c.Tasks {
		for _, id := range t.Messages {
			if !slices.Contains(c.Path, id) {
				r.Errorf("on the path to %s is a task of %s", r.names[c.Leaf], r.names[id])
			}
		}
	}
}

// nameOf returns the name of a message.
func (r *room) nameOf(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[id]
}

// idOfName returns the id of a message, "" if unknown.
func (r *room) idOfName(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[name]
}

// say returns the names of messages. The caller must hold the mutex.
func (r *room) say(ids []string) string {
	var list []string
	for _, id := range ids {
		list = append(list, r.names[id])
	}
	return strings.Join(list, " ")
}

// put stores messages in a session without notifying the buffer: "b" follows the
// newest message, "b<a" answers a. The first message creates the session.
func (r *room) put(line, messages string) {
	r.Helper()
	name := filepath.Join(r.w.Dir(), filepath.FromSlash(session.FileName(line)))
	r.mu.Lock()
	if !r.made[line] {
		r.made[line] = true
		data := fmt.Sprintf(`{"id":%q,"metadata":{"continued_from":[]},"messages":[]}`, line)
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			r.Error(err)
		}
	}
	r.mu.Unlock()
	for _, word := range strings.Fields(messages) {
		name, parent, _ := strings.Cut(word, "<")
		n, err := r.w.Line(line).Store(r.Context(), lines.Message{
			Parent: r.idOfName(parent),
			Content: func(func() ([]lines.Node, error)) (lines.Content, error) {
				return lines.Content{
					Role:  "user",
					Value: rawjson.Compact("text of " + name),
					Own:   []lines.Member{{Name: "format", Value: json.RawMessage(`"openai"`)}},
				}, nil
			},
		})
		if err != nil {
			r.Error(err)
			return
		}
		r.mu.Lock()
		r.parents[n.ID], r.names[n.ID], r.ids[name] = n.Parent, name, n.ID
		r.mu.Unlock()
	}
}

// store adds messages to a session and notifies the buffer of each.
func (r *room) store(line, messages string) {
	r.Helper()
	for _, word := range strings.Fields(messages) {
		r.put(line, word)
		name, _, _ := strings.Cut(word, "<")
		r.b.Stored(line, r.idOfName(name))
	}
}

func (r *room) flush(line string) string {
	r.Helper()
	if err := r.b.Flush(r.Context(), line); err != nil {
		return err.Error()
	}
	return ""
}

// given describes the inputs of the processor, call by call, and clears them.
func (r *room) given() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, c := range r.calls {
		list = append(list, r.say(c.New))
	}
	r.calls = nil
	return strings.Join(list, ", ")
}

// gave verifies the inputs of the processor.
func (r *room) gave(what, want string) {
	r.Helper()
	if got := r.given(); got != want {
		r.Errorf("%s: the processor got %q, want %q", what, got, want)
	}
}

// tasks describes the tasks on the path to a message, or all.
func (r *room) tasks(line, name string) string {
	r.Helper()
	list, err := r.w.Line(line).Tasks(r.Context(), r.idOfName(name))
	if err != nil {
		r.Fatal(err)
	}
	var texts []string
	for _, t := range list {
		text := fmt.Sprintf("%d %s", t.Order, t.Description())
		if t.Status != task.Pending {
			text += " " + string(t.Status)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// status describes the tracking state of a line: observed, in process, pending,
// failed.
func (r *room) status(line string) string {
	r.Helper()
	t, err := r.b.Status(r.Context(), line)
	if err != nil {
		r.Fatal(err)
	}
	return fmt.Sprintf("%d/%d/%d/%d", t.Observed, t.InProcess, t.Pending, t.Failed)
}

// is compares two strings.
func (r *room) is(what, got, want string) {
	r.Helper()
	if got != want {
		r.Errorf("%s: %s, want %s", what, got, want)
	}
}

// found is an answer with new tasks.
func found(texts ...string) (r buffer.Result) {
	for _, text := range texts {
		r.Tasks = append(r.Tasks, buffer.Found{Description: text})
	}
	return r
}
