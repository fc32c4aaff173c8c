package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/workspace"
)

// userConfigPath returns the path of the user's configuration of bough.
func userConfigPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "bough", "config.json"), nil
}

// checkTrust returns an error if the workspace in dir, which was found and not named,
// belongs to another user, as foreignPath says, and the user's configuration does not list
// it under "trust".
func checkTrust(dir string, foreignPath func(dir string) (string, error)) error {
	foreign, err := foreignPath(dir)
	if foreign == "" {
		return err
	}
	config, pathErr := userConfigPath()
	if pathErr == nil {
		trusted, err := trustedFolders(config)
		if err != nil {
			return err
		}
		if trusts(trusted, dir) {
			return nil
		}
	}
	e := &workspace.Error{
		Code:    workspace.Refused,
		Message: fmt.Sprintf("%s belongs to another user; the workspace in %s is not used", foreign, dir),
		Hint:    "-w " + dir + " uses it once",
		Err:     err,
	}
	if err != nil {
		e.Message = fmt.Sprintf("the owner of %s is unknown; the workspace in %s is not used", foreign, dir)
	}
	if config != "" {
		e.Hint += fmt.Sprintf("; to always use it, list it in %s: {\"trust\": [%q]}", config, dir)
	}
	return e
}

// trustedFolders returns the member trust of the user's configuration.
func trustedFolders(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var config struct {
		Trust []string `json:"trust"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, &workspace.Error{
			Code: workspace.Damaged, Message: fmt.Sprintf("%s: %v", path, err), Err: err,
			Hint: `"trust" is an array of the folders of workspaces`,
		}
	}
	return config.Trust, nil
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
