package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

// handoverDir holds conversations for programs that read a file once.
const handoverDir = stateDir + "/handover"

// handoverAge is the age above which a file is considered abandoned.
const handoverAge = 24 * time.Hour

// handover returns the absolute path of a new file that a program reads once.
// It removes abandoned files.
func (w *base) handover(ctx context.Context, name string) (path string, err error) {
	root, err := w.open(ctx)
	if err != nil {
		return "", err
	}
	defer root.Close()
	entries, err := durable.ReadDir(root, handoverDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || w.opts.Now().Sub(info.ModTime()) < handoverAge {
			continue
		}
		if err := root.Remove(handoverDir + "/" + e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return filepath.Join(w.dir, filepath.FromSlash(handoverDir), name), nil
}
