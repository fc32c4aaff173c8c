package main

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"
)

// global holds the flags of bough itself, which any verb accepts.
type global struct {
	dir           string // -w
	json          bool
	wait          time.Duration // -1 without --wait
	help, version bool
	noPager       bool
}

// globalFlags are the flags of bough itself, as they are typed.
func globalFlags() []string {
	return []string{"-w", "--workspace", "--json", "--no-pager", "--wait", "--help", "-h", "--version", "-v"}
}

// splitGlobal removes the flags of bough from args, at any position before "--". The error
// is that of the first invalid flag; the others still apply.
func splitGlobal(args []string) (g global, rest []string, err error) {
	g.wait = -1
	wrong := func(format string, a ...any) {
		if err == nil {
			err = usageError(format, a...)
		}
	}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return g, append(rest, args[i:]...), err
		}
		name, value, inline := flagOf(args[i])
		switch name {
		case "w", "workspace", "wait":
			if !inline && i+1 < len(args) {
				i++
				value = args[i]
			}
		}
		switch name {
		case "w", "workspace":
			if g.dir = value; value == "" {
				wrong("-w is empty")
			}
		case "json":
			g.json = true
			if !inline {
				continue
			}
			if on, parseErr := strconv.ParseBool(value); parseErr != nil {
				wrong("--json takes true or false, not %q", value)
			} else {
				g.json = on
			}
		case "wait":
			var parseErr error
			if g.wait, parseErr = time.ParseDuration(value); parseErr != nil {
				wrong("--wait takes a time such as 30s or 2m, not %q", value)
			}
			g.wait = max(g.wait, 0)
		case "no-pager":
			g.noPager = true
		case "help", "h":
			g.help = true
		case "version", "v":
			g.version = true
		default:
			rest = append(rest, args[i])
		}
	}
	return g, rest, err
}

// arrange moves the flags of a verb before its arguments, because the parser stops at the
// first argument. "--" ends the flags. An unknown flag moves to the front too, where the
// parser reports it.
func arrange(args []string, commands []*cli.Command) []string {
	at := firstWord(args)
	if at < 0 {
		return args
	}
	i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(args[at]) })
	if i < 0 {
		return args
	}
	front, rest := slices.Clone(args[:at+1]), args[at+1:]
	// A verb with an action of its own has flags, whose values may be separate words.
	if sub := commands[i].Subcommands; len(sub) > 0 && (len(commands[i].Flags) == 0 || names(sub, rest)) {
		return append(front, arrange(rest, sub)...)
	}
	flags, words := splitFlags(rest, commands[i].Flags)
	front = append(front, flags...)
	if len(words) > 0 {
		front = append(append(front, "--"), words...)
	}
	return front
}

// names reports whether the first of args is the name of one of commands.
func names(commands []*cli.Command, args []string) bool {
	return len(args) > 0 && slices.ContainsFunc(commands, func(c *cli.Command) bool { return c.HasName(args[0]) })
}

// firstWord returns the position of the first of args that is not a flag, -1 if all are
// flags.
func firstWord(args []string) int {
	return slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
}

// verbOf returns the word of args that should name a verb, "" if there is none.
func verbOf(args []string) string {
	if at := firstWord(args); at >= 0 {
		return args[at]
	}
	return ""
}

// splitFlags separates flags, with their values, from the other words.
func splitFlags(args []string, declared []cli.Flag) (flags, words []string) {
	for i := 0; i < len(args); i++ {
		name, _, inline := flagOf(args[i])
		switch {
		case args[i] == "--":
			return flags, append(words, args[i+1:]...)
		case name == "":
			words = append(words, args[i])
			continue
		}
		flags = append(flags, args[i])
		if f := findFlag(declared, name); f != nil && takesValue(f) && !inline {
			if i++; i == len(args) {
				return flags, nil // the parser reports the missing value
			}
			flags = append(flags, args[i])
		}
	}
	return flags, words
}

// flagOf parses -name, --name or --name=value. The name is empty if arg is not a flag: the
// name of a flag has no white space, and -~2 and -^ are REFs.
func flagOf(arg string) (name, value string, inline bool) {
	if !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" || arg[1] == '~' || arg[1] == '^' {
		return "", "", false
	}
	name, value, inline = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", false
	}
	return name, value, inline
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}
