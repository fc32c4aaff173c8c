// Package ignore decides which entries of a directory the rules of gitignore(5) ignore.
//
// A [Source] is a file of patterns. [Root] and [Rules.Enter] compile those of a directory,
// and of the directories above it, into the [Rules] that apply in it. A pattern is what git
// makes of it: a line of bytes without the carriage return and the spaces at its end, which
// may be anchored, negated, and only for directories. The last pattern that matches
// decides. A pattern of a directory further down is later than any of one above it.
//
// Rules know one directory, and not whether they ignore the directory itself. As with git,
// nothing below an ignored directory can be included again: a walk must not enter it. If it
// does, because git tracks a file there or because the walk begins there, the patterns apply
// as they would if it were not ignored.
//
// Two pattern files of a directory count: [GitName], then [OwnName], which is later. Git
// reads a pattern file only if it is a regular file, not through a symbolic link, and not
// if it has more than [MaxSize] bytes.
package ignore

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bough-dev/bough/internal/wildmatch"
)

// GitName and OwnName are the names of the pattern files of a directory.
const (
	GitName = ".gitignore"
	OwnName = ".boughignore"
)

// MaxSize is the maximum size of a pattern file in bytes. Git ignores a larger one.
const MaxSize = 100 << 20

// A Source is a file of patterns.
type Source struct {
	Name string // for [Pattern.Source]
	Data []byte
}

// A Pattern is a line of a source.
type Pattern struct {
	Source  string
	Line    int    // the first line is 1
	Text    string // without carriage return and spaces at the end
	Include bool   // it begins with ! and includes what it matches
	Dir     bool   // it ends with / and matches only directories
}

// Rules are the patterns that apply in one directory. They never change, and are safe for
// concurrent use. A nil *Rules has no patterns.
type Rules struct {
	fold   bool
	groups []*group // of the directories from the top to this one that have patterns
}

// A group is what remains, in a directory below, of the patterns of one directory. Groups that
// are equal are shared, so that a directory takes little memory however many patterns there
// are.
type group struct {
	parts []part // in the order of their patterns
	final []last // those of parts with one component, which match entries of the directory
	// elsewhere is the group in a subdirectory whose name no part has. It is made when it is
	// needed first.
	elsewhere atomic.Pointer[group]
}

// A part is what remains of a pattern in a directory: the components from the one that an
// entry of the directory must match. One pattern can have several parts, each with fewer
// components than the one before.
type part struct {
	pattern    *Pattern
	components wildmatch.Pattern
}

// A last is a part with one component.
type last struct {
	filter  wildmatch.Filter
	dir     bool // as of the pattern
	pattern *Pattern
	glob    *wildmatch.Glob
}

// Root returns the rules of a directory that has none from above. Patterns with a slash are
// relative to it. A later source overrides an earlier one: the sources of git are
// core.excludesFile, info/exclude and .gitignore, in this order. If fold is set, ASCII
// letters match in both cases, here and in all directories below, as with core.ignoreCase.
func Root(fold bool, sources ...Source) *Rules {
	r := &Rules{fold: fold}
	return r.with(nil, sources)
}

// Enter returns the rules of the subdirectory with the name dir. Patterns of sources are
// relative to the subdirectory and override those of r. If there is no difference, Enter
// returns r itself.
func (r *Rules) Enter(dir string, sources ...Source) *Rules {
	if r == nil {
		r = new(Rules)
	}
	var groups []*group
	differs := len(sources) > 0
	for i, g := range r.groups {
		below := g.enter(dir)
		if below != g && !differs {
			groups, differs = slices.Clone(r.groups[:i]), true
		}
		if differs && len(below.parts) > 0 {
			groups = append(groups, below)
		}
	}
	if !differs {
		return r
	}
	return r.with(groups, sources)
}

// with returns rules with groups and the patterns of sources after them.
func (r *Rules) with(groups []*group, sources []Source) *Rules {
	var parts []part
	for _, s := range sources {
		parts = appendSource(parts, s, r.fold)
	}
	if len(parts) > 0 {
		groups = append(groups, newGroup(parts))
	}
	return &Rules{fold: r.fold, groups: groups}
}

func newGroup(parts []part) *group {
	g := &group{parts: parts}
	for _, p := range parts {
		if len(p.components) == 1 {
			glob := &p.components[0].Glob
			g.final = append(g.final, last{glob.Filter(), p.pattern.Dir, p.pattern, glob})
		}
	}
	return g
}

// enter returns the group in a subdirectory.
func (g *group) enter(dir string) *group {
	for i := range g.parts {
		if p := &g.parts[i]; len(p.components) > 1 && p.components[0].Glob.Match(dir) {
			return g.below(func(p part) bool { return p.components[0].Glob.Match(dir) })
		}
	}
	if made := g.elsewhere.Load(); made != nil {
		return made
	}
	g.elsewhere.CompareAndSwap(nil, g.below(func(part) bool { return false }))
	return g.elsewhere.Load()
}

// below returns the group in a subdirectory whose name the first components match for which
// match returns true. It is g if nothing differs.
func (g *group) below(match func(part) bool) *group {
	var parts []part
	for _, p := range g.parts {
		if p.components[0].Deep {
			parts = appendPart(parts, p)
		}
		if len(p.components) > 1 && match(p) {
			parts = appendPart(parts, part{p.pattern, p.components[1:]})
		}
	}
	if slices.EqualFunc(parts, g.parts, part.same) {
		return g
	}
	return newGroup(parts)
}

// appendPart appends a part unless it is the last one already. The parts of a pattern arrive
// with equal ones next to each other.
func appendPart(parts []part, p part) []part {
	if n := len(parts); n > 0 && p.same(parts[n-1]) {
		return parts
	}
	return append(parts, p)
}

func (p part) same(q part) bool {
	return p.pattern == q.pattern && len(p.components) == len(q.components)
}

// Ignored reports whether an entry of the directory is ignored. isDir is false for a
// symbolic link to a directory.
func (r *Rules) Ignored(name string, isDir bool) bool {
	p := r.Match(name, isDir)
	return p != nil && !p.Include
}

// Match returns the pattern that decides on an entry of the directory, or nil if no pattern
// matches it.
func (r *Rules) Match(name string, isDir bool) *Pattern {
	if r == nil {
		return nil
	}
	for k := len(r.groups) - 1; k >= 0; k-- {
		final := r.groups[k].final
		for i := len(final) - 1; i >= 0; i-- {
			p := &final[i]
			if p.filter.Pass(name) && (isDir || !p.dir) && p.glob.Match(name) {
				return p.pattern
			}
		}
	}
	return nil
}

// appendSource appends the patterns of a source that can match anything.
func appendSource(parts []part, s Source, fold bool) []part {
	data := bytes.TrimPrefix(s.Data, []byte("\ufeff"))
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if p, components := parse(string(line), fold); components != nil {
			p.Source, p.Line = s.Name, number
			parts = append(parts, part{p, components})
		}
	}
	return parts
}

// parse parses a line. There are no components if it is not a pattern or can match nothing.
func parse(line string, fold bool) (*Pattern, wildmatch.Pattern) {
	if strings.HasPrefix(line, "#") {
		return nil, nil
	}
	line = strings.TrimSuffix(line, "\r")
	line, _, _ = strings.Cut(line, "\x00") // git reads it as a string of C
	line = trimSpaces(line)
	p := &Pattern{Text: line}
	line, p.Include = strings.CutPrefix(line, "!")
	line, p.Dir = strings.CutSuffix(line, "/")
	if line == "" {
		return nil, nil
	}
	if !strings.Contains(line, "/") {
		glob, ok := wildmatch.Name(line, fold)
		if !ok {
			return nil, nil
		}
		return p, wildmatch.Pattern{{Deep: true, Glob: glob}}
	}
	return p, wildmatch.Compile(strings.TrimPrefix(line, "/"), fold)
}

// trimSpaces removes the spaces at the end of a line, except for one after a backslash.
func trimSpaces(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if end == len(line) {
		return line
	}
	escaped := false
	for _, b := range []byte(line[:end]) {
		escaped = b == '\\' && !escaped
	}
	if escaped {
		end++
	}
	return line[:end]
}
