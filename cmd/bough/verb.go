package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// verbs are all verbs, in the order of the help.
func (p *program) verbs() []verb {
	return []verb{
		p.newVerb(), p.appendVerb(),
		p.statusVerb(), p.lsVerb(), p.chooseVerb(), p.searchVerb(), p.showVerb(), p.treeVerb(), p.branchesVerb(), p.lineageVerb(), p.diffVerb(), p.compareVerb(), p.suggestVerb(),
		p.checkpointVerb(), p.branchVerb(), p.restoreVerb(), p.rewindVerb(),
		p.mergeVerb(), p.pickVerb(), p.editVerb(), p.replayVerb(), p.pruneContextVerb(),
		p.renameVerb(), p.rmVerb(), p.forgetVerb(),
		p.bookmarkVerb(), p.bookmarksVerb(),
		p.filesVerb(), p.blameVerb(), p.bisectVerb(),
		p.agentVerb(), p.steerVerb(), p.followUpVerb(), p.queueVerb(),
		p.exploreVerb(), p.learningsVerb(),
		p.logVerb(), p.undoVerb(), p.redoVerb(),
		p.importVerb(), p.exportVerb(), p.resumeVerb(), p.inspectVerb(),
		p.remoteVerb(), p.pushVerb(), p.pullVerb(), p.syncVerb(),
		p.watchVerb(), p.daemonVerb(), p.duVerb(), p.pruneVerb(), p.packVerb(), p.unpackVerb(), p.trashVerb(), p.configVerb(), p.serveVerb(), p.openPageVerb(), p.uiVerb(), p.mcpVerb(), p.hookVerb(), p.machineSetupVerb(),
		p.doctorVerb(), p.demoVerb(), p.completionVerb(), p.manVerb(), p.versionVerb(), p.helpVerb(),
	}
}

// verb returns the verb with that name or alias.
func (p *program) verb(name string) (verb, bool) { return find(p.verbs(), name) }

func find(verbs []verb, name string) (verb, bool) {
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name || slices.Contains(v.aliases, name) })
	if i < 0 {
		return verb{}, false
	}
	return verbs[i], true
}

// app returns the command line of bough, with the verb of that name if there is one.
func (p *program) app(name string) *cli.App {
	app := &cli.App{
		Name:           "bough",
		HideHelp:       true,
		Writer:         p.stdout,
		ErrWriter:      p.stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   onUsageError,

		DisableSliceFlagSeparator: true, // a path can have a comma
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return unknownCommand("", c.Args().First(), p.verbs())
			}
			return p.help()
		},
	}
	if v, ok := p.verb(name); ok {
		app.Commands = []*cli.Command{p.command(v)}
	}
	return app
}

func onUsageError(_ *cli.Context, err error, _ bool) error {
	return flagError("", nil, err)
}

func seeHelp(verb string) string { return "see 'bough help " + verb + "'" }

// A verb is a verb of the command, with its help, flags and action.
type verb struct {
	name       string
	parent     string // the parent verb, "" for none
	subs       []verb // verbs below it; with an action, args may take their place
	aliases    []string
	args       string // for the usage line
	short      string
	long       string
	example    string
	flags      []cli.Flag
	changes    bool // it changes the workspace
	min        int  // minimum number of arguments
	max        int
	hint       string   // for a wrong number of arguments, "" for the default
	choices    []choice // lists to choose missing arguments from, beginning with the first argument
	action     func(*cli.Context, *workspace.Workspace) error
	standalone func(*cli.Context) error // instead of action, without a workspace
}

// acts reports whether the verb does something itself.
func (v verb) acts() bool { return v.action != nil || v.standalone != nil }

func (v verb) names() []string { return append([]string{v.name}, v.aliases...) }

// full returns the name as it is typed.
func (v verb) full() string { return strings.TrimPrefix(v.parent+" "+v.name, " ") }

// command returns the verb as a command of the app.
func (p *program) command(v verb) *cli.Command {
	var subs []*cli.Command
	for _, sub := range v.subs {
		subs = append(subs, p.command(sub))
	}
	return &cli.Command{
		Name:        v.name,
		Aliases:     v.aliases,
		Flags:       v.flags,
		Subcommands: subs,
		HideHelp:    true,
		OnUsageError: func(_ *cli.Context, err error, _ bool) error {
			return flagError(v.full(), v.flags, err)
		},
		Action: func(c *cli.Context) error {
			if len(v.subs) > 0 && !v.acts() {
				if c.NArg() > 0 {
					return unknownCommand(v.full(), c.Args().First(), v.subs)
				}
				return p.help(v.full())
			}
			if n := c.NArg(); n < len(v.choices) && !p.json && p.canChoose() && p.lacks(c, v) {
				return p.complement(c, v.choices[n:])
			}
			if n := c.NArg(); n < v.min || n > v.max {
				e := usageError("'bough %s' takes %s; got %s", v.full(), argCount(v), count(n, "argument"))
				e.Hint = cmp.Or(v.hint, seeHelp(v.full()))
				return e
			}
			defer p.page(v)()
			if v.standalone != nil {
				return withHelp(v, v.standalone(c))
			}
			if v.changes {
				ctx, stop := untilInterrupt(c.Context)
				defer stop()
				c.Context = ctx
			}
			keep, err := retention(c, time.Now())
			if err != nil {
				return withHelp(v, err)
			}
			w, err := p.open(c.Context, keep)
			if err != nil {
				return err
			}
			return withHelp(v, v.action(c, w))
		},
	}
}

// withHelp replaces the general hint of err with one to the help of the verb.
func withHelp(v verb, err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != fault.Usage || e.Hint != listsVerbs {
		return err
	}
	hinted := *e
	hinted.Hint = seeHelp(v.full())
	return &hinted
}

// lacks reports whether a command line lacks an argument without a default. The default of
// an optional argument is the head.
func (p *program) lacks(c *cli.Context, v verb) bool {
	if c.NArg() < v.min {
		return true
	}
	w, err := p.open(c.Context, checkpoint.Retention{})
	if err != nil {
		return false
	}
	s, err := w.Status(c.Context)
	return err == nil && s.Head == nil
}

// complement lets the user choose the missing arguments and runs the command line again
// with them.
func (p *program) complement(c *cli.Context, missing []choice) error {
	w, err := p.open(c.Context, checkpoint.Retention{})
	if err != nil {
		return err
	}
	refs, err := p.chooseMissing(c.Context, w, missing)
	if err != nil {
		return err
	}
	args := p.args
	if !slices.Contains(args, "--") {
		args = append(args, "--")
	}
	p.args = append(args, refs...)
	return p.app(verbOf(args)).RunContext(c.Context, append([]string{c.App.Name}, p.args...))
}

// untilInterrupt returns a context that ends with an interrupt or a termination signal, so
// that a change stops between two steps. Without it an interrupt ends the program at once,
// as it should while nothing changes or a question is open.
func untilInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP) // the terminal is gone
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	return ctx, stop
}

// argCount describes the arguments of a verb, without its flags.
func argCount(v verb) string {
	words := strings.Fields(v.args)
	for i, word := range words {
		if strings.HasPrefix(word, "[--") {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		return "no arguments"
	}
	return strings.Join(words, " ")
}
