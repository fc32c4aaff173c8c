package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// handoverAge is the age above which a file is considered abandoned.
const handoverAge = 24 * time.Hour

// handover returns the absolute path of a new file that a program reads once.
// It removes abandoned files.
func handover(ctx context.Context, w *store.Store, name string) (path string, err error) {
	root, err := w.Open(ctx)
	if err != nil {
		return "", err
	}
	defer root.Close()
	entries, err := durable.ReadDir(root, store.HandoverDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || w.Opts.Now().Sub(info.ModTime()) < handoverAge {
			continue
		}
		if err := root.Remove(store.HandoverDir + "/" + e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return filepath.Join(w.Dir, filepath.FromSlash(store.HandoverDir), name), nil
}
