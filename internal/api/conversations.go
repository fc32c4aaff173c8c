package api

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/when"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/search"
)

// none are no arguments.
type none struct{}

// headRef is the REF of a verb without one.
const headRef = "HEAD"

type partial struct {
	Partial bool `json:"partial,omitempty" jsonschema:"use the remaining messages if files of the conversation are missing or damaged"`
}

func (p partial) options() session.ReadOptions { return session.ReadOptions{Partial: p.Partial} }

type cut struct {
	Strict bool `json:"strict,omitempty" jsonschema:"fail if the message is inside a tool call, instead of stepping back before it"`
	partial
}

func (c cut) options() checkpoint.CutOptions {
	return checkpoint.CutOptions{Strict: c.Strict, ReadOptions: c.partial.options()}
}

type optionalRef struct {
	Ref string `json:"ref,omitempty" jsonschema:"a message or the end of a session: SESSION, SESSION@MESSAGE, a bookmark, or HEAD, the default; ~N goes N messages up"`
}

func (r optionalRef) orHead() string { return cmp.Or(r.Ref, headRef) }

type aSession struct {
	Session string `json:"session_id" jsonschema:"the id of a session, its title, or a unique prefix of its id"`
}

type optionalSession struct {
	Session string `json:"session_id,omitempty" jsonschema:"the id of a session, its title, or a unique prefix of its id"`
}

// optionalConversation is a conversation, by default that of the head.
type optionalConversation struct {
	optionalSession
	partial
}

func (c optionalConversation) orHead() string { return cmp.Or(c.Session, headRef) }

type where struct {
	Dir    string `json:"dir,omitempty" jsonschema:"only conversations about this folder, an absolute path, or a folder below it"`
	Branch string `json:"branch,omitempty" jsonschema:"only conversations on this git branch"`
	Model  string `json:"model,omitempty" jsonschema:"only conversations with a model whose name contains this"`
}

type listIn struct {
	Title string `json:"title,omitempty" jsonschema:"only sessions with this text in their title, ignoring case"`
	Since string `json:"since,omitempty" jsonschema:"only sessions active at this time or later: a date or an age, such as 2026-02-03, yesterday or 7d"`
	Date  string `json:"date,omitempty" jsonschema:"only sessions active in this day, week, month or year, such as 2026-02"`
	Kind  string `json:"kind,omitempty" jsonschema:"only sessions of this kind: root, continuation, branch or checkpoint"`
	Sort  string `json:"sort,omitempty" jsonschema:"the order, by default active: last active first"`
	Limit int    `json:"limit,omitempty" jsonschema:"the maximum number of sessions, by default all"`
	Tool  string `json:"tool,omitempty" jsonschema:"only conversations imported from this tool"`
	All   bool   `json:"all,omitempty" jsonschema:"also the conversations of sub-agents"`
	where
}

type searchIn struct {
	Text       string `json:"text,omitempty" jsonschema:"words that must all occur, ignoring case; \"a phrase\" in double quotes; -word excludes"`
	Words      string `json:"words,omitempty" jsonschema:"as text, but a hyphen is an ordinary character"`
	Regexp     string `json:"regexp,omitempty" jsonschema:"a Go regular expression that must match"`
	Context    int    `json:"context,omitempty" jsonschema:"the number of messages to return before and after each match"`
	Role       string `json:"role,omitempty" jsonschema:"only messages of this role: user, assistant, system or tool"`
	Tool       string `json:"tool,omitempty" jsonschema:"only calls and results of the tool with this name, ignoring case"`
	Since      string `json:"since,omitempty" jsonschema:"only messages of this time or later: a date or an age"`
	Until      string `json:"until,omitempty" jsonschema:"only messages up to this time; a date includes the whole day"`
	In         string `json:"in,omitempty" jsonschema:"only the conversation of this session"`
	Limit      *int   `json:"limit,omitempty" jsonschema:"the maximum number of matches, by default 50; 0 for all"`
	PerSession *int   `json:"per_session,omitempty" jsonschema:"the maximum number of matches in each conversation, by default 5, with in all; 0 for all"`
	From       string `json:"from,omitempty" jsonschema:"only conversations imported from this tool"`
	where
}

type newIn struct {
	Title   string `json:"title,omitempty" jsonschema:"the title of the conversation"`
	Dialect string `json:"dialect,omitempty" jsonschema:"how links and times are written, by default as in the existing sessions"`
}

type appendIn struct {
	optionalSession
	Text   string `json:"text" jsonschema:"the text of the message"`
	Role   string `json:"role,omitempty" jsonschema:"the author: user (the default), assistant, system or tool"`
	Parent string `json:"parent_id,omitempty" jsonschema:"the message that this one answers, by default the head, else the newest message"`
	Kind   string `json:"kind,omitempty" jsonschema:"clarification_opened or clarification_closed begins or ends a group of questions"`
}

type showIn struct {
	optionalRef
	Last  int    `json:"last,omitempty" jsonschema:"only this many messages, the last ones"`
	Since string `json:"since,omitempty" jsonschema:"only messages of this time or later: a date or an age"`
	partial
}

type diffIn struct {
	A string `json:"a" jsonschema:"the end of the first path, a REF as in show"`
	B string `json:"b" jsonschema:"the end of the second path"`
	partial
}

type branchIn struct {
	optionalRef
	Name string `json:"name,omitempty" jsonschema:"the title, by default made from that of the conversation"`
	cut
}

type checkpointIn struct {
	branchIn
	Packed bool `json:"packed,omitempty" jsonschema:"store messages once for all packed checkpoints"`
	Task   bool `json:"task,omitempty" jsonschema:"store the turn, its tasks and the queue of the agent too"`
}

type rewindIn struct {
	Ref string `json:"ref" jsonschema:"where the head moves: SESSION, SESSION@MESSAGE or a bookmark; ~N goes N messages up"`
	cut
}

type renameIn struct {
	aSession
	Title string `json:"title" jsonschema:"the new title"`
}

type removeIn struct {
	aSession
	Force bool `json:"force,omitempty" jsonschema:"remove the session even if checkpoints or branches were made from it, or if it is a tree of an agent"`
	Line  bool `json:"line,omitempty" jsonschema:"remove all files of the conversation"`
}

type forgetIn struct {
	aSession
	Copies bool   `json:"copies,omitempty" jsonschema:"also delete the conversations that contain its messages"`
	DryRun bool   `json:"dry_run,omitempty" jsonschema:"only list what would be deleted"`
	Yes    string `json:"yes,omitempty" jsonschema:"confirms with the id of the conversation, as a dry run returns it in session_id"`
}

type bookmarkIn struct {
	optionalRef
	Label   string `json:"label" jsonschema:"the label, one line, unique in the workspace"`
	Summary string `json:"summary,omitempty" jsonschema:"a description"`
	Scope   string `json:"scope,omitempty" jsonschema:"what the label covers, by default the message; branch is the path to it"`
	Move    bool   `json:"move,omitempty" jsonschema:"move the label if another message has it"`
}

type labelIn struct {
	Label string `json:"label" jsonschema:"the label of the bookmark"`
}

func conversationVerbs() []*Verb {
	return []*Verb{
		verb("new", Changes, "New conversation", "Creates an empty conversation and moves the head there.", newSession),
		verb("append", Changes, "Append a message", "Adds a message to a session or, without one, at the head. A message to a checkpoint goes to a new branch of it.", appendMessage),
		verb("status", Reads, "Status", "Returns the head, the number of messages since the last checkpoint, and the agents with a running turn.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (*workspace.Status, error) {
				return w.Status(ctx)
			}),
		verb("ls", Reads, "List sessions", "Lists the sessions, last active first.", list),
		verb("search", Reads, "Search", "Finds messages in all conversations.", find),
		verb("show", Reads, "Show a conversation", "Returns the path from the first message to a message, over all files of the conversation.", show),
		verb("tree", Reads, "Tree of sessions", "Returns where conversations branch: all sessions, or the tree that contains one.",
			func(ctx context.Context, w *workspace.Workspace, in optionalSession) (*workspace.Forest, error) {
				return w.Tree(ctx, in.Session)
			}),
		verb("tree/messages", Reads, "Tree of messages", "Returns the tree of the messages of a conversation, by default that of the head.",
			func(ctx context.Context, w *workspace.Workspace, in optionalConversation) (*workspace.MessageTree, error) {
				return w.MessageTree(ctx, in.orHead(), in.options())
			}),
		verb("branches", Reads, "Branches of a conversation", "Lists the last message of each branch inside a conversation, by default that of the head, oldest first.",
			func(ctx context.Context, w *workspace.Workspace, in optionalConversation) (*workspace.Branches, error) {
				return w.Branches(ctx, in.orHead(), workspace.BranchesOptions{Messages: true, ReadOptions: in.options()})
			}),
		verb("lineage", Reads, "Ancestors of a session", "Lists the ancestors of a session, root first.",
			func(ctx context.Context, w *workspace.Workspace, in struct {
				aSession
				partial
			}) (*workspace.Lineage, error) {
				return w.Lineage(ctx, in.Session, in.options())
			}),
		verb("diff", Reads, "Compare two paths", "Returns the last message that two paths have in common, and the messages that only one of them has.",
			func(ctx context.Context, w *workspace.Workspace, in diffIn) (*workspace.Diff, error) {
				return w.Diff(ctx, in.A, in.B, in.options())
			}),
		compareVerb(),
		comparePromptVerb(),
		suggestVerb(),
		verb("checkpoint", Changes, "Create a checkpoint", "Makes a read-only copy of the path to a message, which later changes do not affect.",
			func(ctx context.Context, w *workspace.Workspace, in checkpointIn) (*workspace.Snapshot, error) {
				return w.Checkpoint(ctx, in.orHead(), workspace.SnapshotOptions{Name: in.Name, Packed: in.Packed, Task: in.Task, CutOptions: in.cut.options()})
			}),
		verb("branch", Changes, "Branch", "Copies the path to a message to a new session and moves the head there.",
			func(ctx context.Context, w *workspace.Workspace, in branchIn) (*workspace.Snapshot, error) {
				return w.Branch(ctx, in.orHead(), workspace.SnapshotOptions{Name: in.Name, CutOptions: in.cut.options()})
			}),
		verb("restore", Changes, "Restore a checkpoint", "Moves the head to the end of a checkpoint. The next message goes to a new branch of it.",
			func(ctx context.Context, w *workspace.Workspace, in aSession) (*lines.Position, error) {
				return w.Restore(ctx, in.Session)
			}),
		verb("rewind", Changes, "Move the head", "Moves the head to any message. Later messages stay; the next message begins another branch.",
			func(ctx context.Context, w *workspace.Workspace, in rewindIn) (*lines.Position, error) {
				return w.Rewind(ctx, in.Ref, in.cut.options())
			}),
		mergeVerb(),
		verb("rename", Changes, "Rename a session", "Changes the title of a session.",
			func(ctx context.Context, w *workspace.Workspace, in renameIn) (*workspace.Entry, error) {
				return w.Rename(ctx, in.Session, in.Title)
			}),
		verb("rm", Destroys, "Remove a session", "Moves a session to the trash, and returns what it was.",
			func(ctx context.Context, w *workspace.Workspace, in removeIn) (*workspace.Entry, error) {
				return w.Remove(ctx, in.Session, workspace.RemoveOptions{Force: in.Force, Line: in.Line})
			}),
		verb("forget", Destroys, "Forget a conversation", "Deletes a conversation permanently, also from the log and the trash. It must be confirmed with its id.", forgetLine),
		verb("bookmark", Changes, "Add a bookmark", "Adds a label to a message.",
			func(ctx context.Context, w *workspace.Workspace, in bookmarkIn) (*bookmark.Bookmark, error) {
				return w.Bookmark(ctx, in.orHead(), in.Label, workspace.BookmarkOptions{Summary: in.Summary, Scope: bookmark.Scope(in.Scope), Move: in.Move})
			}),
		verb("bookmark/rm", Destroys, "Remove a bookmark", "Removes a label and keeps the message.",
			func(ctx context.Context, w *workspace.Workspace, in labelIn) (*bookmark.Bookmark, error) {
				return w.RemoveBookmark(ctx, in.Label)
			}),
		verb("bookmarks", Reads, "List bookmarks", "Lists all bookmarks, or those in the conversation of a session, oldest first.",
			func(ctx context.Context, w *workspace.Workspace, in optionalSession) (*workspace.Bookmarks, error) {
				return w.Bookmarks(ctx, workspace.BookmarksOptions{In: in.Session})
			}),
	}
}

func newSession(ctx context.Context, w *workspace.Workspace, in newIn) (*workspace.Entry, error) {
	return w.NewSession(ctx, workspace.NewOptions{Title: in.Title, Dialect: in.Dialect})
}

func appendMessage(ctx context.Context, w *workspace.Workspace, in appendIn) (*workspace.AppendResult, error) {
	return w.Append(ctx, workspace.Append{
		Session: in.Session, Text: in.Text, Role: cmp.Or(in.Role, "user"), Parent: in.Parent, Kind: turn.Kind(in.Kind),
	})
}

func (w where) options(tool string) (lines.Where, error) {
	o := lines.Where{Dir: w.Dir, Branch: w.Branch, Model: w.Model}
	if tool != "" {
		list, unknown := convert.FormatsOf(tool)
		if unknown >= 0 {
			return o, unknownName("tool", tool, slices.Concat(convert.Formats, convert.Programs()))
		}
		for _, f := range list {
			o.Tools = append(o.Tools, f.Name)
		}
	}
	return o, nil
}

func list(ctx context.Context, w *workspace.Workspace, in listIn) (*workspace.Listing, error) {
	if err := notNegative("limit", in.Limit); err != nil {
		return nil, err
	}
	o := workspace.ListOptions{Kind: session.Kind(in.Kind), Title: in.Title, Sort: workspace.SortKey(in.Sort), Limit: in.Limit, SubAgents: in.All}
	var err error
	if o.Where, err = in.where.options(in.Tool); err != nil {
		return nil, err
	}
	if o.Since, _, err = span("since", in.Since); err != nil {
		return nil, err
	}
	start, end, err := span("date", in.Date)
	switch {
	case err != nil:
		return nil, err
	case start.Equal(end) && !start.IsZero():
		return nil, badArgument("date is a day, a week, a month or a year, not %q", in.Date)
	case start.After(o.Since):
		o.Since = start
	}
	o.Until = end
	return w.Sessions(ctx, o)
}

func find(ctx context.Context, w *workspace.Workspace, in searchIn) (*search.Result, error) {
	o := search.Options{
		Text: in.Text, Words: in.Words, Regexp: in.Regexp, Role: in.Role, Tool: in.Tool, In: in.In,
		Limit: orElse(in.Limit, 50), Context: in.Context,
	}
	if in.In == "" {
		o.PerSession = 5
	}
	o.PerSession = orElse(in.PerSession, o.PerSession)
	if in.Text+in.Words+in.Regexp+in.Role+in.Tool+in.Since+in.Until == "" {
		return nil, badArgument("no argument selects messages: give text, words, regexp, role, tool, since or until")
	}
	err := cmp.Or(notNegative("limit", o.Limit), notNegative("per_session", o.PerSession), notNegative("context", o.Context))
	if err != nil {
		return nil, err
	}
	if o.Where, err = in.where.options(in.From); err != nil {
		return nil, err
	}
	if o.Since, _, err = span("since", in.Since); err != nil {
		return nil, err
	}
	if _, o.Until, err = span("until", in.Until); err != nil {
		return nil, err
	}
	return w.Search(ctx, o)
}

func show(ctx context.Context, w *workspace.Workspace, in showIn) (*workspace.Conversation, error) {
	if err := notNegative("last", in.Last); err != nil {
		return nil, err
	}
	since, _, err := span("since", in.Since)
	if err != nil {
		return nil, err
	}
	c, err := w.Show(ctx, in.orHead(), in.partial.options())
	if err != nil {
		return nil, err
	}
	if !since.IsZero() {
		c.CutBefore(c.Since(since))
	}
	if in.Last > 0 {
		c.CutBefore(len(c.Messages) - in.Last)
	}
	return c, nil
}

func forgetLine(ctx context.Context, w *workspace.Workspace, in forgetIn) (*forget.Result, error) {
	planned, err := Forget(ctx, w, in.Session, forget.Options{Copies: in.Copies, DryRun: true})
	if err != nil || in.DryRun {
		return planned, err
	}
	if in.Yes != planned.Session {
		return nil, badArgument("yes must repeat the id of the conversation, %s", planned.Session)
	}
	return Forget(ctx, w, planned.Session, forget.Options{Copies: in.Copies})
}

// Forget deletes a conversation permanently, and names the remotes that have it as far as this workspace has
// read them.
func Forget(ctx context.Context, w *workspace.Workspace, name string, o forget.Options) (*forget.Result, error) {
	result, err := w.Forget(ctx, name, o)
	if err != nil {
		return nil, err
	}
	result.Remotes = []forget.Holder{}
	list, _ := remote.List(w) // what is forgotten is forgotten, whatever the remotes are like
	for _, info := range list {
		if ids := inRemote(ctx, w, info.Name, result.Sessions); len(ids) > 0 {
			result.Remotes = append(result.Remotes, forget.Holder{Remote: info.Name, Sessions: ids})
		}
	}
	return result, nil
}

// inRemote returns those of the sessions that a remote has, as far as it was read. It makes no request.
func inRemote(ctx context.Context, w *workspace.Workspace, name string, ids []string) []string {
	r, err := remote.Open(ctx, w, name, remote.Options{})
	if err != nil {
		return nil
	}
	defer r.Close()
	all, _ := r.Sessions(ctx)
	var list []string
	for _, s := range all {
		if slices.Contains(ids, s.ID) {
			list = append(list, s.ID)
		}
	}
	return list
}

// span returns the start and the end of a time as people type it, zero times for "".
func span(name, text string) (start, end time.Time, err error) {
	if text == "" {
		return start, end, nil
	}
	if start, end, err = when.Span(text, time.Now()); err != nil {
		return start, end, badArgument("%s: %v", name, err)
	}
	return start, end, nil
}

// bestTen returns the limit of a list that has the best ones first: 10 by default.
func bestTen(limit *int) (int, error) {
	n := orElse(limit, 10)
	return n, notNegative("limit", n)
}

func notNegative(name string, n int) error {
	if n < 0 {
		return badArgument("%s must be 0 or more, not %d", name, n)
	}
	return nil
}

func orElse[T any](p *T, byDefault T) T {
	if p == nil {
		return byDefault
	}
	return *p
}
