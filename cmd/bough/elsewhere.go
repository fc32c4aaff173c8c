package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/urfave/cli/v2"
)

// isNotFound reports whether an error says that something does not exist.
func isNotFound(err error) bool { return err != nil && workspace.Explain(err).Code == fault.NotFound }

// fetchSession receives the session that ref names, if it is not in the workspace and a remote has
// it, and reports whether it did.
func (p *program) fetchSession(ctx context.Context, w *workspace.Workspace, ref string) (bool, error) {
	list, err := remote.List(w)
	if err != nil {
		return false, nil // a remote that cannot be read names nothing
	}
	path := withoutSteps(ref)
	name, _, _ := strings.Cut(path, "@")
	words := []string{ref, name}
	if heads, _, err := p.headsNamed(ctx, w, path); err == nil && len(heads) == 1 {
		words = []string{heads[0].head.Session}
	}
	for _, word := range words {
		for _, info := range list {
			if got, err := p.fetchFrom(ctx, w, info, word); got || err != nil {
				return got, err
			}
		}
	}
	return false, nil
}

// withoutSteps returns a REF without the steps up at its end, as in Trip~1^.
func withoutSteps(ref string) string {
	for {
		short, up := strings.CutSuffix(ref, "^")
		if !up {
			short, up = strings.CutSuffix(strings.TrimRight(ref, "0123456789"), "~")
		}
		if !up {
			return ref
		}
		ref = short
	}
}

func (p *program) fetchFrom(ctx context.Context, w *workspace.Workspace, info remote.Info, word string) (bool, error) {
	r, err := remote.Open(ctx, w, info.Name, p.remoteOptions(info.OneWriter))
	if err != nil {
		return false, nil
	}
	defer r.Close()
	one, err := r.KnownSession(ctx, word)
	if errors.Is(err, fault.Ambiguous) {
		return false, err
	}
	if err != nil || one.Here {
		return false, nil
	}
	result, err := r.Pull(ctx, remote.PullOptions{Session: one.ID, Cached: true})
	if err == nil && len(result.Left) > 0 { // its packs were replaced since it was read
		result, err = r.Pull(ctx, remote.PullOptions{Session: one.ID})
	}
	if err == nil && len(result.Left) > 0 && !slices.Contains(result.Sessions, one.ID) {
		err = errors.New(result.Left[0].Why)
	}
	if err != nil {
		p.note(fmt.Sprintf("%s is in the remote %s, which cannot be read: %v", one.ID, info.Name, err))
		return false, nil
	}
	p.meter.clear()
	fmt.Fprintf(p.stderr, "Got %s from %s\n", line(tail(one.ID)), line(info.Name))
	return true, nil
}

// orFetched calls do and, if that finds no session for ref, once more after the session was received
// from a remote that has it.
func orFetched[T any](ctx context.Context, p *program, w *workspace.Workspace, ref string, do func() (T, error)) (T, error) {
	result, err := do()
	if !isNotFound(err) {
		return result, err
	}
	got, failed := p.fetchSession(ctx, w, ref)
	if failed != nil {
		return result, failed
	}
	if got {
		return do()
	}
	return result, err
}

// A headThere is the head of another machine in a remote.
type headThere struct {
	remote string
	head   mirror.Head
}

// headsNamed returns the heads that MACHINE/HEAD may mean, each once, and the names of the machines that have set theirs.
func (p *program) headsNamed(ctx context.Context, w *workspace.Workspace, name string) (found []headThere, known []string, err error) {
	machine, ok := strings.CutSuffix(name, "/HEAD")
	if !ok {
		return nil, nil, nil
	}
	list, err := remote.List(w)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range list {
		r, err := remote.Open(ctx, w, info.Name, p.remoteOptions(info.OneWriter))
		if err != nil {
			continue
		}
		heads, err := r.Heads(ctx)
		r.Close()
		head, ok := heads[machine]
		if ok && err == nil && !slices.ContainsFunc(found, func(h headThere) bool { return h.head == head }) {
			found = append(found, headThere{info.Name, head})
		}
		known = append(known, slices.Sorted(maps.Keys(heads))...)
	}
	return found, known, nil
}

// headElsewhere returns the head of another machine, which has the name MACHINE/HEAD; "" for another name. The error is
// that machines of this name in several remotes have different heads.
func (p *program) headElsewhere(ctx context.Context, w *workspace.Workspace, name string) (in, message string, err error) {
	found, known, err := p.headsNamed(ctx, w, name)
	switch {
	case err != nil || len(found) == 0 && len(known) == 0:
		return "", "", nil
	case len(found) == 0:
		p.note(fmt.Sprintf("no machine %q has set its head; these have: %s", strings.TrimSuffix(name, "/HEAD"), strings.Join(known, ", ")))
		return "", "", nil
	case len(found) > 1:
		return "", "", lookup.Ambiguous("head", name, found, func(h headThere) fault.Candidate {
			return fault.Candidate{Session: session.ID(h.head.Session), Message: session.ID(h.head.Message), Kind: "head", Title: h.remote}
		})
	}
	return found[0].head.Session, found[0].head.Message, nil
}

// lsRemote lists the sessions of a remote that the workspace does not have.
func (p *program) lsRemote(c *cli.Context, w *workspace.Workspace) error {
	for _, flag := range []string{"title", "since", "date", "kind", "sort", "limit", "tool", "dir", "branch", "model"} {
		if c.IsSet(flag) {
			return usageError("--remote excludes --%s", flag)
		}
	}
	ctx, stop := untilInterrupt(c.Context)
	defer stop()
	r, info, err := p.openRemote(ctx, w, c.Args().First())
	if err != nil {
		return err
	}
	defer r.Close()
	list, err := api.ListRemote(ctx, r)
	if err != nil {
		return err
	}
	if list.Stale != "" {
		p.note("the list is that of the last time: " + list.Stale)
	}
	if p.json {
		return p.printJSON(list)
	}
	p.meter.clear()
	p.listRemote(list.Sessions, info)
	return nil
}

func (p *program) listRemote(list []remote.RemoteSession, info remote.Info) {
	entries := make([]workspace.Entry, len(list))
	for i, s := range list {
		entries[i].ID = s.ID
	}
	short := shortIDs(entries)
	owners := map[string]bool{}
	widest := len("OWNER")
	for _, s := range list {
		owners[s.Owner] = true
		widest = max(widest, width(line(s.Owner)))
	}
	owner := func(name string) string {
		if len(owners) < 2 {
			return "" // all are of one person
		}
		return pad(name, widest) + "  "
	}
	absent := 0
	for _, s := range list {
		if s.Here {
			continue
		}
		if absent++; absent == 1 {
			fmt.Fprintln(p.stdout, p.paint.dim("SESSION   MESSAGES  "+owner("OWNER")+"TITLE"))
		}
		row := fmt.Sprintf("%s  %*d  ", pad(short(s.ID), 8), len("MESSAGES"), s.Count) + owner(line(s.Owner))
		fmt.Fprintln(p.stdout, row+p.paint.bold(p.paint.fit(line(s.Title), p.paint.width-width(row))))
	}
	if absent == 0 {
		fmt.Fprintf(p.stderr, "%s has %s, all of them here\n", line(info.Name), count(len(list), "session"))
	} else {
		fmt.Fprintf(p.stderr, "%s has %s; %d of them not here\n", line(info.Name), count(len(list), "session"), absent)
		fmt.Fprintln(p.stderr, "'bough pull SESSION' gets one, 'bough pull' all.")
	}
}

// noteRemotes notes which remotes still have what was forgotten here.
func (p *program) noteRemotes(f *forget.Result) {
	for _, r := range f.Remotes {
		for _, id := range r.Sessions {
			fmt.Fprintf(p.stderr, "The remote %s still has it, and so has what is stored here of the remote; 'bough remote purge %s --remote %s' takes it out\n", line(r.Remote), clean(id), line(r.Remote))
		}
	}
}

// eachRemote calls each with the remotes of a workspace that can be opened.
func (p *program) eachRemote(ctx context.Context, w *workspace.Workspace, each func(*remote.Remote, remote.Info)) {
	list, err := remote.List(w)
	if err != nil {
		return
	}
	for _, info := range list {
		if r, err := remote.Open(ctx, w, info.Name, p.remoteOptions(info.OneWriter)); err == nil {
			each(r, info)
			r.Close()
		}
	}
}
