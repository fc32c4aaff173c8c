package main

import (
	"context"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

// completeRemote returns the completions of an argument of a verb of remotes, after a word: names of
// remotes, or the sessions of the default remote. It reports whether the argument is one of these.
func (p *program) completeRemote(ctx context.Context, v verb, before string) ([]candidate, bool) {
	takesName := slices.ContainsFunc(v.flags, func(f cli.Flag) bool { return takesValue(f) && slices.Contains(f.Names(), "remote") })
	names := strings.HasPrefix(v.args, "[NAME]") && (v.name == "push" || v.name == "sync" || v.parent == "remote") || v.full() == "remote rm"
	names = names || before == "--remote" && takesName
	if v.full() == "remote map" && (before == "--rm" || before == v.name) {
		return p.completeProjects(ctx), true
	}
	if v.full() == "remote share" && !strings.HasPrefix(before, "-") {
		return p.references(ctx, v, ""), true
	}
	sessions := v.name == "pull" && before != "--only" || v.full() == "remote purge"
	if !names && !sessions {
		return nil, false
	}
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil, true
	}
	if names {
		return remoteNames(w), true
	}
	return p.remoteSessions(ctx, w, v.name == "pull"), true
}

// completeProjects returns the known projects.
func (p *program) completeProjects(ctx context.Context) (found []candidate) {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return nil
	}
	list, err := w.Projects(ctx)
	if err != nil {
		return nil
	}
	for _, one := range list {
		found = append(found, candidate{one.ID, one.Folder})
	}
	return found
}

// remoteNames returns the names of the remotes, nil if they cannot be read.
func remoteNames(w *workspace.Workspace) (found []candidate) {
	list, err := remote.List(w)
	if err != nil {
		return nil
	}
	for _, r := range list {
		found = append(found, candidate{r.Name, r.URL})
	}
	return found
}

// remoteSessions returns the sessions of the default remote as it was read last or, with absent, those
// of them that are not in the workspace.
func (p *program) remoteSessions(ctx context.Context, w *workspace.Workspace, absent bool) (found []candidate) {
	r, _, err := p.openRemote(ctx, w, "")
	if err != nil {
		return nil
	}
	defer r.Close()
	list, err := r.Sessions(ctx)
	if err != nil {
		return nil
	}
	for _, s := range list {
		if !absent || !s.Here {
			found = append(found, candidate{lookup.Short(s.ID), line(s.Title)}, candidate{s.Title, "in the remote"})
		}
	}
	return found
}
