package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
)

// open opens the workspace that the command line means, where automatic checkpoints
// are kept as r says.
func (p *program) open(ctx context.Context, r checkpoint.Retention) (*workspace.Workspace, error) {
	dir, err := p.workspaceDir()
	if err != nil {
		return nil, err
	}
	wait := p.wait
	if wait == 0 {
		wait = -1 // the library takes zero for its default
	}
	return workspace.Open(ctx, dir, &workspace.Options{
		Note: p.note, Progress: p.meter.tell, Wait: wait, Retention: r,
	})
}

// workspaceDir finds the workspace: -w, else $BOUGH_WORKSPACE, else the nearest
// folder that is one, else the user's data folder.
func (p *program) workspaceDir() (string, error) {
	if p.dir != "" {
		return p.dir, nil
	}
	if dir := os.Getenv("BOUGH_WORKSPACE"); dir != "" {
		return dir, nil
	}
	if dir, ok := workspace.Find("."); ok {
		return dir, nil
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
