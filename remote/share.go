package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/title"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Share adds sessions to a share. A reference to a session adds its line, with all continuations
// and in-place branches. A reference to a message adds only the path to it: Share makes a branch
// with the path, a session of its own, unless the share has the path already. It returns the first
// sessions of the lines; the next Push sends them. The remote must be a share, see [AddOptions].
func (r *Remote) Share(ctx context.Context, refs []string) ([]string, error) {
	lines, err := linesOf(ctx, r.w, refs)
	if err != nil {
		return nil, err
	}
	have, err := r.Lines()
	if err != nil {
		return nil, err
	}
	all, added := make([]string, len(lines)), []string{}
	for i, line := range lines {
		if all[i] = line.id; line.path != nil {
			if all[i], err = lineWith(ctx, r.w, have, line.path); err != nil {
				return nil, err
			}
			if all[i] != "" {
				continue // to name a path does not name all of the line that has it
			}
			// The title of a branch would be that of the conversation, which is not shared.
			snap, err := r.w.Branch(ctx, refs[i], workspace.SnapshotOptions{KeepHead: true, Name: line.title})
			if err != nil {
				return nil, err
			}
			all[i] = snap.ID
			have = append(have, snap.ID)
		}
		added = append(added, all[i])
	}
	return all, r.addLines(ctx, added)
}

// addLines adds lines to those that a share has.
func (r *Remote) addLines(ctx context.Context, lines []string) error {
	unlock, err := lock(ctx, r.root, "remote share")
	if err != nil {
		return err
	}
	defer unlock()
	c, err := readConfig(r.root, r.name)
	if err != nil {
		return err
	}
	if !c.Share {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote %q has all of the workspace", r.name)}
	}
	named := func(id string) bool {
		line, err := r.w.Mirror().Line(ctx, id)
		return err == nil && slices.Contains(lines, line)
	}
	return writeParts(r, &c, union(c.Lines, lines...), slices.DeleteFunc(slices.Clone(c.Taken), named))
}

// A shareable is what a reference shares: a line, or a path to a message without the rest of its
// conversation.
type shareable struct {
	id    string   // the first session of the line; "" for a path
	path  []string // the ids of its messages, from the root
	title string   // of a path: the first words of its user
}

// linesOf returns what references share.
func linesOf(ctx context.Context, w *workspace.Workspace, refs []string) ([]shareable, error) {
	list := make([]shareable, len(refs))
	for i, ref := range refs {
		id, err := w.Mirror().Line(ctx, ref)
		if list[i].id = id; errors.Is(err, fault.NotFound) {
			list[i], err = pathTo(ctx, w, ref)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func pathTo(ctx context.Context, w *workspace.Workspace, ref string) (to shareable, err error) {
	shown, err := w.Show(ctx, ref, session.ReadOptions{})
	if err != nil {
		return to, err
	}
	if len(shown.Messages) == 0 {
		return to, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%q has no messages", ref)}
	}
	for i := range shown.Messages {
		to.path = append(to.path, shown.Messages[i].ID)
		if name, ok := title.Of(transcript.FromSession(shown.Messages[i], "")); ok && to.title == "" {
			to.title = name
		}
	}
	to.title = cmp.Or(to.title, "Shared")
	return to, nil
}

// lineWith returns that of the lines whose first session has a path of messages, such as the branch that
// was made when the path was shared before; "" if there is none.
func lineWith(ctx context.Context, w *workspace.Workspace, lines, path []string) (string, error) {
	for _, id := range lines {
		messages, err := w.Mirror().Messages(ctx, id)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if hasPath(messages, path) {
			return id, nil
		}
	}
	return "", nil
}

// hasPath reports whether messages have a path from the root.
func hasPath(messages []mirror.Message, path []string) bool {
	parents := map[string]session.ID{}
	for _, m := range messages {
		parents[m.ID] = m.Parent
	}
	var before session.ID
	for _, id := range path {
		if parent, ok := parents[id]; !ok || parent != before {
			return false
		}
		before = session.ID(id)
	}
	return true
}

// Lines returns the first sessions of the lines that this workspace sends to a share: those that were
// named, and those that came from it.
func (r *Remote) Lines() ([]string, error) {
	c, err := readConfig(r.root, r.name)
	return c.Lines, err
}

// writeParts writes which lines a share has, and which sessions came from it, if they differ.
func writeParts(r *Remote, c *config, lines, taken []string) error {
	if slices.Equal(lines, c.Lines) && slices.Equal(taken, c.Taken) {
		return nil
	}
	c.Lines, c.Taken = lines, taken
	return writeConfig(r.root, *c)
}

// union returns list with those of more that it lacks.
func union(list []string, more ...string) []string {
	for _, id := range more {
		if !slices.Contains(list, id) {
			list = append(slices.Clip(list), id)
		}
	}
	return list
}

// checkKeyOf returns an error if the key of a remote to add would let its users read more than it: if the key of a
// share opens another remote of the workspace, or if a new share has a key that existed before, because others
// may have copies of that.
func checkKeyOf(w *workspace.Workspace, key *seal.KeyFile, a AddOptions, absent bool) error {
	if key.Made || !absent && !a.Share {
		return nil
	}
	list, err := List(w)
	if err != nil {
		return err
	}
	for _, info := range list {
		root, err := openFolder(w, info.Name)
		if err != nil {
			return err
		}
		c, err := readConfig(root, info.Name)
		root.Close()
		if err != nil {
			return err
		}
		if (a.Share || c.Share) && c.checkKey(key.Key) == nil {
			return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the key is that of the remote %q: with it, others could read both", info.Name),
				Hint: "a share needs a key of its own; a file that does not exist is made"}
		}
	}
	if a.Share && absent {
		return &fault.Error{Code: fault.Refused, Message: "the file of the key exists already: " + a.Key,
			Hint: "what it opens, others could read; a new share needs a key of its own, in a file that does not exist"}
	}
	return nil
}
