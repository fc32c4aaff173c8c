package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/s3"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) remoteVerb() verb {
	return verb{
		name:  "remote",
		short: "add, list, check and remove remotes, where workspaces meet",
		long: `A remote is a bucket or a folder through which the workspaces of several machines exchange their
conversations: 'bough push' sends what a workspace has, 'bough pull' gets what the others sent,
and 'bough sync' does both. All is encrypted with the key of the remote before it leaves the machine.
If there is one remote, or one named origin, the verbs use it unless another one is named.`,
		example: `bough remote add home s3://my-bucket/bough
bough sync`,
		subs: []verb{p.remoteAddVerb(), p.remoteLsVerb(), p.remoteSetVerb(), p.remoteRmVerb(), p.remoteCheckVerb(), p.remoteKeyVerb(), p.remoteMapVerb(), p.remoteShareVerb(), p.remoteRetireVerb(), p.remotePurgeVerb()},
	}
}

func remoteFlag() cli.Flag {
	return &cli.StringFlag{Name: "remote", DefaultText: "the only one, or the one named origin", Usage: "use the remote `NAME`"}
}

// openRemote opens the remote with a name, or the default one.
func (p *program) openRemote(ctx context.Context, w *workspace.Workspace, name string) (*remote.Remote, remote.Info, error) {
	info, err := remote.Find(w, name)
	if err != nil {
		return nil, info, err
	}
	r, err := remote.Open(ctx, w, info.Name, p.remoteOptions(info.OneWriter))
	return r, info, err
}

func (p *program) remoteOptions(oneWriter bool) remote.Options {
	return remote.Options{
		OpenStore: openStore(oneWriter),
		Person:    person(),
		Progress: func(r remote.Progress) {
			show := p.meter.update
			if r.Doing == "apply" { // it counts sessions
				show = p.meter.count
			}
			show(progressTexts[r.Doing], r.Done, r.Total)
		},
		Note: p.noteShared(),
	}
}

// openStore returns how stores other than folders are opened.
func openStore(oneWriter bool) func(context.Context, string) (bucket.Store, error) {
	return func(ctx context.Context, url string) (bucket.Store, error) {
		return s3.Open(ctx, url, s3.Options{OneWriter: oneWriter})
	}
}

// servedRemote returns how a server reaches a remote.
func (p *program) servedRemote(info remote.Info) remote.Options {
	return remote.Options{OpenStore: openStore(info.OneWriter), Person: person(), Note: p.noteShared()}
}

// progressTexts are what the meter shows for each kind of work.
var progressTexts = map[string]string{"send": "Sending", "get": "Receiving", "apply": "Adding sessions"}

func (p *program) remoteAddVerb() verb {
	return verb{
		parent: "remote",
		name:   "add",
		args:   "NAME URL [--key FILE] [--machine NAME] [--as PERSON] [--files] [--one-writer] [--synced]",
		short:  "add a remote to this workspace",
		long: `URL is one of

  s3://BUCKET/PREFIX             a bucket at AWS
  https://HOST/BUCKET/PREFIX     a bucket of another service that speaks S3; http:// on this machine only
  file:///FOLDER                 a folder that exists: on a disk, a network drive, or with --synced one
                                 that Syncthing, Dropbox or a similar program copies between machines

Credentials come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or from ~/.aws, never
from the URL, and are not stored.

The key encrypts all that is sent. On the first machine, add makes it; on each other machine, first
copy the file there ('bough remote key' prints where it is) and name it with --key. Without the key
nothing in the remote can be read: keep a copy of it.

Without --files, no states of files leave this machine or come to it. With it, each push, pull, sync
and watch exchanges also the states that belong to the conversations, with the content of the files:
see 'bough files'. 'bough push --files' does so once, and 'bough remote set NAME --files' changes it
later. Each machine decides for itself.

Several people can use one remote: 'bough ls --remote' lists who created each session. --as sets
your name.

Nothing of the workspace is sent before the first 'bough push'.`,
		example: `bough remote add home s3://my-bucket/bough
bough remote add home s3://my-bucket/bough --key ~/home.key
bough remote add nas file:///mnt/nas/bough --files
bough remote add team s3://our-bucket/bough --key ~/team.key --as Ada
bough remote add drop file:///home/me/Dropbox/bough --synced`,
		flags: []cli.Flag{
			&cli.StringFlag{Name: "key", DefaultText: "remotes/NAME.key in your configuration folder", Usage: "read the key from `FILE`, or make it there if the remote is new"},
			&cli.StringFlag{Name: "machine", DefaultText: "the host name", Usage: "call this machine `NAME`"},
			&cli.BoolFlag{Name: "files", DisableDefaultText: true, Usage: "exchange states of files too"},
			&cli.StringFlag{Name: "as", DefaultText: "the setting user.name, else that of git, else your login", Usage: "you are `PERSON` for the others"},
			&cli.BoolFlag{Name: "one-writer", DisableDefaultText: true, Usage: "only this machine will write; for a store that cannot refuse to overwrite an object"},
			&cli.BoolFlag{Name: "synced", DisableDefaultText: true, Usage: "the folder is one that a program copies between machines"},
		},
		min:     2,
		max:     2,
		changes: true,
		action:  p.remoteAdd,
	}
}

func (p *program) remoteAdd(c *cli.Context, w *workspace.Workspace) error {
	name, o := c.Args().Get(0), remote.AddOptions{
		URL: c.Args().Get(1), Key: c.String("key"), Machine: c.String("machine"), Person: c.String("as"),
		Files: c.Bool("files"), OneWriter: c.Bool("one-writer"), Synced: c.Bool("synced"),
	}
	for _, flag := range []string{"key", "machine", "as"} {
		if c.IsSet(flag) && c.String(flag) == "" {
			return usageError("--%s is empty", flag)
		}
	}
	if o.Synced && !isFolderURL(o.URL) {
		return usageError(syncedUsage)
	}
	if o.Key == "" {
		var err error
		if o.Key, err = remoteKeyPath(name); err != nil {
			return err
		}
	}
	added, err := remote.Add(c.Context, w, name, o, p.remoteOptions(o.OneWriter))
	if err != nil {
		return keyAdvice(err, o.Key)
	}
	if p.json {
		return p.printJSON(added)
	}
	p.meter.clear()
	if added.Created {
		fmt.Fprintf(p.stderr, "Created the remote %s at %s; this machine is %s\n", line(name), clean(added.URL), line(added.Label))
	} else {
		fmt.Fprintf(p.stderr, "Added the remote %s at %s; this machine is %s\n", line(name), clean(added.URL), line(added.Label))
	}
	if added.KeyMade {
		fmt.Fprintf(p.stderr, "Made the key %s\n  Keep a copy of it: without it nothing in the remote can be read. Other machines need it too.\n", clean(added.Key))
	}
	if added.Created && !added.KeyMade {
		fmt.Fprintf(p.stderr, "The key existed before: %s\n  Anyone who has a copy of it can read this remote too.\n", clean(added.Key))
	}
	if added.KeyShared {
		fmt.Fprintf(p.stderr, "Other users of this computer can read the key %s\n  'chmod 600' makes it yours alone.\n", clean(added.Key))
	}
	if added.Share {
		fmt.Fprintf(p.stderr, "It is a share: 'bough sync %s' gets its conversations and sends what is added to them, and nothing else.\n", line(name))
	} else {
		fmt.Fprintln(p.stderr, "'bough sync' exchanges this workspace with it.")
	}
	return nil
}

const syncedUsage = "--synced is for the URL of a folder, file:///FOLDER"

func isFolderURL(url string) bool { return strings.HasPrefix(strings.ToLower(url), "file:") }

// keyAdvice adds to an error about the key of a remote that exists how to get the right one.
func keyAdvice(err error, path string) error {
	const bring = "'bough remote key' on a machine that has the remote prints where its key is; copy that file here"
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	advised := *e
	switch {
	case errors.Is(err, seal.ErrKey):
		advised.Message = fmt.Sprintf("the key %s is not that of the remote at this URL; nothing was written", path)
		advised.Hint = bring + ", and name it with --key"
	case e.Code == fault.NotFound && strings.HasSuffix(e.Message, ": "+path):
		advised.Message = fmt.Sprintf("the remote exists already, and its key is not here: %s", path)
		advised.Hint = bring
	default:
		return err
	}
	return &advised
}

// remoteKeyPath returns the default place of the key of a remote.
func remoteKeyPath(name string) (string, error) {
	settings, err := config.UserPath()
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(name, `/\`) {
		name = "" // remote.Add refuses it
	}
	return filepath.Join(filepath.Dir(settings), "remotes", name+".key"), nil
}

func (p *program) remoteLsVerb() verb {
	return verb{
		parent:  "remote",
		name:    "ls",
		short:   "list the remotes of this workspace",
		long:    `Prints the name and the URL of each remote, and how this machine is called there. Makes no request.`,
		example: `bough remote ls`,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			all, err := api.RemotesOf(w)
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(all)
			}
			list := all.Remotes
			if len(list) == 0 {
				fmt.Fprintln(p.stderr, "No remotes. 'bough remote add NAME URL' adds one.")
			}
			widest := 0
			for _, r := range list {
				widest = max(widest, width(line(r.Name)))
			}
			for _, r := range list {
				if r.Problem != "" {
					fmt.Fprintf(p.stdout, "%s  %s\n", p.paint.bold(pad(line(r.Name), widest)), line(r.Problem))
					continue
				}
				about := "this machine is " + line(p.nameIn(c.Context, w, r))
				if r.Share {
					about += ", a share of some conversations"
				}
				if r.Files {
					about += ", with files"
				}
				if r.OneWriter {
					about += ", the only writer"
				}
				fmt.Fprintf(p.stdout, "%s  %s  %s\n", p.paint.bold(pad(line(r.Name), widest)), clean(r.URL), p.paint.dim("("+about+")"))
			}
			return nil
		},
	}
}

// nameIn returns how the others see this machine in a remote: with a part of its id if two have one name.
func (p *program) nameIn(ctx context.Context, w *workspace.Workspace, info remote.Info) string {
	r, _, err := p.openRemote(ctx, w, info.Name)
	if err != nil {
		return info.Label
	}
	defer r.Close()
	machines, _ := r.Machines(ctx) // none if it was not exchanged yet
	for _, m := range machines {
		if m.Own {
			return m.Name
		}
	}
	return info.Label
}

func (p *program) remoteRmVerb() verb {
	return verb{
		parent: "remote",
		name:   "rm",
		args:   "NAME",
		short:  "remove a remote from this workspace",
		long: `Removes what this workspace has of the remote. The conversations stay here, and what is in the bucket
or folder stays there, and so does the file of the key. Adding the remote again makes this workspace a
new machine; 'bough remote retire' takes the old one out.`,
		example: `bough remote rm home`,
		min:     1,
		max:     1,
		changes: true,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			info, err := remote.Find(w, c.Args().First())
			if err != nil {
				return err
			}
			if err := remote.Remove(c.Context, w, info.Name); err != nil {
				return err
			}
			if p.json {
				return p.printJSON(info)
			}
			if info.Problem != "" {
				fmt.Fprintf(p.stderr, "Removed the remote %s; its objects and its key stay\n", line(info.Name))
				return nil
			}
			fmt.Fprintf(p.stderr, "Removed the remote %s; the objects at %s and the key %s stay\n", line(info.Name), clean(info.URL), clean(info.Key))
			return nil
		},
	}
}

func (p *program) remoteKeyVerb() verb {
	return verb{
		parent: "remote",
		name:   "key",
		args:   "[NAME]",
		short:  "print where the key of a remote is",
		long: `Prints the path of the file with the key of the remote, which each machine needs. Anyone with this
file can read everything in the remote. The file is that of age: 'age -d -i FILE OBJECT | zstd -d' prints an
object, without bough.`,
		example: `scp "$(bough remote key home)" desktop:home.key`,
		max:     1,
		action: func(c *cli.Context, w *workspace.Workspace) error {
			info, err := remote.Find(w, c.Args().First())
			if err != nil {
				return err
			}
			if p.json {
				return p.printJSON(struct {
					Remote string `json:"remote"`
					Key    string `json:"key"`
				}{info.Name, info.Key})
			}
			fmt.Fprintln(p.stdout, clean(info.Key))
			return nil
		},
	}
}
