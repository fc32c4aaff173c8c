package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// CheckSkip returns an error if a pattern is invalid.
func CheckSkip(patterns []string) error {
	_, err := newSkipList(patterns)
	return err
}

// Settings returns the settings that apply to the workspace, which need not
// exist yet.
func Settings(w *store.Store) (l config.Layered, err error) {
	if w.Opts.UserConfig != "" {
		if l.User, err = config.Read(w.Opts.UserConfig, config.User); err != nil {
			return l, damagedConfig(err)
		}
	}
	root, err := os.OpenRoot(w.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer root.Close()
	if _, err := root.Stat(config.Name); errors.Is(err, fs.ErrNotExist) {
		return l, nil
	} else if err != nil { // for example a link that leads out of the workspace
		return l, err
	}
	l.Workspace, err = config.Read(filepath.Join(w.Dir, config.Name), config.Workspace)
	return l, damagedConfig(err)
}

// damagedConfig sets the code of err to damaged if it is a syntax error in
// settings.
func damagedConfig(err error) error {
	var syntax *config.SyntaxError
	if errors.As(err, &syntax) {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "correct the file, or move it away", Err: err}
	}
	return err
}

// skipped returns the patterns in the settings that exclude files from imports.
func skipped(w *store.Store) ([]string, error) {
	l, err := Settings(w)
	if err != nil {
		return nil, err
	}
	var patterns []string
	if err := l.Decode("import.skip", &patterns); err != nil {
		return nil, damagedConfig(err)
	}
	if _, err := newSkipList(patterns); err != nil {
		e := *store.Explain(err)
		e.Code, e.Message = fault.Damaged, fmt.Sprintf("%s: import.skip: %s", filepath.Join(w.Dir, config.Name), e.Message)
		return nil, &e
	}
	return patterns, nil
}

// A skipList is a list of patterns that exclude files from imports.
type skipList []string

func newSkipList(patterns []string) (skipList, error) {
	list := make(skipList, len(patterns))
	for i, p := range patterns {
		list[i] = filepath.ToSlash(p)
		if rest, ok := strings.CutPrefix(list[i], "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				list[i] = path.Join(filepath.ToSlash(home), rest)
			}
		}
		list[i] = strings.TrimPrefix(strings.TrimRight(list[i], "/"), "./")
		if list[i] == "" || !doublestar.ValidatePattern(list[i]) {
			return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid pattern %q", p), Hint: "examples: 'secret-*', '~/clients/acme', '/var/**/tmp'"}
		}
		if strings.Contains(list[i], "/") && !path.IsAbs(list[i]) && !filepath.IsAbs(p) {
			list[i] = "**/" + list[i]
		}
	}
	return list, nil
}

// matches reports whether a path, or a folder above it, matches a pattern.
func (l skipList) matches(at string) bool {
	at = filepath.ToSlash(at)
	for _, p := range l {
		for dir := at; dir != "" && dir != "/" && dir != "."; dir = path.Dir(dir) {
			name := dir
			if !strings.Contains(p, "/") {
				name = path.Base(dir)
			}
			if doublestar.MatchUnvalidated(p, name) {
				return true
			}
		}
	}
	return false
}
