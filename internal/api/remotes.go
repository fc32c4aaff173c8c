package api

import (
	"context"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

type aRemote struct {
	Remote string `json:"remote,omitempty" jsonschema:"the name of a remote; by default the only one, or the one named origin"`
}

type exchangeIn struct {
	aRemote
	Files  *bool `json:"files,omitempty" jsonschema:"whether states of files are exchanged too; by default as the remote was added"`
	DryRun bool  `json:"dry_run,omitempty" jsonschema:"only return what would be done"`
}

type checkIn struct {
	aRemote
	ReadData bool `json:"read_data,omitempty" jsonschema:"read all that a new machine reads, and all packs, also what this machine has read before"`
}

type pullIn struct {
	aRemote
	Session string   `json:"session_id,omitempty" jsonschema:"only this session of the remote, with those that it needs: an id, a title or the beginning of an id; by default all"`
	Only    []string `json:"only,omitempty" jsonschema:"only things of these kinds: sessions, bookmarks, agents, explorations, learnings or attachments; by default all"`
	Files   *bool    `json:"files,omitempty" jsonschema:"whether states of files are received too; by default as the remote was added"`
	DryRun  bool     `json:"dry_run,omitempty" jsonschema:"only return what would be done"`
}

func remoteVerbs() []*Verb {
	return []*Verb{
		verb("remote/ls", Reads, "Remotes", "Lists the remotes of the workspace, through which it meets those of other machines. Makes no request.",
			func(_ context.Context, w *workspace.Workspace, _ none) (*Remotes, error) { return RemotesOf(w) }),
		remoteVerb("remote/check", Reads, "Check a remote", "Reads what is new in a remote, or all of it, and lists its machines and what is wrong there. Changes nothing.",
			func(ctx context.Context, env Env, in checkIn) (*remote.Report, error) {
				return onRemote(ctx, env, in.Remote, func(ctx context.Context, r *remote.Remote) (*remote.Report, error) {
					return r.Check(ctx, remote.CheckOptions{ReadData: in.ReadData})
				})
			}),
		remoteVerb("push", Changes, "Push to a remote", "Sends to a remote what the workspace has and the remote does not.",
			func(ctx context.Context, env Env, in exchangeIn) (*remote.Result, error) {
				return onRemote(ctx, env, in.Remote, func(ctx context.Context, r *remote.Remote) (*remote.Result, error) {
					return r.Push(ctx, remote.PushOptions{Files: in.Files, DryRun: in.DryRun})
				})
			}),
		remoteVerb("pull", Changes, "Pull from a remote", "Gets what other machines sent to a remote and applies it as one operation. A conflict is not a failure: it keeps both sides.",
			func(ctx context.Context, env Env, in pullIn) (*remote.Result, error) {
				return onRemote(ctx, env, in.Remote, func(ctx context.Context, r *remote.Remote) (*remote.Result, error) {
					return Pull(ctx, r, in.Session, remote.PullOptions{Only: in.Only, Files: in.Files, DryRun: in.DryRun})
				})
			}),
		remoteVerb("sync", Changes, "Sync with a remote", "Pulls from a remote, and pushes to it.",
			func(ctx context.Context, env Env, in exchangeIn) (*remote.Result, error) {
				return onRemote(ctx, env, in.Remote, func(ctx context.Context, r *remote.Remote) (*remote.Result, error) {
					return r.Sync(ctx, remote.PullOptions{Files: in.Files, DryRun: in.DryRun})
				})
			}),
		remoteVerb("ls/remote", Reads, "Conversations of a remote", "Reads what is new in a remote, and lists its sessions; here says whether the workspace has one. Changes nothing in the workspace.",
			func(ctx context.Context, env Env, in aRemote) (*RemoteListing, error) {
				return onRemote(ctx, env, in.Remote, ListRemote)
			}),
	}
}

// onRemote opens a remote, by its name or the default one, for do.
func onRemote[Out any](ctx context.Context, env Env, name string, do func(context.Context, *remote.Remote) (Out, error)) (out Out, err error) {
	info, err := remote.Find(env.Workspace, name)
	if err != nil {
		return out, err
	}
	if env.Remotes == nil {
		return out, &fault.Error{Code: fault.Refused, Message: "this server reaches no remotes"}
	}
	o := env.Remotes(info)
	if env.OnProgress != nil {
		o.Progress = env.OnProgress
	}
	r, err := remote.Open(ctx, env.Workspace, info.Name, o)
	if err != nil {
		return out, err
	}
	defer r.Close()
	return do(ctx, r)
}

// Remotes lists the remotes of a workspace.
type Remotes struct {
	Remotes []remote.Info `json:"remotes"`
}

// RemotesOf returns the remotes of a workspace.
func RemotesOf(w *workspace.Workspace) (*Remotes, error) {
	list, err := remote.List(w)
	if err != nil {
		return nil, err
	}
	return &Remotes{append([]remote.Info{}, list...)}, nil
}

// A RemoteListing lists the sessions of a remote.
type RemoteListing struct {
	Remote   string                 `json:"remote"`
	Sessions []remote.RemoteSession `json:"sessions"`
	Stale    string                 `json:"stale,omitempty"` // why the list is that of the last time, if it is
}

// ListRemote reads what is new in a remote, and lists its sessions. If the store cannot be read, it
// lists those of the last time.
func ListRemote(ctx context.Context, r *remote.Remote) (*RemoteListing, error) {
	_, err := r.Fetch(ctx)
	if ctx.Err() != nil {
		return nil, err
	}
	stale := ""
	if err != nil {
		stale = workspace.Explain(err).Message
	}
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	list, err := r.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	return &RemoteListing{info.Name, list, stale}, nil
}

// Pull pulls from a remote: all, or the session that a word refers to.
func Pull(ctx context.Context, r *remote.Remote, session string, o remote.PullOptions) (*remote.Result, error) {
	if session != "" {
		one, err := r.FindSession(ctx, session)
		if err != nil {
			return nil, err
		}
		o.Session = one.ID
	}
	return r.Pull(ctx, o)
}
