package main

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// didYouMean returns a suffix for an error about an unknown word: the most similar of
// choices, or "".
func didYouMean(word string, choices []string) string {
	if choice := nearest(word, choices); choice != "" {
		return fmt.Sprintf("; did you mean %q?", choice)
	}
	return ""
}

// nearest returns the choice that is most similar to word, "" if none is: the only one that
// begins with word, else the nearest of those that differ in at most a third of its letters.
func nearest(word string, choices []string) string {
	word = strings.ToLower(strings.TrimLeft(word, "-"))
	best, least := "", max(1, len(word)/3)+1
	begun, begins := "", 0
	for _, choice := range choices {
		name := strings.ToLower(strings.TrimLeft(choice, "-"))
		d := levenshtein.ComputeDistance(word, name)
		if isTwisted(word, name) {
			d = 1
		}
		if d < least && d < len(name) {
			best, least = choice, d
		}
		if len(word) > 1 && strings.HasPrefix(name, word) {
			begun, begins = choice, begins+1
		}
	}
	if begins == 1 {
		return begun
	}
	return best
}

// isTwisted reports whether two words differ only in two adjacent letters that are swapped.
func isTwisted(a, b string) bool {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return len(a) == len(b) && i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}

// unknownCommand returns the error for a word that is not a verb of parent, "" for bough
// itself.
func unknownCommand(parent, word string, verbs []verb) *fault.Error {
	names := allNames(verbs)
	meant := didYouMean(word, names)
	if other := otherTools(word); parent == "" && meant == "" && other != "" {
		meant = fmt.Sprintf("; did you mean %q?", other)
	}
	e := usageError("unknown command %q%s", strings.TrimPrefix(parent+" "+word, " "), meant)
	if parent != "" {
		e.Hint = seeHelp(parent)
	}
	return e
}

// otherTools returns the verb for a command of git, gh or shells, "" for none.
func otherTools(word string) string {
	switch word {
	case "list", "dir", "sessions":
		return "ls"
	case "remove", "delete", "del":
		return "rm"
	case "mv":
		return "rename"
	case "cat", "view", "read", "less":
		return "show"
	case "find", "grep", "rg":
		return "search"
	case "commit", "snapshot":
		return "checkpoint"
	case "checkout", "switch", "goto":
		return "rewind"
	case "fork":
		return "branch"
	case "reset":
		return "restore"
	case "tag", "label":
		return "bookmark"
	case "history", "oplog", "reflog":
		return "log"
	case "init", "create":
		return "new"
	case "add", "say":
		return "append"
	case "continue":
		return "resume"
	case "fsck", "check":
		return "doctor"
	}
	return ""
}

// flagError returns the error for a parse error in the flags of a verb.
func flagError(verb string, flags []cli.Flag, err error) error {
	e := usageError("%s", err)
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		name = strings.TrimPrefix(name, "-")
		typed := strings.Repeat("-", min(len(name), 2)) + name
		names := globalFlags()
		for _, f := range flagNames(flags) {
			names = append(names, f.word)
		}
		e = usageError("unknown flag %q%s", typed, didYouMean(name, names))
	}
	if verb != "" {
		e.Hint = seeHelp(verb)
	}
	return e
}
