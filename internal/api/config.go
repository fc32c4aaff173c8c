package api

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// SettingRows are all settings, and the files that they are from.
type SettingRows struct {
	Settings []SettingRow `json:"settings"`
	Files    []string     `json:"files"`
}

// A SettingRow is a setting with its value and source.
type SettingRow struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"` // null if there is none
	From  config.Scope    `json:"from"`
	Doc   string          `json:"doc"`
}

// rowOf returns the row of a setting.
func rowOf(s config.Setting, l config.Layered) SettingRow {
	value, from := l.Value(s)
	if value == nil {
		value = []byte("null")
	}
	return SettingRow{s.Key, value, from, s.Doc}
}

// RowsOf returns the rows of all settings.
func RowsOf(l config.Layered) SettingRows {
	var out SettingRows
	for _, s := range config.Settings() {
		out.Settings = append(out.Settings, rowOf(s, l))
	}
	for _, f := range []config.File{l.User, l.Workspace} {
		if f.Path != "" {
			out.Files = append(out.Files, f.Path)
		}
	}
	return out
}

// CheckedRow returns the row of a setting whose value must be valid.
func CheckedRow(s config.Setting, l config.Layered) (SettingRow, error) {
	r := rowOf(s, l)
	if err := s.Check(r.Value); err != nil && r.From != config.Default {
		return r, SettingError(&config.SyntaxError{Path: string(r.From), Err: err})
	}
	return r, nil
}

// Settings returns the settings that apply in the workspace in dir.
func Settings(dir string) (l config.Layered, err error) {
	path, err := config.UserPath()
	if err == nil {
		if l.User, err = config.Read(path, config.User); err != nil {
			return l, SettingError(err)
		}
	}
	l.Workspace, err = config.Read(filepath.Join(dir, config.Name), config.Workspace)
	return l, SettingError(err)
}

// SettingError returns err with the code for damage if a file of settings is damaged.
func SettingError(err error) error {
	var syntax *config.SyntaxError
	if errors.As(err, &syntax) {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "correct the file or move it away", Err: err}
	}
	return err
}

type keyIn struct {
	Key string `json:"key" jsonschema:"the name of a setting, such as retention.max_age"`
}

type settingIn struct {
	keyIn
	Words []string `json:"value" jsonschema:"the value in words, as the command takes it: one, or several for a list; NAME=TEXT for a member of an object"`
	Add   bool     `json:"add,omitempty" jsonschema:"add the words to the list"`
}

// setting returns the setting that is named.
func (in keyIn) setting() (config.Setting, error) {
	s, ok := config.Find(in.Key)
	if !ok {
		e := badArgument("unknown setting %q", in.Key)
		e.Hint = "config lists the settings"
		return s, e
	}
	return s, nil
}

// isOfMachine reports whether a setting names programs or folders of the machine, so that
// only a person changes it.
func isOfMachine(s config.Setting) bool {
	return s.UserOnly || s.Key == "import.skip" || s.Key == "mcp.commands"
}

// changeable returns the setting that is named, which must not be one of the machine.
func (in keyIn) changeable(w *workspace.Workspace) (config.Setting, error) {
	s, err := in.setting()
	if err == nil && isOfMachine(s) {
		err = &fault.Error{
			Code: fault.Refused, Message: s.Key + " names programs or folders of the machine, so only a person can change it",
			Next: fault.Do(fault.SetInShell, w.Dir(), s.Key),
		}
	}
	return s, err
}

// changeSetting changes a setting in the file of the workspace, under its lock, to the value
// that change returns for the file, or to none for nil.
func changeSetting(ctx context.Context, w *workspace.Workspace, s config.Setting, change func(config.File) ([]byte, error)) (SettingRow, error) {
	row := SettingRow{Key: s.Key, Value: []byte("null"), From: config.Workspace, Doc: s.Doc}
	err := w.ChangeSettings(ctx, func() error {
		f, err := config.Read(filepath.Join(w.Dir(), config.Name), config.Workspace)
		if err != nil {
			return SettingError(err)
		}
		value, err := change(f)
		if err != nil {
			return err
		}
		if value != nil {
			row.Value = value
		}
		return f.Set(s.Key, value)
	})
	return row, err
}

func setSetting(ctx context.Context, w *workspace.Workspace, in settingIn) (SettingRow, error) {
	s, err := in.changeable(w)
	if err != nil {
		return SettingRow{}, err
	}
	if len(in.Words) == 0 {
		return SettingRow{}, badArgument("value has no words")
	}
	if in.Add && s.Kind != config.Texts {
		return SettingRow{}, badArgument("%s is not a list", s.Key)
	}
	value, err := s.Parse(in.Words)
	if err != nil {
		return SettingRow{}, badArgument("%v", err)
	}
	if err := CheckSetting(ctx, w, s, value); err != nil {
		return SettingRow{}, err
	}
	return changeSetting(ctx, w, s, func(f config.File) ([]byte, error) {
		if !in.Add {
			return value, nil
		}
		return AddSetting(f, s, value)
	})
}

func unsetSetting(ctx context.Context, w *workspace.Workspace, in keyIn) (SettingRow, error) {
	s, err := in.changeable(w)
	if err != nil {
		return SettingRow{}, err
	}
	return changeSetting(ctx, w, s, func(config.File) ([]byte, error) { return nil, nil })
}

// AddSetting returns the list in a file of settings, if it has one, followed by the list more.
func AddSetting(f config.File, s config.Setting, more []byte) ([]byte, error) {
	old := f.Value(s.Key)
	if old == nil {
		return more, nil
	}
	if err := s.Check(old); err != nil {
		return nil, SettingError(&config.SyntaxError{Path: f.Path, Err: err})
	}
	var list, added []string
	if err := errors.Join(json.Unmarshal(old, &list), json.Unmarshal(more, &added)); err != nil {
		return nil, err
	}
	return json.Marshal(append(list, added...))
}

// CheckSetting returns an error if w must not have a value of a setting, nil for none.
func CheckSetting(ctx context.Context, w *workspace.Workspace, s config.Setting, value []byte) error {
	if s.Key != "pack" || value == nil {
		return nil
	}
	var p checkpoint.Packing
	if err := json.Unmarshal(value, &p); err != nil {
		return err
	}
	return w.CheckPacking(ctx, p)
}

func configVerbs() []*Verb {
	return []*Verb{
		verb("config", Reads, "Settings", "Lists the settings that apply in the workspace, with the source of each value.",
			func(_ context.Context, w *workspace.Workspace, _ none) (SettingRows, error) {
				l, err := Settings(w.Dir())
				return RowsOf(l), err
			}),
		verb("config/get", Reads, "A setting", "Returns the value of a setting in the workspace, and its source.",
			func(_ context.Context, w *workspace.Workspace, in keyIn) (SettingRow, error) {
				s, err := in.setting()
				if err != nil {
					return SettingRow{}, err
				}
				l, err := Settings(w.Dir())
				if err != nil {
					return SettingRow{}, err
				}
				return CheckedRow(s, l)
			}),
		verb("config/set", Changes, "Set a setting", "Sets a setting of the workspace. Settings that name programs or folders are refused.", setSetting),
		verb("config/unset", Changes, "Unset a setting", "Removes a setting of the workspace, so that the user's or the default applies.", unsetSetting),
	}
}
