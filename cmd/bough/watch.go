package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/urfave/cli/v2"
)

func (p *program) watchVerb() verb {
	return verb{
		name:  "watch",
		args:  "[--from N] [--import [--from TOOL…]] [--checkpoint] [--files DIR] [--remote] [FLAG ...]",
		short: "print changes to the workspace as they happen",
		long: `Prints a line for every change to the workspace, also by other programs, until it is interrupted;
with --json each line is a document. The number is that of the operation in 'bough log'. With
--checkpoint, watch makes an automatic checkpoint whenever a user's message arrives (if several
arrive in a session at once, of the last one) and prunes old checkpoints as 'bough prune' does.

--import also imports the conversations of other assistants: first those that are there, then what
is added to them, about a second after it was written. It prints a line for each conversation that
was new or changed. --from limits it to some tools; without it all tools are followed, also those
whose folder does not exist yet. 'bough undo' skips these imports.

--files takes a state of the folder DIR (see 'bough files') at once, and then a moment after something
in it changed, and when a user's message arrives. States belong to the newest message that arrived.

--remote exchanges the workspace with the remote, as 'bough sync' does: changes here are sent at
once; changes of others are fetched every 30 to 60 seconds, and every second during the minute after
a change on either side. It prints a line for each exchange in which something was sent or received.

Tools: ` + strings.Join(formatNames("from"), ", "),
		example: `bough watch --checkpoint
bough watch --import
bough watch --import --from claude-code --from codex
bough watch --import --files ~/src/trip
bough watch --import --remote`,
		flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "from", DefaultText: "now", Usage: "begin after operation `N`; with --import, import only from the tool of that name, repeatable"},
			&cli.BoolFlag{Name: "import", DisableDefaultText: true, Usage: "import the conversations of other assistants as they grow"},
			&cli.BoolFlag{Name: "checkpoint", DisableDefaultText: true, Usage: "make an automatic checkpoint of every user's message"},
			&cli.StringFlag{Name: "files", Usage: "take states of the folder `DIR` as its files change"},
			&cli.BoolFlag{Name: "remote", DisableDefaultText: true, Usage: "exchange the workspace with the remote as either changes"},
		}, retentionFlags()...),
		changes: true,
		action:  p.watchAction,
	}
}

func (p *program) watchAction(c *cli.Context, w *workspace.Workspace) error {
	from, tools, err := watchFrom(c.StringSlice("from"), c.Bool("import"))
	if err != nil {
		return err
	}
	if c.IsSet("files") && c.String("files") == "" {
		return usageError("--files takes a folder")
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	follows, states, syncs := func() error { return nil }, func() error { return nil }, func() error { return nil }
	if c.Bool("import") {
		sources, err := p.followSources(tools)
		if err != nil {
			return err
		}
		if err := w.Make(ctx); err != nil {
			return err
		}
		p.meter.end() // it is for one goroutine
		follows = p.follow(ctx, stop, w, sources)
	}
	var listeners []func(events.Event)
	if c.IsSet("files") {
		if err := w.Make(ctx); err != nil {
			return err
		}
		p.meter.end()
		seen := make(chan events.Event)
		states = p.followFiles(ctx, stop, w.Folder(c.String("files")), seen)
		listeners = append(listeners, func(e events.Event) {
			select {
			case seen <- e:
			case <-ctx.Done():
			}
		})
	}
	if c.Bool("remote") {
		r, info, err := p.openRemote(ctx, w, "")
		if err != nil {
			return err
		}
		p.meter.end()
		var changed func(events.Event)
		changed, syncs = p.followRemote(ctx, stop, r, info, w)
		listeners = append(listeners, changed)
	}
	fmt.Fprintf(p.stderr, "Watching %s; interrupt to end.\n", clean(w.Dir()))
	err = p.watchEvents(ctx, w, from, c.Bool("checkpoint"), listeners)
	stop()
	return cmp.Or(syncs(), states(), follows(), err)
}

// A stateTaken is the document of 'bough watch --files' for a state.
type stateTaken struct {
	Type  string      `json:"type"` // state_taken
	Time  time.Time   `json:"time"`
	State files.State `json:"state"`
}

// followFiles takes states of a folder in the background, as follow imports.
func (p *program) followFiles(ctx context.Context, stop func(), folder workspace.Folder, seen <-chan events.Event) func() error {
	done := make(chan error, 1)
	go func() {
		defer stop()
		done <- folder.Watch(ctx, workspace.FolderWatch{Events: seen, Taken: func(st *files.State) {
			p.noting.Lock()
			defer p.noting.Unlock()
			if p.json {
				p.printJSON(stateTaken{"state_taken", st.Time, *st})
			} else {
				fmt.Fprintf(p.stdout, "-  %s  %-18s  %s  %s  %s new  %s\n", clock(st.Time), "state_taken", lookup.Short(st.ID), clean(st.At), size(st.NewBytes), line(st.Dir))
			}
			p.stdout.Flush()
		}})
	}()
	return func() error { return <-done }
}

// watchFrom parses the values of --from: the number of an operation, -1 for the last
// one, and names of tools.
func watchFrom(values []string, tools bool) (from operation.Seq, names []string, err error) {
	from = -1
	for _, value := range values {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			from = operation.Seq(n)
		} else {
			names = append(names, value)
		}
	}
	if len(names) > 0 && !tools {
		e := usageError("--from takes the number of an operation, not %q", names[0])
		e.Hint = "with --import it takes the name of a tool too"
		return from, nil, e
	}
	return from, names, nil
}

// follow imports from sources in the background, and ends the watch if that fails. The
// function that it returns waits for the end and returns the error.
func (p *program) follow(ctx context.Context, stop func(), w *workspace.Workspace, sources []imports.Source) func() error {
	done := make(chan error, 1)
	go func() {
		defer stop()
		done <- w.Follow(ctx, sources, imports.Options{Each: func(r imports.Transcript) {
			p.noting.Lock()
			defer p.noting.Unlock()
			p.followed(r)
		}})
	}()
	return func() error { return <-done }
}

// A followedImport is the document of 'bough watch --import' for a conversation.
type followedImport struct {
	Type         string             `json:"type"` // conversation_imported or import_failed
	Time         time.Time          `json:"time"`
	Conversation imports.Transcript `json:"conversation"`
}

// followed prints the result for a conversation.
func (p *program) followed(r imports.Transcript) {
	if !p.json {
		p.imported(r)
		p.stdout.Flush()
		return
	}
	kind := "conversation_imported"
	if r.Status == imports.Failed {
		kind = "import_failed"
	}
	p.printJSON(followedImport{kind, time.Now(), r})
	p.stdout.Flush()
}

// watchEvents prints the events after an operation and, if checkpoints is set, makes a
// checkpoint of users' messages. The listeners receive the events.
func (p *program) watchEvents(ctx context.Context, w *workspace.Workspace, from operation.Seq, checkpoints bool, listeners []func(events.Event)) error {
	newest := map[session.ID]events.Event{} // users' messages that have no checkpoint yet
	for e, err := range w.Events(ctx, from) {
		if err != nil {
			return err
		}
		p.noting.Lock()
		err = p.event(e)
		p.noting.Unlock()
		if err != nil {
			return err
		}
		for _, listen := range listeners {
			listen(e)
		}
		if checkpoints && e.Type == events.MessageAdded && e.Role == "user" {
			newest[e.Session] = e
		}
		if e.Behind == 0 {
			p.autoCheckpoints(ctx, w, newest)
			clear(newest)
		}
	}
	return nil
}

// event prints an event and flushes it.
func (p *program) event(e events.Event) error {
	if p.json {
		if err := p.printJSON(e); err != nil {
			return err
		}
		return p.stdout.Flush()
	}
	where := line(string(e.Session))
	if e.Message != "" {
		where += "@" + line(string(e.Message))
	}
	text := fmt.Sprintf("%d  %s  %-18s  %s", e.Seq, clock(e.Time), e.Type, where)
	if e.Label != "" {
		text += "  " + line(e.Label)
	}
	if e.Role != "" {
		text += "  " + p.paint.role(clean(e.Role))
	}
	if e.Tool != "" {
		text += "  " + line(e.Tool)
	}
	if e.Mode != "" && e.Mode != turn.Normal {
		text += "  " + clean(string(e.Mode))
	}
	if e.State != "" {
		text += "  " + clean(string(e.State))
	}
	if e.External {
		text += "  " + p.paint.dim("by another program")
	}
	const slow = 100
	if e.Behind > slow {
		text += "  " + p.paint.dim(fmt.Sprintf("%d behind", e.Behind))
	}
	fmt.Fprintln(p.stdout, text)
	return p.stdout.Flush()
}

// autoCheckpoints makes an automatic checkpoint of each of the messages, which arrived at
// the same moment. It prints errors and continues.
func (p *program) autoCheckpoints(ctx context.Context, w *workspace.Workspace, newest map[session.ID]events.Event) {
	for _, e := range newest {
		ref := string(e.Session) + "@" + string(e.Message)
		_, err := w.Checkpoint(ctx, ref, workspace.SnapshotOptions{Auto: true})
		if err != nil && ctx.Err() == nil {
			p.noteShared()("no checkpoint of " + ref + ": " + err.Error())
		}
	}
}

// clock formats the time of day of an event.
func clock(t time.Time) string { return t.Local().Format(time.TimeOnly) }
