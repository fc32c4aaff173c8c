package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/title"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) remoteShareVerb() verb {
	return verb{
		parent: "remote",
		name:   "share",
		args:   "SESSION… URL|NAME [--with KEYFILE] [--name NAME] [--machine NAME] [--as PERSON]",
		short:  "share some conversations through a remote of their own",
		long: `Makes a remote at URL that has only these conversations, and sends them. URL is as for 'bough remote
add', another prefix or folder than that of any other remote. The key of the share is made: KEYFILE
must not exist, as another key may open what others must not read. With the NAME or the URL of a
share instead, adds the conversations to it.

SESSION is a conversation with its continuations and all branches in place. A reference with a
message, such as SESSION@MESSAGE, is only the path to there: it becomes a branch, which is shared, and
the conversation that it comes from is not. Nothing else is sent: no other conversation and no id or
title of one, no agents, explorations, learnings, heads, files that no shared message names, nor the
log.

The others do 'bough remote add NAME URL --key KEYFILE' and 'bough pull'. What they add to these
conversations comes back with 'bough pull NAME'; from their workspace too, nothing else is sent to the
share. 'bough push' and 'bough sync' without a name do not mean a share, unless it is the only remote.`,
		example: `bough remote share "Plan the trip" s3://my-bucket/trip --with ~/trip.key
bough remote share "Fix the parser@849dde0b" file:///mnt/nas/parser --with ~/parser.key --name parser
bough remote share Bread trip`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "with", DefaultText: "remotes/NAME.key in your configuration folder", Usage: "the key of the share is in `KEYFILE`, or is made there"},
			&cli.StringFlag{Name: "name", DefaultText: "the last part of URL", Usage: "call the remote `NAME` here"},
			&cli.StringFlag{Name: "machine", DefaultText: "the host name", Usage: "call this machine `NAME`"},
			&cli.StringFlag{Name: "as", DefaultText: "the setting user.name, else that of git, else your login", Usage: "you are `PERSON` for the others"},
		},
		min:     2,
		max:     1 << 20,
		changes: true,
		action:  p.remoteShare,
	}
}

// A shared is the document of 'bough remote share'.
type shared struct {
	remote.Info
	Created bool           `json:"created"`  // the remote is new in its store
	KeyMade bool           `json:"key_made"` // the file of the key is new
	Shared  []string       `json:"shared"`   // the first sessions of the conversations
	Sent    remote.Traffic `json:"sent"`
}

func (p *program) remoteShare(c *cli.Context, w *workspace.Workspace) error {
	ctx := c.Context
	args := c.Args().Slice()
	refs, target := args[:len(args)-1], args[len(args)-1]
	for _, flag := range []string{"with", "name", "machine", "as"} {
		if c.IsSet(flag) && c.String(flag) == "" {
			return usageError("--%s is empty", flag)
		}
	}
	list, err := remote.List(w)
	if err != nil {
		return err
	}
	known := slices.IndexFunc(list, func(r remote.Info) bool { return r.Name == target })
	if known < 0 && !strings.Contains(target, "://") {
		e := usageError("%q is neither a URL nor the name of a share", target)
		e.Hint = "'bough remote share SESSION… URL --with KEYFILE'; " + seeHelp("remote share")
		return e
	}
	if known >= 0 && !list[known].Share {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote %q is no share: it has all of the workspace", target)}
	}
	lines, names, err := sharedLines(ctx, w, refs)
	if err != nil {
		return err
	}
	var done shared
	if known >= 0 {
		done.Info = list[known]
	} else {
		name := c.String("name")
		if name == "" {
			name = strings.TrimSuffix(path.Base(strings.TrimRight(target, "/")), ".bough")
		}
		o := remote.AddOptions{URL: target, Key: c.String("with"), Machine: c.String("machine"), Person: c.String("as"), Share: true}
		if o.Key == "" {
			if o.Key, err = remoteKeyPath(name); err != nil {
				return err
			}
		}
		added, err := remote.Add(ctx, w, name, o, p.remoteOptions(false))
		if err != nil {
			return keyAdvice(err, o.Key)
		}
		done.Info, done.Created, done.KeyMade = added.Info, added.Created, added.KeyMade
	}
	for i, line := range lines {
		if line != "" {
			continue
		}
		// The title of a branch would be that of the conversation, which is not shared.
		snap, err := w.Branch(ctx, refs[i], workspace.SnapshotOptions{KeepHead: true, Name: names[i]})
		if err != nil {
			return err
		}
		lines[i] = snap.ID
	}
	done.Shared = lines
	r, _, err := p.openRemote(ctx, w, done.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Share(ctx, lines); err != nil {
		return err
	}
	result, err := r.Push(ctx, remote.PushOptions{})
	if err != nil {
		return err
	}
	if done.Sent = result.Sent; p.json {
		return p.printJSON(done)
	}
	p.meter.clear()
	p.printShared(done, titles(ctx, w))
	return nil
}

// sharedLines returns the first sessions of the lines that references name; for one that names a path in
// a line "", and a title of the path.
func sharedLines(ctx context.Context, w *workspace.Workspace, refs []string) (lines, names []string, err error) {
	lines, names = make([]string, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		line, err := w.Mirror().Line(ctx, ref)
		if isNotFound(err) {
			names[i], err = sharedName(ctx, w, ref)
		}
		if err != nil {
			return nil, nil, err
		}
		lines[i] = line
	}
	return lines, names, nil
}

// sharedName returns a title for the path to a message: the first words of its user.
func sharedName(ctx context.Context, w *workspace.Workspace, ref string) (string, error) {
	shown, err := w.Show(ctx, ref, session.ReadOptions{})
	if err != nil {
		return "", err
	}
	for i := range shown.Messages {
		if name, ok := title.Of(transcript.FromSession(shown.Messages[i], "")); ok {
			return name, nil
		}
	}
	if len(shown.Messages) == 0 {
		return "", &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%q has no messages", ref)}
	}
	return "Shared", nil
}

func (p *program) printShared(s shared, titles map[string]string) {
	for _, id := range s.Shared {
		fmt.Fprintln(p.stdout, strings.TrimRight(tail(id)+"  "+line(titles[id]), " "))
	}
	fmt.Fprintf(p.stderr, "Shared %s through %s at %s: sent %s, %s\n", count(len(s.Shared), "conversation"), line(s.Name), clean(s.URL), count(s.Sent.Records, "record"), size(s.Sent.Bytes))
	if s.KeyMade {
		fmt.Fprintf(p.stderr, "Made the key %s\n  Anyone with this file can read the share and add to it.\n", clean(s.Key))
	}
	fmt.Fprintf(p.stderr, "The others need a copy of the key:\n  bough remote add %s %s --key KEYFILE && bough pull\n'bough sync %s' gets what they add.\n", line(s.Name), clean(s.URL), line(s.Name))
}
