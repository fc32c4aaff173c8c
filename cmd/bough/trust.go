package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace/fault"
)

// checkTrust returns an error if the workspace in dir, which was found and not named, is
// foreign according to foreignPath, and the user's setting "trust" does not list it.
func checkTrust(dir string, foreignPath func(dir string) (string, error)) error {
	foreign, err := foreignPath(dir)
	if foreign == "" {
		return err
	}
	trusted, configErr := trustedFolders()
	if configErr != nil {
		return configErr
	}
	if trusts(trusted, dir) {
		return nil
	}
	e := &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("%s belongs to another user; the workspace in %s is not used", foreign, dir),
		Hint:    fmt.Sprintf("'-w %s' uses it once; 'bough config trust --add %s' trusts it", dir, dir),
		Err:     err,
	}
	if err != nil {
		e.Message = fmt.Sprintf("the owner of %s is unknown; the workspace in %s is not used", foreign, dir)
	}
	return e
}

// trustedFolders returns the user's setting trust.
func trustedFolders() (list []string, err error) {
	path, err := config.UserPath()
	if err != nil {
		return nil, err
	}
	user, err := config.Read(path, config.User)
	if err == nil {
		err = config.Layered{User: user}.Decode("trust", &list)
	}
	return list, api.SettingError(err)
}

// trusts reports whether dir is listed: by its path, by the path of a folder above it that
// ends in "/*", or by "*", which means every folder. "~/" is the user's home folder.
func trusts(list []string, dir string) bool {
	dir = realPath(dir)
	return slices.ContainsFunc(list, func(entry string) bool {
		if entry == "*" {
			return true
		}
		if rest, ok := strings.CutPrefix(entry, "~/"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return false
			}
			entry = filepath.Join(home, rest)
		}
		if !filepath.IsAbs(entry) {
			return false
		}
		above, below := strings.CutSuffix(filepath.ToSlash(entry), "/*")
		if !below {
			return realPath(entry) == dir
		}
		rel, err := filepath.Rel(realPath(filepath.FromSlash(above+"/")), dir)
		return err == nil && rel != "." && filepath.IsLocal(rel)
	})
}

// realPath returns the path of a folder without symbolic links, or the cleaned path if
// there is no such folder.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
