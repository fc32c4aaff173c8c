// Package wildmatch matches slash-separated paths against the patterns of git: those of
// .gitignore files and of conditional includes in its configuration.
//
// A pattern is a sequence of components, separated by slashes:
//
//	?       one byte
//	*       any number of bytes
//	[a-z]   one byte of a set; [!a-z] and [^a-z] one that is not in it; [[:digit:]] and
//	        the other class names of POSIX, for ASCII
//	\c      the byte c itself
//	**      as a whole component: any number of components, also none; at the end at
//	        least one
//
// None of them matches a slash. Elsewhere ** is *. Patterns and paths are bytes: a
// character that is not ASCII is several of them. An incomplete pattern, such as one with a
// set that has no end, matches nothing.
//
// To match a name of n bytes against a component of m takes at most n*m steps, and one
// against a [Pattern] no more for each of its components.
package wildmatch

import "strings"

// A Pattern is a compiled pattern. Its components are matched one at a time, so that a walk
// of a tree compares each name once.
type Pattern []Component

// A Component matches one name of a path.
type Component struct {
	// Deep reports that ** precedes the component: any number of names may come before
	// the one that it matches.
	Deep bool
	Glob Glob
}

// Compile compiles a pattern. If fold is set, ASCII letters match in both cases, as git
// does it: not after a backslash and not as a single byte of a set, where an upper-case
// letter matches nothing. The pattern has no component if it can match nothing.
func Compile(text string, fold bool) Pattern {
	c := compiler{text: text, fold: fold}
	if !c.compile() {
		return nil
	}
	return c.done
}

// Name compiles a pattern for a single name, without slashes. In it, ** is *.
func Name(text string, fold bool) (g Glob, ok bool) {
	c := compiler{text: text, fold: fold, name: true}
	if !c.compile() {
		return Glob{}, false
	}
	return c.done[0].Glob, true
}

// Match reports whether the whole path matches. The names of the path are those between its
// slashes; a path that begins with a slash begins with an empty name.
func (p Pattern) Match(path string) bool {
	if len(p) == 0 {
		return false
	}
	at := make([]bool, len(p)) // the components that the next name is compared with
	at[0] = true
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			return at[len(p)-1] && p[len(p)-1].Glob.Match(name)
		}
		for i := len(p) - 1; i >= 0; i-- {
			if !at[i] {
				continue
			}
			if i+1 < len(p) && p[i].Glob.Match(name) {
				at[i+1] = true
			}
			at[i] = p[i].Deep
		}
		path = rest
	}
}

// A compiler splits a pattern into components.
type compiler struct {
	text string
	fold bool
	name bool // no slash separates components

	at   int
	deep bool
	glob globBuilder
	done Pattern
}

// compile reports whether the pattern can match anything.
func (c *compiler) compile() bool {
	for c.at < len(c.text) {
		b := c.text[c.at]
		c.at++
		switch b {
		case '/':
			c.end()
		case '?':
			c.glob.any()
		case '*':
			if c.stars() {
				return true
			}
		case '[':
			n, set, ok := parseSet(c.text[c.at:], c.fold)
			if !ok {
				return false
			}
			c.at += n
			c.glob.set(set)
		case '\\':
			if c.at == len(c.text) {
				return false
			}
			b = c.text[c.at]
			c.at++
			if b == '/' {
				c.end()
			} else {
				c.glob.literal(b)
			}
		default:
			if c.fold {
				b = lower(b)
			}
			c.glob.literal(b)
		}
	}
	c.end()
	return true
}

// stars adds one or more asterisks, of which the first was read. It reports whether they
// complete the pattern.
func (c *compiler) stars() bool {
	first := c.at - 1
	for c.at < len(c.text) && c.text[c.at] == '*' {
		c.at++
	}
	rest := c.text[c.at:]
	whole := !c.name && c.at-first > 1 && (first == 0 || c.text[first-1] == '/')
	switch {
	case whole && rest == "":
		c.deep = true
		c.glob.star()
		c.end()
		return true
	case whole && rest[0] == '/':
		c.deep = true
		c.at++
	case whole && strings.HasPrefix(rest, `\/`): // git compares an escaped slash, so a component must precede it
		c.deep = true
		c.glob.star()
	default:
		c.glob.star()
	}
	return false
}

func (c *compiler) end() {
	c.done = append(c.done, Component{Deep: c.deep, Glob: c.glob.build(c.fold)})
	c.deep, c.glob = false, globBuilder{}
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
