package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/html"
)

// formats are all that the command knows: those of package convert, and pages.
func formats() []*convert.Format { return append(slices.Clip(convert.Formats), html.Format()) }

// formatOf returns the format of a name.
func formatOf(name string) (*convert.Format, bool) {
	list := formats()
	i := slices.IndexFunc(list, func(f *convert.Format) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// formatNamed returns the format that the value of a flag names.
func formatNamed(flag, name string) (*convert.Format, error) {
	if f, ok := formatOf(name); ok {
		return f, nil
	}
	e := usageError("--%s: bough does not know %q", flag, name)
	what := "formats"
	if flag == "in" || flag == "from" {
		what = "tools"
	}
	e.Hint = what + " are " + strings.Join(formatNames(flag), ", ")
	return nil, e
}

// formatNames returns what a flag takes that names a format, sorted.
func formatNames(flag string) (names []string) {
	which := (*convert.Format).Reads
	switch flag {
	case "to":
		which = (*convert.Format).Writes
	case "in":
		which = (*convert.Format).Resumes
	case "from":
		which = isKept
	}
	for _, f := range formats() {
		if which(f) {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// formatList lists formats for the help.
func formatList(which func(*convert.Format) bool) string {
	var lines []string
	for _, f := range formats() {
		if which(f) {
			lines = append(lines, fmt.Sprintf("  %-13s%s", f.Name, f.About))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// isKept reports whether the program of a format keeps files on this machine, or is asked
// itself, as opencode is.
func isKept(f *convert.Format) bool { return f.Name == "opencode" || f.Roots(machine()) != nil }

// machine is this one.
func machine() convert.Machine {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	return convert.Machine{Home: home, Dir: here, Env: os.Getenv, Read: os.ReadFile}
}
