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
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace"
)

// open opens the workspace of the command line, with r for automatic checkpoints.
func (p *program) open(ctx context.Context, r checkpoint.Retention) (*workspace.Workspace, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return nil, err
	}
	o, err := p.options(dir)
	if err != nil {
		return nil, err
	}
	o.Note, o.Progress = p.noteShared(), p.meter.update
	o.Retention = checkpoint.Retention{
		KeepAll:  cmp.Or(r.KeepAll, o.Retention.KeepAll),
		EveryNth: cmp.Or(r.EveryNth, o.Retention.EveryNth),
		MaxAge:   cmp.Or(r.MaxAge, o.Retention.MaxAge),
		Limit:    cmp.Or(r.Limit, o.Retention.Limit),
	}
	var w *workspace.Workspace
	o.Elsewhere = func(ctx context.Context, name string) (session, message string, err error) {
		return p.headElsewhere(ctx, w, name)
	}
	w, err = workspace.Open(ctx, dir, o)
	return w, err
}

// options returns the options for the workspace in dir from the settings and the flags of
// bough.
func (p *program) options(dir string) (*workspace.Options, error) {
	l, err := api.Settings(dir)
	if err != nil {
		return nil, err
	}
	var wait, keepAll, maxAge config.Time
	var keep checkpoint.Retention
	var pack checkpoint.Packing
	var filesLimit int64
	err = errors.Join(
		l.Decode("wait", &wait), l.Decode("pack", &pack), l.Decode("files.limit", &filesLimit),
		l.Decode("retention.keep_all", &keepAll), l.Decode("retention.every", &keep.EveryNth),
		l.Decode("retention.max_age", &maxAge), l.Decode("retention.limit", &keep.Limit))
	if err != nil {
		return nil, api.SettingError(err)
	}
	keep.KeepAll, keep.MaxAge = time.Duration(keepAll), time.Duration(maxAge)
	if p.wait < 0 { // without --wait
		p.wait = time.Duration(wait)
	}
	state, err := stateDir()
	if err != nil {
		return nil, err
	}
	return &workspace.Options{
		UserState:  state,
		Settle:     p.settle,
		Wait:       cmp.Or(p.wait, -1), // the library takes zero for its default
		Retention:  keep,
		Packing:    pack,
		FilesLimit: filesLimit,
		UserConfig: l.User.Path,
		Existing:   true,
	}, nil
}

// workspaceDir returns the folder of the workspace: -w, else $BOUGH_WORKSPACE, else the
// nearest workspace at or above the current folder, else the user's data folder. It refuses
// a nearest workspace of another user.
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

// dataDir returns the user's data folder for bough.
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
