package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) remoteShareVerb() verb {
	return verb{
		parent: "remote",
		name:   "share",
		args:   "SESSION… URL|NAME [--with KEYFILE] [--name NAME] [--machine NAME] [--as PERSON] [--one-writer] [--synced]",
		short:  "share some conversations through a remote of their own",
		long: `Makes a remote at URL that has only these conversations, and sends them. URL is as for 'bough remote
add', another prefix or folder than that of any other remote. The key of the share is made: KEYFILE
must not exist, as another key may open what others must not read. With the NAME or the URL of a
share of this workspace, adds the conversations to it; so a command that was interrupted can be
repeated.

SESSION is a conversation with its continuations and all branches in place. A reference with a
message, such as SESSION@MESSAGE, is only the path to there: it becomes a branch, which is shared, and
the conversation that it comes from is not. A path that the share has already makes no other branch.
Nothing else is sent: no other conversation and no id or title of one, no agents, explorations,
learnings, heads, files that no shared message names, nor the log. Messages are sent without what bough
noted in them of conversations that are not shared; but their text is sent as it is, and the text of a
merge may name the conversation that it merged. bough says so before it sends one.

The others do 'bough remote add NAME URL --key KEYFILE' and 'bough pull'. What they add to these
conversations comes back with 'bough pull NAME'; from their workspace too, nothing else is sent to the
share. 'bough push' and 'bough sync' without a name do not mean a share, unless it is the only remote.`,
		example: `bough remote share "Plan the trip" s3://my-bucket/trip --with ~/trip.key
bough remote share "Fix the parser@849dde0b" file:///mnt/nas/parser --with ~/parser.key --name parser
bough remote share Bread trip`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "with", DefaultText: "remotes/NAME.key in your configuration folder", Usage: "create the key of the share as `KEYFILE`; for a share that exists, the file that has its key"},
			&cli.StringFlag{Name: "name", DefaultText: "the last part of URL", Usage: "call the remote `NAME` here"},
			&cli.StringFlag{Name: "machine", DefaultText: "the host name", Usage: "call this machine `NAME`"},
			&cli.StringFlag{Name: "as", DefaultText: "the setting user.name, else that of git, else your login", Usage: "you are `PERSON` for the others"},
			&cli.BoolFlag{Name: "one-writer", DisableDefaultText: true, Usage: "only this machine will write; for a store that cannot refuse to overwrite an object"},
			&cli.BoolFlag{Name: "synced", DisableDefaultText: true, Usage: "the folder is one that a program copies between machines"},
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
	if c.Bool("synced") && strings.Contains(target, "://") && !isFolderURL(target) {
		return usageError(syncedUsage)
	}
	list, err := remote.List(w)
	if err != nil {
		return err
	}
	known := slices.IndexFunc(list, func(r remote.Info) bool { return r.Name == target || sameURL(r.URL, target) })
	if known < 0 && !strings.Contains(target, "://") {
		e := usageError("%q is neither a URL nor the name of a share", target)
		e.Hint = "'bough remote share SESSION… URL --with KEYFILE'; " + seeHelp("remote share")
		return e
	}
	if known >= 0 {
		if r := list[known]; !r.Share {
			return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote %q is no share: it has all of the workspace", r.Name)}
		} else if name := c.String("name"); name != "" && name != r.Name {
			return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the share at %s is called %q here", clean(r.URL), r.Name)}
		}
	}
	var done shared
	if known >= 0 {
		done.Info = list[known]
	} else {
		name := c.String("name")
		if name == "" {
			name = strings.TrimSuffix(path.Base(strings.TrimRight(target, "/")), ".bough")
		}
		o := remote.AddOptions{
			URL: target, Key: c.String("with"), Machine: c.String("machine"), Person: c.String("as"), Share: true, Refs: refs,
			OneWriter: c.Bool("one-writer"), Synced: c.Bool("synced"),
		}
		if o.Key == "" {
			if o.Key, err = remoteKeyPath(name); err != nil {
				return err
			}
		}
		added, err := remote.Add(ctx, w, name, o, p.remoteOptions(o.OneWriter))
		if err != nil {
			return keyAdvice(err, o.Key)
		}
		done.Info, done.Created, done.KeyMade = added.Info, added.Created, added.KeyMade
	}
	r, _, err := p.openRemote(ctx, w, done.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	if done.Shared, err = r.Share(ctx, refs); err != nil {
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

// sameURL reports whether two URLs are the same but for slashes at the end.
func sameURL(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

func (p *program) printShared(s shared, titles map[string]string) {
	for _, id := range s.Shared {
		fmt.Fprintln(p.stdout, strings.TrimRight(tail(id)+"  "+line(titles[id]), " "))
	}
	fmt.Fprintf(p.stderr, "Shared %s through %s at %s: sent %s, %s\n", count(len(s.Shared), "conversation"), line(s.Name), clean(s.URL), count(s.Sent.Records, "record"), size(s.Sent.Bytes))
	if s.KeyMade {
		fmt.Fprintf(p.stderr, "Made the key %s\n  Anyone with this file can read the share and add to it.\n", clean(s.Key))
	}
	synced := ""
	if s.Synced {
		synced = " --synced"
	}
	fmt.Fprintf(p.stderr, "The others need a copy of the key:\n  bough remote add %s %s --key KEYFILE%s && bough pull\n'bough sync %s' gets what they add.\n", line(s.Name), clean(s.URL), synced, line(s.Name))
}
