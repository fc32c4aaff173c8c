package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace"
)

// open opens the workspace that the command line means, where automatic checkpoints
// are kept as r says.
func (p *program) open(ctx context.Context, r checkpoint.Retention) (*workspace.Workspace, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return nil, err
	}
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	o.Note, o.Progress = p.note, p.meter.tell
	if o.Retention, err = p.retention(r); err != nil {
		return nil, err
	}
	return workspace.Open(ctx, dir, o)
}

// options returns the part of the options of a workspace that the settings and the flags
// of bough say.
func (p *program) options() (*workspace.Options, error) {
	l, err := p.settings()
	if err != nil {
		return nil, err
	}
	if p.wait < 0 { // --wait does not say it
		var wait config.Time
		if err := l.Decode("wait", &wait); err != nil {
			return nil, settingError(err)
		}
		p.wait = time.Duration(wait)
	}
	return &workspace.Options{
		Wait:       cmp.Or(p.wait, -1), // the library takes zero for its default
		UserConfig: l.User.Path,
		Existing:   true,
	}, nil
}

// retention returns how long automatic checkpoints are kept: as the flags of the verb say
// it, else the settings.
func (p *program) retention(flags checkpoint.Retention) (r checkpoint.Retention, err error) {
	l, err := p.settings()
	if err != nil {
		return r, err
	}
	var all, age config.Time
	err = errors.Join(
		l.Decode("retention.keep_all", &all), l.Decode("retention.every", &r.EveryNth),
		l.Decode("retention.max_age", &age), l.Decode("retention.limit", &r.Most))
	if err != nil {
		return r, settingError(err)
	}
	return checkpoint.Retention{
		KeepAll:  cmp.Or(flags.KeepAll, time.Duration(all)),
		EveryNth: cmp.Or(flags.EveryNth, r.EveryNth),
		MaxAge:   cmp.Or(flags.MaxAge, time.Duration(age)),
		Most:     cmp.Or(flags.Most, r.Most),
	}, nil
}

// workspaceDir finds the workspace: -w, else $BOUGH_WORKSPACE, else the nearest
// folder that is one, else the user's data folder. It refuses a nearest folder of
// another user.
func (p *program) workspaceDir() (string, error) {
	if p.dir != "" {
		return p.dir, nil
	}
	if dir := os.Getenv("BOUGH_WORKSPACE"); dir != "" {
		return dir, nil
	}
	if dir, ok := workspace.Find("."); ok {
		return dir, checkTrust(dir, workspace.ForeignPath)
	}
	return dataDir()
}

// dataDir is the user's data folder for bough.
func dataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bough"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	switch runtime.GOOS {
	case "windows":
		if dir := os.Getenv("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "bough"), nil
		}
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "bough"), nil
	}
	return filepath.Join(home, ".local", "share", "bough"), nil
}
