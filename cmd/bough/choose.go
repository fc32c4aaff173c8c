package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/search"
	"github.com/urfave/cli/v2"
)

// A choice is the kind of list from which a missing argument is chosen.
type choice string

const (
	chooseSession    choice = "session"
	chooseCheckpoint choice = "checkpoint"
	choosePacked     choice = "packed checkpoint"
	chooseMessage    choice = "message" // of the conversation at the head; if there is no head, of one that is chosen first
)

func (p *program) chooseVerb() verb {
	return verb{
		name:  "choose",
		args:  "[WORDS] [--kind K] [--in SESSION]",
		short: "choose a conversation or a message from a list",
		long: `Lists the sessions, last active first, with a preview, and filters them as you type. WORDS also
match the text of messages. Prints the id of the chosen session. With --in it lists the messages of
a conversation and prints SESSION@MESSAGE. On a terminal, a verb without its required SESSION or
REF shows the same list.`,
		example: `bough show "$(bough choose)"
bough branch "$(bough choose --in "Plan the trip")"`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "kind", Usage: "only sessions of kind `K`: root, continuation, branch or checkpoint"},
			inFlag("choose from the messages of `SESSION`"),
		},
		max: 100,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			if !p.canChoose() {
				e := usageError("'bough choose' needs a terminal")
				e.Hint = "in a script, take a SESSION or REF from 'bough ls' or 'bough search'"
				return e
			}
			query := strings.Join(c.Args().Slice(), " ")
			var ref string
			var err error
			if in := c.String("in"); in != "" {
				ref, err = p.chooseMessage(c.Context, w, in, query)
			} else {
				ref, err = p.chooseSession(c.Context, w, session.Kind(c.String("kind")), query, "Which session?")
			}
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(map[string]string{"ref": ref})
			}
			fmt.Fprintln(p.stdout, clean(ref))
			return nil
		},
	}
}

// canChoose reports whether a list can be shown on a terminal.
func (p *program) canChoose() bool {
	return p.hasTerminal() && os.Getenv("TERM") != "dumb"
}

// chooseMissing lets the user choose the missing arguments of a command line, and returns
// them.
func (p *program) chooseMissing(ctx context.Context, w *workspace.Workspace, missing []choice) (refs []string, err error) {
	for _, what := range missing {
		var ref string
		switch what {
		case chooseMessage:
			var in string
			if in, err = p.headOrChosen(ctx, w); err == nil {
				ref, err = p.chooseMessage(ctx, w, in, "")
			}
		case chooseCheckpoint:
			ref, err = p.chooseSession(ctx, w, session.Checkpoint, "", "Which checkpoint?")
		case choosePacked:
			ref, err = p.chooseAmong(ctx, w, session.Checkpoint, func(e workspace.Entry) bool { return e.Packed }, "", "Which packed checkpoint?")
		default:
			ref, err = p.chooseSession(ctx, w, "", "", "Which session?")
		}
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// headOrChosen returns the conversation at the head or, without a head, the one that the
// user chooses.
func (p *program) headOrChosen(ctx context.Context, w *workspace.Workspace) (string, error) {
	if s, err := w.Status(ctx); err != nil || s.Head != nil {
		return "HEAD", err
	}
	return p.chooseSession(ctx, w, "", "", "Which session?")
}

// chooseSession lets the user choose a session and returns its id.
func (p *program) chooseSession(ctx context.Context, w *workspace.Workspace, kind session.Kind, query, prompt string) (string, error) {
	return p.chooseAmong(ctx, w, kind, func(workspace.Entry) bool { return true }, query, prompt)
}

// chooseAmong is chooseSession with only the sessions that fit.
func (p *program) chooseAmong(ctx context.Context, w *workspace.Workspace, kind session.Kind, fits func(workspace.Entry) bool, query, prompt string) (string, error) {
	l, err := w.Sessions(ctx, workspace.ListOptions{Kind: kind})
	if err != nil {
		return "", err
	}
	l.Sessions = slices.DeleteFunc(l.Sessions, func(e workspace.Entry) bool { return !fits(e) })
	if len(l.Sessions) == 0 {
		return "", &fault.Error{Code: fault.NotFound, Message: "no sessions to choose from", Hint: "'bough import' imports the conversations of other assistants"}
	}
	items := make([]list.Item, len(l.Sessions))
	for i, e := range l.Sessions {
		items[i] = list.SessionItem(e, age(e.LastActive))
	}
	if query != "" {
		said, err := sessionsWith(ctx, w, query)
		if err != nil {
			return "", err
		}
		for i, e := range l.Sessions {
			if said[e.ID] {
				items[i].Hidden = query
			}
		}
	}
	i, err := p.choose(ctx, list.Options{Prompt: prompt, Items: items, Query: query, Preview: func(ctx context.Context, i int) string {
		conv, err := w.Show(ctx, l.Sessions[i].ID, session.ReadOptions{Partial: true})
		if err != nil {
			return clean(workspace.Explain(err).Message)
		}
		return preview(conv.Messages)
	}})
	if err != nil {
		return "", err
	}
	return l.Sessions[i].ID, nil
}

// sessionsWith returns the conversations with a message that matches a query.
func sessionsWith(ctx context.Context, w *workspace.Workspace, query string) (map[string]bool, error) {
	found, err := w.Search(ctx, search.Options{Words: query, PerSession: 1})
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, s := range found.Sessions {
		said[s.Session] = true
	}
	return said, nil
}

// chooseMessage lets the user choose a message of a conversation, listed newest first, and
// returns its REF.
func (p *program) chooseMessage(ctx context.Context, w *workspace.Workspace, in, query string) (string, error) {
	id, messages, err := messagesOf(ctx, w, in)
	if err != nil {
		return "", err
	}
	items := make([]list.Item, len(messages))
	for i, m := range messages {
		items[i] = list.Item{Text: line(m.Role()) + ": " + firstWords(m), Detail: line(m.ID)}
	}
	i, err := p.choose(ctx, list.Options{Prompt: "Which message?", Items: items, Query: query, Preview: func(_ context.Context, i int) string {
		return clean(messages[i].Text())
	}})
	if err != nil {
		return "", err
	}
	return id + "@" + messages[i].ID, nil
}

// messagesOf returns the messages of a conversation, those of its newest branch first and
// of each branch the newest first, and the id of its first file.
func messagesOf(ctx context.Context, w *workspace.Workspace, name string) (id string, messages []session.Message, err error) {
	const maxBranches = 64 // more would make the list too long
	tree, err := w.MessageTree(ctx, name, session.ReadOptions{Partial: true})
	if err != nil {
		return "", nil, err
	}
	leaves := slices.DeleteFunc(tree.Runs, func(r workspace.StraightRun) bool { return !r.Leaf })
	slices.SortStableFunc(leaves, func(a, b workspace.StraightRun) int { return b.LastActive.Compare(a.LastActive) })
	seen := map[string]bool{}
	for _, leaf := range leaves[:min(len(leaves), maxBranches)] {
		conv, err := w.Show(ctx, tree.Session+"@"+leaf.Last, session.ReadOptions{Partial: true})
		if err != nil {
			return "", nil, err
		}
		for _, m := range slices.Backward(conv.Messages) {
			if !seen[m.ID] {
				seen[m.ID] = true
				messages = append(messages, m)
			}
		}
	}
	return tree.Session, messages, nil
}

func (p *program) choose(ctx context.Context, o list.Options) (int, error) {
	p.meter.end()
	o.Color = p.talk.color
	i, err := list.Choose(ctx, p.stdin, p.screen, o)
	if errors.Is(err, list.ErrNone) {
		return i, &fault.Error{Code: fault.Failed, Message: "no choice was made", Err: err}
	}
	return i, err
}

// preview returns the last messages of a conversation, newest at the bottom, each cut to a
// few lines.
func preview(messages []session.Message) string {
	const most, lines = 12, 6
	var b strings.Builder
	if n := len(messages) - most; n > 0 {
		fmt.Fprintf(&b, "… %s before\n\n", count(n, "message"))
		messages = messages[n:]
	}
	for _, m := range messages {
		fmt.Fprintf(&b, "%s\n", clean(m.Role()))
		text := strings.Split(strings.TrimSpace(clean(m.Text())), "\n")
		more := max(0, len(text)-lines)
		b.WriteString(strings.Join(text[:len(text)-more], "\n"))
		if more > 0 {
			fmt.Fprintf(&b, "\n… %s", count(more, "line"))
		}
		b.WriteString("\n\n")
	}
	return b.String()
}
