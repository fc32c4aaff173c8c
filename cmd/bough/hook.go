package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/cmd/bough/internal/setup"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/urfave/cli/v2"
)

func (p *program) hookVerb() verb {
	v := verb{
		name:  "hook",
		args:  "VERB",
		short: "let assistants save their conversations by themselves",
		long: `A hook is a command that an assistant runs at certain moments. With the hooks of bough, an assistant
makes an automatic checkpoint before each of your prompts, and saves the new messages after each
turn. With the setting hook.files, it also takes a state of the project folder before each prompt
and after each turn (see 'bough files'). The assistant waits for a few hundredths of a second, for a
state at most two seconds; what takes longer, such as the first hook in a long conversation,
continues in the background. Hooks never stop the assistant; errors go to .bough/hooks.log, which
'bough doctor' reports.

Tools: ` + strings.Join(programNames(hookPrograms()), ", "),
		example: `bough hook install claude-code codex`,
		subs: []verb{
			p.setupVerb(setupVerb{
				kind: setup.Hook, parent: "hook", install: true, programs: hookPrograms,
				short: "add the hooks of bough to the settings of assistants",
				long: `Adds the hooks to your settings of each TOOL; for opencode and pi, writes a plugin. They name this
workspace and this program by absolute paths. Shows each change first and asks. Other settings,
comments and layout are kept, and installing again changes nothing. --files sets hook.files in this
workspace: then hooks also take states of the project folder.`,
			}),
			p.setupVerb(setupVerb{
				kind: setup.Hook, parent: "hook", programs: hookPrograms,
				short: "remove the hooks of bough from the settings of assistants",
				long: `Removes what 'bough hook install' added for this workspace, and nothing else. If nothing else
changed meanwhile, each file is as it was before, byte for byte.`,
			}),
			p.setupStatusVerb(setup.Hook, "hook", hookPrograms),
			p.hookRunVerb(),
		},
	}
	for i := range v.subs {
		v.subs[i].parent = v.name
	}
	return v
}

// A setupVerb describes a verb that installs or uninstalls.
type setupVerb struct {
	kind        setup.Kind
	parent      string
	install     bool
	programs    func() []integration.Program
	short, long string
}

func (p *program) setupVerb(s setupVerb) verb {
	name, plan := "uninstall", setup.Site.Uninstall
	if s.install {
		name, plan = "install", setup.Site.Install
	}
	first := s.programs()[0].Name
	args := "TOOL… [--dry-run | --yes]"
	flags := []cli.Flag{
		&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "print the changes and make none"},
		&cli.BoolFlag{Name: "yes", DisableDefaultText: true, Usage: "make the changes without asking"},
	}
	if s.kind == setup.Hook && s.install {
		args = "TOOL… [--files] [--dry-run | --yes]"
		flags = append(flags, hookFilesFlag())
	}
	return verb{
		name:    name,
		parent:  s.parent,
		args:    args,
		short:   s.short,
		long:    s.long + "\n\nTools: " + strings.Join(programNames(s.programs()), ", "),
		example: "bough " + s.parent + " " + name + " " + first + " --dry-run",
		flags:   flags,
		min:     1,
		max:     100,
		standalone: func(c *cli.Context) error {
			tools, err := programsNamed(s.programs(), c.Args().Slice())
			if err != nil {
				return err
			}
			site, err := p.setupSite(s.install)
			if err != nil {
				return err
			}
			var changes []*setup.Change
			for _, t := range tools {
				ch, err := plan(site, s.kind, t)
				if err != nil {
					return err
				}
				changes = append(changes, ch)
			}
			if err := p.makeChanges(c, changes, s.install); err != nil || !c.Bool("files") || c.Bool("dry-run") {
				return err
			}
			return p.setHookFiles(c.Context)
		},
	}
}

func hookFilesFlag() cli.Flag {
	return &cli.BoolFlag{Name: "files", DisableDefaultText: true, Usage: "let hooks take states of the project folder too: set hook.files"}
}

// setHookFiles sets hook.files in the workspace.
func (p *program) setHookFiles(ctx context.Context) error {
	w, err := p.openShared(ctx)
	if err != nil {
		return err
	}
	return w.ChangeSettings(ctx, func() error {
		file, err := config.Read(filepath.Join(w.Dir(), config.Name), config.Workspace)
		if err != nil {
			return api.SettingError(err)
		}
		if string(file.Value("hook.files")) == "true" {
			return nil
		}
		if !p.json {
			fmt.Fprintln(p.stderr, "Hooks take states of the project folder, too; 'bough config hook.files --unset' ends that")
		}
		return file.Set("hook.files", []byte("true"))
	})
}

// makeChanges prints changes of settings, asks, and makes them.
func (p *program) makeChanges(c *cli.Context, changes []*setup.Change, install bool) error {
	n := 0
	for _, ch := range changes {
		if ch.Diff != "" {
			n++
		}
	}
	if !p.json {
		p.printChanges(changes, install)
	}
	if !c.Bool("dry-run") {
		p.stdout.Flush()
		if err := p.confirm(fmt.Sprintf("Change %s?", count(n, "file")), c.Bool("yes") || n == 0); err != nil {
			return err
		}
		if err := p.applyChanges(c.Context, changes, install); err != nil {
			return err
		}
	}
	if p.json {
		return p.printJSON(struct {
			Changes []*setup.Change `json:"changes"`
			DryRun  bool            `json:"dry_run"`
		}{changes, c.Bool("dry-run")})
	}
	if c.Bool("dry-run") || n == 0 {
		return nil
	}
	did := "Uninstalled"
	if install {
		did = "Installed"
	}
	fmt.Fprintf(p.stderr, "%s; changed %s\n", did, count(n, "file"))
	for _, ch := range changes {
		if install && ch.Note != "" && ch.Diff != "" {
			fmt.Fprintf(p.stderr, "  %s\n", ch.Note)
		}
	}
	return nil
}

// applyChanges makes changes of settings. An installation makes the workspace, too.
func (p *program) applyChanges(ctx context.Context, changes []*setup.Change, install bool) error {
	if install {
		w, err := p.openShared(ctx)
		if err != nil {
			return err
		}
		if err := w.Make(ctx); err != nil {
			return err
		}
	}
	for _, ch := range changes {
		if err := ch.Apply(); err != nil {
			return err
		}
	}
	return nil
}

// printChanges prints the diffs.
func (p *program) printChanges(changes []*setup.Change, install bool) {
	for _, ch := range changes {
		switch {
		case ch.Diff != "":
			p.printDiff(ch.Diff)
		case install:
			fmt.Fprintf(p.stderr, "%s: already installed in %s\n", ch.Tool, clean(ch.Path))
		default:
			fmt.Fprintf(p.stderr, "%s: not installed in %s\n", ch.Tool, clean(ch.Path))
		}
	}
}

// printDiff prints a unified diff.
func (p *program) printDiff(diff string) {
	for text := range strings.Lines(diff) {
		text = clean(strings.TrimRight(text, "\r\n"))
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"):
			text = p.paint.bold(text)
		case strings.HasPrefix(text, "+"):
			text = p.paint.green(text)
		case strings.HasPrefix(text, "-"):
			text = p.paint.yellow(text)
		}
		fmt.Fprintln(p.stdout, text)
	}
}

func (p *program) setupStatusVerb(kind setup.Kind, parent string, programs func() []integration.Program) verb {
	return verb{
		name:    "status",
		parent:  parent,
		short:   "list the tools and whether they are set up for this workspace",
		long:    `Reads the settings of all tools and changes nothing. A tool is found if its folder exists.`,
		example: "bough " + parent + " status",
		standalone: func(c *cli.Context) error {
			site, err := p.setupSite(false)
			if err != nil {
				return err
			}
			rows := site.Rows(kind, programs())
			if p.json {
				return p.printJSON(struct {
					Tools []setup.Row `json:"tools"`
				}{rows})
			}
			p.printSetupRows(rows)
			return nil
		},
	}
}

func (p *program) printSetupRows(rows []setup.Row) {
	for _, r := range rows {
		status := strings.ReplaceAll(string(r.Status), "_", " ")
		if !r.Found && r.Status == setup.Uninstalled {
			status = "tool not found"
		}
		text := fmt.Sprintf("%-15s %-15s %s", r.Tool, status, clean(r.Path))
		if r.Detail != "" {
			text += "\n" + strings.Repeat(" ", 16) + line(r.Detail)
		}
		fmt.Fprintln(p.stdout, text)
	}
}
