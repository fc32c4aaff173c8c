package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace"
	"github.com/urfave/cli/v2"
)

func (p *program) configVerb() verb {
	return verb{
		name:  "config",
		args:  "[KEY [VALUE...]] [--user] [--add] [--unset]",
		short: "list or change settings",
		long: `Without KEY, config lists all settings, their values, and the source of each value: the workspace,
the user or the defaults. With KEY it prints one value; with VALUE it sets it, in config.json of the
workspace or, with --user, in your own file, which applies to all workspaces. A setting of the
workspace overrides yours; lists are combined. pager, trust and user.name are always set in your
file. Both files are JSON and can be edited by hand.`,
		example: `bough config import.skip "secret-*" --add
bough config retention.max_age 90d --user`,
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "user", DisableDefaultText: true, Usage: "read or change your own file"},
			&cli.BoolFlag{Name: "add", DisableDefaultText: true, Usage: "add VALUE to a list"},
			&cli.BoolFlag{Name: "unset", DisableDefaultText: true, Usage: "remove the setting from the file"},
		},
		max: 100,
		standalone: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) == 0 {
				if c.Bool("add") || c.Bool("unset") {
					return usageError("--add and --unset need a KEY")
				}
				return p.listSettings(c.Bool("user"))
			}
			s, ok := config.Find(words[0])
			if !ok {
				var keys []string
				for _, s := range config.Settings() {
					keys = append(keys, s.Key)
				}
				e := usageError("unknown setting %q%s", words[0], didYouMean(words[0], keys))
				e.Hint = "'bough config' lists the settings"
				return e
			}
			if len(words) == 1 && !c.Bool("unset") {
				if c.Bool("add") {
					return usageError("--add needs a VALUE for %s", s.Key)
				}
				return p.printSetting(s, c.Bool("user"))
			}
			return p.changeSetting(c, s, words[1:])
		},
	}
}

// settingsOf returns the settings of the workspace of the command line, or only the
// user's.
func (p *program) settingsOf(userOnly bool) (config.Layered, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return config.Layered{}, err
	}
	l, err := api.Settings(dir)
	if userOnly {
		l.Workspace = config.File{}
	}
	return l, err
}

func (p *program) listSettings(userOnly bool) error {
	l, err := p.settingsOf(userOnly)
	if err != nil {
		return err
	}
	for _, problem := range append(l.User.Check(), l.Workspace.Check()...) {
		p.note(problem.Error())
	}
	all := api.RowsOf(l)
	if p.json {
		return p.printJSON(all)
	}
	rows := all.Settings
	keys, values := 0, 0
	for _, r := range rows {
		keys = max(keys, len(r.Key))
		values = min(max(values, width(readable(r.Value, ", "))), 24)
	}
	for _, r := range rows {
		text := pad(r.Key, keys) + "  " + pad(clean(readable(r.Value, ", ")), values) + "  " + pad(string(r.From), len(config.Workspace))
		if r.From == config.Default {
			text = p.paint.dim(text)
		}
		if room := p.paint.width - keys - values - 15; p.paint.width > 0 && width(r.Doc) > room {
			text += "\n   "
		}
		fmt.Fprintln(p.stdout, text+"  "+p.paint.dim(r.Doc))
	}
	fmt.Fprintf(p.stderr, "Files: %s\n", clean(strings.Join(all.Files, ", ")))
	return nil
}

func (p *program) printSetting(s config.Setting, userOnly bool) error {
	l, err := p.settingsOf(userOnly)
	if err != nil {
		return err
	}
	r, err := api.CheckedRow(s, l)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(r)
	}
	if text := readable(r.Value, "\n"); text != "" {
		fmt.Fprintln(p.stdout, clean(text))
	}
	return nil
}

// readable formats a JSON value as it is typed, with sep between the elements of a list.
func readable(value []byte, sep string) string {
	var v any
	_ = json.Unmarshal(value, &v) // it was checked when the file was read
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		var words []string
		for _, w := range v {
			words = append(words, fmt.Sprint(w))
		}
		return strings.Join(words, sep)
	case map[string]any:
		var words []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			words = append(words, fmt.Sprintf("%s=%v", name, v[name]))
		}
		return strings.Join(words, sep)
	}
	return string(value)
}

// changeSetting sets or removes a setting in one of the two files.
func (p *program) changeSetting(c *cli.Context, s config.Setting, words []string) error {
	var value []byte
	switch {
	case c.Bool("unset") && len(words) > 0:
		return usageError("--unset takes no value")
	case c.Bool("unset"):
	case c.Bool("add") && s.Kind != config.Texts:
		return usageError("%s is not a list: --add does not apply", s.Key)
	default:
		var err error
		if value, err = s.Parse(words); err != nil {
			return usageError("%s", err)
		}
		if s.Key == "import.skip" {
			if err := workspace.CheckSkip(words); err != nil {
				return err
			}
		}
	}
	file, w, err := p.settingsFile(c, s)
	if err != nil {
		return err
	}
	change := func() error {
		var err error
		if file, err = config.Read(file.Path, file.Scope); err != nil {
			return api.SettingError(err)
		}
		if c.Bool("add") {
			if value, err = api.AddSetting(file, s, value); err != nil {
				return err
			}
		}
		return file.Set(s.Key, value)
	}
	if w == nil {
		err = change()
	} else if err = api.CheckSetting(c.Context, w, s, value); err == nil {
		err = w.ChangeSettings(c.Context, change)
	}
	if err != nil {
		return err
	}
	if s.Key == mcpCommands {
		if err := p.approveCommands(c.Context, value); err != nil {
			return err
		}
	}
	if p.json {
		r := api.SettingRow{Key: s.Key, Value: value, From: file.Scope, Doc: s.Doc}
		if value == nil {
			r.Value = []byte("null")
		}
		return p.printJSON(r)
	}
	if value == nil {
		fmt.Fprintf(p.stdout, "Removed %s from %s\n", s.Key, clean(file.Path))
		return nil
	}
	fmt.Fprintf(p.stdout, "Set %s to %s in %s\n", s.Key, clean(readable(value, ", ")), clean(file.Path))
	return nil
}

// settingsFile returns the file in which s is to be changed, without its content, and the
// workspace if it is the one of that.
func (p *program) settingsFile(c *cli.Context, s config.Setting) (config.File, *workspace.Workspace, error) {
	if c.Bool("user") || s.UserOnly {
		path, err := config.UserPath()
		return config.File{Path: path, Scope: config.User}, nil, err
	}
	w, err := p.open(c.Context, checkpoint.Retention{})
	if err != nil {
		return config.File{}, nil, err
	}
	return config.File{Path: filepath.Join(w.Dir(), config.Name), Scope: config.Workspace}, w, nil
}
