package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ConfigPath is the file of the workspace's settings, written by a person.
const ConfigPath = "config.json"

// A Config is the settings of a workspace.
type Config struct {
	Import struct {
		// Skip are patterns of files and of folders whose conversations are not imported.
		// One without a slash matches the name of a file, or of any folder above it; one
		// with a slash matches a path, and all that is below it: a whole one if it begins
		// with / or ~, which is the user's folder, else the end of one. * and ? match within
		// a name, ** matches any number of names.
		Skip []string `json:"skip"`
	} `json:"import"`
}

// readConfig reads the settings of the workspace in a folder. There need be none, and no
// folder.
func readConfig(dir string) (c Config, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer root.Close()
	data, err := readRegular(root, ConfigPath)
	if err != nil || data == nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, &Error{Code: Damaged, Message: fmt.Sprintf("%s: %v", filepath.Join(dir, ConfigPath), err), Hint: "mend the file, or move it away", Err: err}
	}
	if _, err := newSkipList(c.Import.Skip); err != nil {
		e := *Explain(err)
		e.Code, e.Message = Damaged, filepath.Join(root.Name(), ConfigPath)+": "+e.Message
		return c, &e
	}
	return c, nil
}

// A skipList is patterns of what is not imported.
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
			return nil, &Error{Code: Usage, Message: fmt.Sprintf("%q is not a pattern", p), Hint: "examples: 'secret-*', '~/work/client', '/home/me/**/tmp'"}
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
