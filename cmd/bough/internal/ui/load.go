package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"golang.org/x/term"
)

// An env is what commands use.
type env struct {
	Options
	w    *workspace.Workspace
	ctx  context.Context // of reads; it ends with the page
	send func(tea.Msg)
	// after returns a command that waits, and then returns a message.
	after func(time.Duration, tea.Msg) tea.Cmd

	terminal   *term.State // before the page, nil if the input is not a terminal
	terminalFd int
	out        io.Writer

	mu      sync.Mutex
	ended   bool
	crash   string // the first panic and its stack, "" for none
	running sync.WaitGroup
}

// fail notes a panic, which Run prints when the terminal is as before.
func (e *env) fail(r any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.crash == "" {
		e.crash = fmt.Sprintf("%v\n\n%s", r, debug.Stack())
	}
}

// crashed returns the first panic and its stack, "" if there was none.
func (e *env) crashed() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.crash
}

// do returns a command that calls f in the background. Run waits for it. If f panics, the page ends.
func (e *env) do(f func() tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		e.mu.Lock()
		if e.ended {
			e.mu.Unlock()
			return nil
		}
		e.running.Add(1)
		e.mu.Unlock()
		defer e.running.Done()
		defer func() {
			if r := recover(); r != nil {
				e.fail(r)
				msg = tea.QuitMsg{}
			}
		}()
		return f()
	}
}

// wait is env.after of a page on a terminal.
func (e *env) wait(d time.Duration, msg tea.Msg) tea.Cmd {
	return e.do(func() tea.Msg {
		select {
		case <-e.ctx.Done():
			return nil
		case <-time.After(d):
			return msg
		}
	})
}

// end waits for the commands. No other one begins.
func (e *env) end() {
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
	e.running.Wait()
}

func partial() session.ReadOptions { return session.ReadOptions{Partial: true} }

// A workspaceEvent is an event of the workspace, perhaps of another program.
type workspaceEvent struct{ events.Event }

// A followEnd says that changes are no longer shown, and why.
type followEnd struct{ err error }

// follow passes the events of the workspace on until the page ends.
func (e *env) follow() tea.Msg {
	for event, err := range e.w.Events(e.ctx, -1) {
		if err != nil {
			return followEnd{err}
		}
		e.send(workspaceEvent{event})
	}
	return nil
}

// A note is a note of the workspace on a problem that is not an error.
type note struct{ text string }

// A treeResult is what the tree shows.
type treeResult struct {
	source treerows.Source
	err    error
}

// loadTree reads what the tree shows, with the messages of the conversation at the head and of
// those that are open.
func (e *env) loadTree(open []string) tea.Cmd {
	return e.do(func() tea.Msg {
		s, err := treerows.Read(e.ctx, e.w, treerows.Source{}, func(s *treerows.Source) []string {
			if s.Head != nil {
				return append([]string{s.Head.Head.Session}, open...)
			}
			return open
		})
		return treeResult{s, err}
	})
}

// A place is what the right side shows: a path of a conversation.
type place struct {
	session string // any file of the conversation
	leaf    string // the last message of the path, "" for the newest
	message string // the message to show first, "" for the last one
	follow  bool   // the path continues below leaf, to the newest end
}

// ref returns the REF of the path.
func (p place) ref() string {
	if p.leaf == "" {
		return p.session
	}
	return p.session + "@" + p.leaf
}

// A pathResult is the path at a place.
type pathResult struct {
	place
	*path
	err error
}

// A path is a path of a conversation, as it was read.
type path struct {
	*workspace.Conversation
	line  string // the first file of the conversation
	said  []*content.Message
	index map[string]int
	// forks has the replies beside a message of the path, by that message.
	forks map[string]fork
	last  string // the last message, "" if there is none
	tip   bool   // no message follows the last one
}

// A fork is the replies to one message.
type fork struct {
	firsts []string // the replies
	leaves []string // the newest leaf below each
	at     int      // the reply that is on the path
}

// load reads the path at a place. ctx ends when another place is wanted.
func (e *env) load(ctx context.Context, at place) tea.Cmd {
	return e.do(func() tea.Msg {
		p, err := readPath(ctx, e.w, at)
		if ctx.Err() != nil {
			return nil
		}
		return pathResult{at, p, err}
	})
}

func readPath(ctx context.Context, w *workspace.Workspace, at place) (*path, error) {
	tree, err := w.MessageTree(ctx, at.session, partial())
	if err != nil {
		return nil, err
	}
	if at.follow {
		at.leaf = newestBelow(tree.Runs, at.leaf)
	}
	conv, err := w.Show(ctx, at.ref(), partial())
	if err != nil {
		return nil, err
	}
	p := &path{Conversation: conv, line: tree.Session, said: make([]*content.Message, len(conv.Messages)), index: map[string]int{}}
	for i, m := range conv.Messages {
		p.said[i], p.index[m.ID] = content.Read(m.Raw), i
		p.last = m.ID
	}
	content.Follow(p.said, p.said)
	p.forks = forksOf(tree.Runs, p.index)
	p.tip = newestBelow(tree.Runs, p.last) == p.last
	return p, nil
}

// newestBelow returns the newest end of a tree that follows a message, the message itself if it
// is one or is unknown.
func newestBelow(runs []workspace.StraightRun, message string) string {
	for i, r := range runs {
		if slices.ContainsFunc(r.Messages, func(m session.Message) bool { return m.ID == message }) {
			return runs[newestLeaves(runs)[i]].Last
		}
	}
	return message
}

// newestLeaves returns for each run the run that ends with the newest leaf below it, itself if
// nothing follows it.
func newestLeaves(runs []workspace.StraightRun) []int {
	newest := make([]int, len(runs))
	for i := range runs {
		newest[i] = -1
	}
	for i := len(runs) - 1; i >= 0; i-- { // each after its parent
		if newest[i] < 0 {
			newest[i] = i
		}
		p := runs[i].Parent
		if p != nil && (newest[*p] < 0 || runs[newest[i]].LastActive.After(runs[newest[*p]].LastActive)) {
			newest[*p] = newest[i]
		}
	}
	return newest
}

// forksOf returns the forks of a tree on a path, given the positions of its messages.
func forksOf(runs []workspace.StraightRun, onPath map[string]int) map[string]fork {
	newest := newestLeaves(runs)
	below := map[int][]int{} // the runs below each run, -1 for the roots
	for i, r := range runs {
		parent := -1
		if r.Parent != nil {
			parent = *r.Parent
		}
		below[parent] = append(below[parent], i)
	}
	forks := map[string]fork{}
	for _, siblings := range below {
		if len(siblings) < 2 {
			continue
		}
		f := fork{at: -1}
		for n, i := range siblings {
			f.firsts = append(f.firsts, runs[i].First)
			f.leaves = append(f.leaves, runs[newest[i]].Last)
			if _, on := onPath[runs[i].First]; on {
				f.at = n
			}
		}
		if f.at >= 0 {
			forks[runs[siblings[f.at]].First] = f
		}
	}
	return forks
}

// explain returns an error as a sentence.
func explain(err error) string {
	e := workspace.Explain(err)
	text := line(e.Message)
	if e.Hint != "" {
		text += "; " + line(e.Hint)
	}
	return text
}

// isGone reports whether an error says that something does not exist.
func isGone(err error) bool {
	return err != nil && errors.Is(workspace.Explain(err), fault.NotFound)
}

// age formats the age of a time in few characters, "" for the zero time.
func age(t, now time.Time) string {
	switch span := sentence.Span(now.Sub(t)); {
	case t.IsZero():
		return ""
	case span == "", now.Before(t):
		return "now"
	default:
		return span
	}
}
