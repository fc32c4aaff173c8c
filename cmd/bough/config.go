package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

func (p *program) configVerb() verb {
	return verb{
		name:  "config",
		args:  "[KEY [VALUE...]] [--user] [--add] [--unset]",
		short: "list or change settings",
		long: `Without KEY, config lists all settings, their values, and the source of each value: the workspace,
the user or the defaults. With KEY it prints one value; with VALUE it sets it, in config.json of
the workspace or, with --user, in your own file, which applies to all workspaces. A setting of the
workspace overrides yours; lists are combined. pager and trust apply only in your file. Both files
are JSON and can be edited by hand.`,
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

// settings returns the settings that apply in the workspace in dir.
func settings(dir string) (l config.Layered, err error) {
	path, err := config.UserPath()
	if err == nil {
		if l.User, err = config.Read(path, config.User); err != nil {
			return l, settingError(err)
		}
	}
	l.Workspace, err = config.Read(filepath.Join(dir, config.Name), config.Workspace)
	return l, settingError(err)
}

// settingsOf returns the settings of the workspace of the command line, or only the
// user's.
func (p *program) settingsOf(userOnly bool) (config.Layered, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return config.Layered{}, err
	}
	l, err := settings(dir)
	if userOnly {
		l.Workspace = config.File{}
	}
	return l, err
}

// settingError returns err with the code for damage if a file of settings is damaged.
func settingError(err error) error {
	var syntax *config.SyntaxError
	if errors.As(err, &syntax) {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "correct the file or move it away", Err: err}
	}
	return err
}

// A settingRow is a setting with its value and source.
type settingRow struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"` // null if there is none
	From  config.Scope    `json:"from"`
	Doc   string          `json:"doc"`
}

func rowOf(s config.Setting, l config.Layered) settingRow {
	value, from := l.Value(s)
	if value == nil {
		value = []byte("null")
	}
	return settingRow{s.Key, value, from, s.Doc}
}

func (p *program) listSettings(userOnly bool) error {
	l, err := p.settingsOf(userOnly)
	if err != nil {
		return err
	}
	for _, problem := range append(l.User.Check(), l.Workspace.Check()...) {
		p.note(problem.Error())
	}
	rows := []settingRow{}
	for _, s := range config.Settings() {
		rows = append(rows, rowOf(s, l))
	}
	if p.json {
		return p.printJSON(struct {
			Settings []settingRow `json:"settings"`
			Files    []string     `json:"files"`
		}{rows, files(l)})
	}
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
	fmt.Fprintf(p.stderr, "Files: %s\n", clean(strings.Join(files(l), ", ")))
	return nil
}

// files returns the paths of the files of settings.
func files(l config.Layered) []string {
	list := []string{}
	for _, f := range []config.File{l.User, l.Workspace} {
		if f.Path != "" {
			list = append(list, f.Path)
		}
	}
	return list
}

func (p *program) printSetting(s config.Setting, userOnly bool) error {
	l, err := p.settingsOf(userOnly)
	if err != nil {
		return err
	}
	r := rowOf(s, l)
	if err := s.Check(r.Value); err != nil && r.From != config.Default {
		return settingError(&config.SyntaxError{Path: string(r.From), Err: err})
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
	file, err := p.settingsFile(c, s)
	if err != nil {
		return err
	}
	var value []byte
	switch {
	case c.Bool("unset") && len(words) > 0:
		return usageError("--unset takes no value")
	case c.Bool("unset"):
	case c.Bool("add") && s.Kind != config.Texts:
		return usageError("%s is not a list: --add does not apply", s.Key)
	default:
		if old := file.Value(s.Key); c.Bool("add") && old != nil {
			var list []string
			if err := json.Unmarshal(old, &list); err != nil {
				return settingError(&config.SyntaxError{Path: file.Path, Err: s.Check(old)})
			}
			words = append(list, words...)
		}
		if value, err = s.Parse(words); err != nil {
			return usageError("%s", err)
		}
		switch {
		case s.Key == "import.skip":
			if err := workspace.CheckSkip(words); err != nil {
				return err
			}
		case s.Key == "pack" && !c.Bool("user"):
			if err := p.checkPacking(c.Context, words); err != nil {
				return err
			}
		}
	}
	if err := file.Set(s.Key, value); err != nil {
		return err
	}
	if p.json {
		r := settingRow{s.Key, value, file.Scope, s.Doc}
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

// checkPacking returns an error if the workspace of the command line must not have a value of
// the setting pack.
func (p *program) checkPacking(ctx context.Context, words []string) error {
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return err
	}
	return w.CheckPacking(ctx, checkpoint.Packing(strings.Join(words, " ")))
}

// settingsFile returns the file in which s is to be changed.
func (p *program) settingsFile(c *cli.Context, s config.Setting) (config.File, error) {
	if c.Bool("user") || s.UserOnly {
		path, err := config.UserPath()
		if err != nil {
			return config.File{}, err
		}
		f, err := config.Read(path, config.User)
		return f, settingError(err)
	}
	w, err := p.open(c.Context, checkpoint.Retention{})
	if err != nil {
		return config.File{}, err
	}
	f, err := config.Read(filepath.Join(w.Dir(), config.Name), config.Workspace)
	return f, settingError(err)
}
