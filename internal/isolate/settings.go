package isolate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/gitcmd"
	"github.com/bough-dev/bough/internal/gitrepo"
)

// settings gives the clone those settings of the repository at top that decide how files
// and commits look: who commits, which files are ignored, and line ends and filters. It does not
// get those that belong to a place, such as remotes, nor hooks.
func (c *Clone) settings(ctx context.Context, top string) error {
	list, err := gitcmd.Run(ctx, top, nil, "config", "--null", "--list", "--local", "--includes")
	if err != nil {
		return err
	}
	var text strings.Builder
	for setting := range strings.SplitSeq(string(list), "\x00") {
		key, value, assigned := strings.Cut(setting, "\n")
		if isCommon(key) {
			text.WriteString(entry(key, value, assigned))
		}
	}
	own := filepath.Join(c.top, ".git")
	f, err := os.OpenFile(filepath.Join(own, "config"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	r, _ := gitrepo.Find(top, os.Getenv)
	if r == nil {
		return nil
	}
	for _, name := range []string{"exclude", "attributes"} {
		data, err := os.ReadFile(filepath.Join(r.Common, "info", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(own, "info"), 0o777)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(own, "info", name), data, 0o666)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isCommon reports whether a setting is right in a clone too.
func isCommon(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	return slices.Contains([]string{"user", "author", "committer", "commit", "tag", "gpg", "filter", "diff", "merge", "i18n", "lfs"}, section) ||
		slices.Contains([]string{
			"core.autocrlf", "core.eol", "core.safecrlf", "core.whitespace", "core.excludesfile", "core.attributesfile",
			"core.quotepath", "core.commentchar", "core.abbrev",
		}, key)
}

// entry returns a setting as a configuration file has it. Without assigned it has no value.
func entry(key, value string, assigned bool) string {
	section, rest, _ := strings.Cut(key, ".")
	head := "[" + section + "]"
	if at := strings.LastIndexByte(rest, '.'); at >= 0 {
		head = "[" + section + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(rest[:at]) + `"]`
		rest = rest[at+1:]
	}
	if !assigned {
		return head + "\n\t" + rest + "\n"
	}
	value = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(value)
	return head + "\n\t" + rest + ` = "` + value + "\"\n"
}
