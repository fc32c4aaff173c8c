package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/clipperhouse/displaywidth"
	"github.com/tidwall/gjson"
)

// A turnPrinter prints what an agent does during a turn: its answer on standard
// output, the rest on standard error.
type turnPrinter struct {
	p      *program
	ctx    context.Context
	w      *workspace.Workspace
	asker  *asker
	supply supply
	stream bool   // print only the events
	typed  bool   // the next message of the user comes from the command line
	named  string // the name of the new tree, "" for none

	explore string // the mode for a reply that offers several strategies
	model   string // --model

	copied *api.Copied        // set for a branch
	abort  context.CancelFunc // aborts the turn

	came  session.ID   // the message whose text arrives
	open  bool         // the line has no end yet
	held  string       // line ends at the end of the text
	calls []model.Call // of the last message, without results yet
}

// printEvent prints an event.
func (t *turnPrinter) printEvent(e events.Event) {
	t.p.meter.end() // the answer uses the meter's line from now on
	defer func() {
		if t.p.stdout.Flush() != nil {
			t.abort()
		}
	}()
	if t.stream {
		t.p.event(e)
	}
	switch e.Type {
	case events.BranchCreated:
		t.branched(e)
	case events.SessionCreated:
		if e.Verb == "agent fresh" && !t.p.json {
			fmt.Fprintf(t.p.stderr, "Began tree %s\n", line(cmp.Or(t.named, string(e.Session))))
		}
	case events.TurnInterrupted:
		t.asker.withdraw(nil)
	}
	if t.p.json {
		return
	}
	switch e.Type {
	case events.ChatContent:
		t.came = e.Message
		t.text(e.Text)
	case events.MessageAdded:
		t.message(e)
	}
}

// branched prints how much a branch copied.
func (t *turnPrinter) branched(e events.Event) {
	c := api.CopiedBy(t.ctx, t.w, e)
	if c == nil {
		return
	}
	t.copied = c
	if !t.p.json {
		fmt.Fprintf(t.p.stderr, "Branched %q: %s, %s, %s\n", clean(cmp.Or(t.named, string(e.Session))),
			count(t.copied.Messages, "message"), size(t.copied.Bytes), count(t.copied.Tokens, "token"))
	}
}

// text prints text as it arrives. It holds back line ends until more text follows, so that
// a message ends with exactly one.
func (t *turnPrinter) text(s string) {
	if t.p.paint.width > 0 {
		s = clean(strings.ReplaceAll(s, "\r", ""))
	}
	s = t.held + s
	body := strings.TrimRight(s, "\r\n")
	t.held = s[len(body):]
	if body == "" {
		return
	}
	t.open = true
	io.WriteString(t.p.stdout, body)
	t.p.stdout.Flush()
}

// endText ends the current line.
func (t *turnPrinter) endText() {
	if t.open {
		fmt.Fprintln(t.p.stdout)
		t.p.stdout.Flush()
	}
	t.open, t.held = false, ""
}

// message prints a message that was added.
func (t *turnPrinter) message(e events.Event) {
	path, err := t.w.Line(string(e.Session)).Path(t.ctx, string(e.Message), session.ReadOptions{})
	if err != nil || len(path.Nodes) == 0 {
		t.endText()
		return
	}
	m := path.Nodes[len(path.Nodes)-1]
	switch e.Role {
	case "user":
		t.endText()
		if !t.typed {
			t.aside(strings.Join(strings.Fields("> "+deliveryNote(m.Raw)+" "+line(m.Text())), " "))
		}
		t.typed = false
	case "assistant":
		if t.came != e.Message { // its model does not stream
			t.text(m.Text())
		}
		t.endText()
		t.calls = nil
		for _, c := range gjson.GetBytes(m.Raw, "metadata.tool_calls").Array() {
			f := c.Get("function")
			t.calls = append(t.calls, model.Call{Name: f.Get("name").String(), Arguments: f.Get("arguments").String()})
		}
		t.call()
	case "tool":
		about := gjson.GetBytes(m.Raw, "metadata.bough")
		switch text := m.Text(); {
		case about.Get("skipped_by").Exists():
			t.aside("  skipped")
		case about.Get("failed").Bool():
			t.aside("  failed: " + line(text))
		default:
			t.aside("  " + size(int64(len(text))))
		}
		if len(t.calls) > 0 {
			t.calls = t.calls[1:]
		}
		t.call()
	}
}

// call prints the next call.
func (t *turnPrinter) call() {
	if len(t.calls) > 0 {
		t.aside(line(t.calls[0].Name + " " + t.calls[0].Arguments))
	}
}

// aside prints one line on standard error.
func (t *turnPrinter) aside(s string) {
	const most = 100 // columns without a terminal
	columns := most
	if t.p.talk.width > 0 {
		columns = t.p.talk.width - 1
	}
	fmt.Fprintln(t.p.stderr, t.p.talk.dim(displaywidth.TruncateString(s, max(columns, 8), "…")))
}
