package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/html"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/lookup"
)

// formats are all formats of the command: those of package convert, and pages.
func formats() []*convert.Format { return append(slices.Clip(convert.Formats), html.Format()) }

// formatOf returns the format of a name or an alias.
func formatOf(name string) (*convert.Format, bool) {
	list := formats()
	i := slices.IndexFunc(list, func(f *convert.Format) bool { return f.IsNamed(name) })
	if i < 0 {
		return nil, false
	}
	return list[i], true
}

// formatNamed returns the format that a flag names.
func formatNamed(flag, name string) (*convert.Format, error) {
	list, err := formatsNamed(flag, name)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// formatsNamed returns the formats that a flag names: a tool may have changed its format. --format takes no programs with
// the format of another one, because it is read alike for all of them.
func formatsNamed(flag, name string) ([]*convert.Format, error) {
	if flag != "format" {
		if list, unknown := convert.FormatsOf(name); unknown < 0 {
			return list, nil
		}
	}
	if f, ok := formatOf(name); ok && !takesPrograms(flag) {
		return []*convert.Format{f}, nil
	}
	return nil, unknownFormat(flag, name)
}

// toolsNamed returns the formats of the tools that --from names, each once.
func toolsNamed(names []string) ([]*convert.Format, error) {
	list, unknown := convert.FormatsOf(names...)
	if unknown >= 0 {
		return nil, unknownFormat("from", names[unknown])
	}
	return list, nil
}

// unknownFormat returns the error for a name that a flag does not take.
func unknownFormat(flag, name string) error {
	what := "format"
	if takesPrograms(flag) {
		what = "tool"
	}
	e := usageError("--%s: unknown %s %q", flag, what, name)
	if meant := closestFormat(flag, name); meant != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", meant)
	}
	e.Hint = what + "s are " + strings.Join(formatNames(flag), ", ")
	return e
}

// takesPrograms reports whether a flag takes a program, not a format.
func takesPrograms(flag string) bool { return flag == "in" || flag == "from" || flag == "tool" }

// programs returns the programs with the format of another one that a flag takes.
func programs(flag string) []*convert.Format {
	if takesPrograms(flag) {
		return convert.Programs()
	}
	return nil
}

// closestFormat returns the format name most similar to name among those that a flag takes,
// "" if none is similar.
func closestFormat(flag, name string) string {
	takes, known := formatNames(flag), map[string]string{}
	for _, f := range slices.Concat(formats(), programs(flag)) {
		for _, n := range append([]string{f.Tool()}, f.Aliases...) {
			if slices.Contains(takes, f.Tool()) {
				known[n] = f.Tool()
			}
		}
	}
	return known[lookup.Nearest(name, slices.Sorted(maps.Keys(known)))]
}

// formatOfFile returns the format of the extension of an output file.
func formatOfFile(path string) (*convert.Format, error) {
	ext := filepath.Ext(path)
	var fit []*convert.Format
	for _, f := range formats() {
		if ext != "" && f.Writes() && (strings.EqualFold(f.Ext, ext) || f.IsNamed(ext[1:])) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	names := formatNames("to")
	if len(fit) > 1 {
		names = nil
		for _, f := range fit {
			names = append(names, f.Name)
		}
		slices.Sort(names)
	}
	e := usageError("the extension of %q does not determine the format", path)
	e.Hint = "add --to FORMAT: one of " + strings.Join(names, ", ")
	return nil, e
}

// formatNames returns the format names that a flag takes, sorted.
func formatNames(flag string) (names []string) {
	which := (*convert.Format).Reads
	switch flag {
	case "to":
		which = (*convert.Format).Writes
	case "in":
		which = (*convert.Format).Resumes
	case "from":
		m := machine()
		which = func(f *convert.Format) bool { return f.Roots(m) != nil }
	}
	for _, f := range slices.Concat(formats(), programs(flag)) {
		if which(f) {
			names = append(names, f.Tool())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// formatList lists formats for the help.
func formatList(which func(*convert.Format) bool) string {
	var lines []string
	for _, f := range formats() {
		if which(f) {
			about := f.About
			if len(f.Aliases) > 0 {
				about += " (also " + strings.Join(f.Aliases, ", ") + ")"
			}
			lines = append(lines, fmt.Sprintf("  %-13s%s", f.Name, about))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// machine describes this machine.
func machine() transcript.Machine {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	return transcript.Machine{Home: home, Dir: here, Env: os.Getenv, OS: runtime.GOOS, Read: os.ReadFile, Names: namesIn, Stat: os.Stat}
}

// namesIn returns the names in a folder, the one that changed last first, nil if it cannot be read.
func namesIn(dir string) []string {
	entries, _ := os.ReadDir(dir)
	changed := make(map[string]time.Time, len(entries))
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
		if info, err := e.Info(); err == nil {
			changed[e.Name()] = info.ModTime()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return changed[b].Compare(changed[a]) })
	return names
}
