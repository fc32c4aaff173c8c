package main

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// didYouMean returns a suffix for an error about an unknown word: the most similar of
// choices, or "".
func didYouMean(word string, choices []string) string {
	if choice := lookup.Nearest(word, choices); choice != "" {
		return fmt.Sprintf("; did you mean %q?", choice)
	}
	return ""
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
	} else if value, flag, ok := invalidValue(err.Error()); ok {
		e = usageError("invalid value %s for --%s", value, flag)
	}
	if verb != "" {
		e.Hint = seeHelp(verb)
	}
	return e
}

// invalidValue returns the quoted value and the name of the flag in an error of the parser
// for a value of the wrong type.
func invalidValue(problem string) (value, flag string, ok bool) {
	for before, between := range map[string]string{"invalid value ": " for flag -", "invalid boolean value ": " for -"} {
		rest, is := strings.CutPrefix(problem, before)
		if i := strings.LastIndex(rest, between); is && i >= 0 {
			flag, _, ok = strings.Cut(rest[i+len(between):], ":")
			return rest[:i], flag, ok
		}
	}
	return "", "", false
}
