package ignore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/ignore"
)

// cases are pattern files with paths that they ignore and others that they do not. Paths that
// end in a slash are directories.
var cases = []struct {
	name, patterns    string
	ignored, included []string
}{
	{"a name anywhere", "out\n", []string{"out", "x/out", "x/out/", "out/deep/below"}, []string{"outer", "xout", "Out"}},
	{"a directory only", "out/\n", []string{"out/", "x/out/", "out/f"}, []string{"out", "x/out"}},
	{"anchored by a slash", "/out\n", []string{"out", "out/"}, []string{"x/out"}},
	{"anchored by a slash inside", "x/out\n", []string{"x/out"}, []string{"y/x/out", "x/y/out"}},
	{"a slash at the end does not anchor", "out/\n", []string{"y/z/out/"}, nil},
	{"asterisk", "*.o\nx/*/z\n", []string{".o", "a.o", "d/a.o", "x/y/z"}, []string{"a.oo", "x/z", "x/y/y/z"}},
	{"asterisks in a name", "a*b*c\n", []string{"abc", "aXbXc", "abcbc"}, []string{"acb", "abcd"}},
	{"question mark", "a?c\n", []string{"abc", "a-c"}, []string{"ac", "abbc", "aéc"}},
	{"any directories before", "**/x/y\n", []string{"x/y", "d/x/y", "d/e/x/y"}, []string{"x/z/y"}},
	{"any directories between", "a/**/z\n", []string{"a/z", "a/b/z", "a/b/c/z"}, []string{"z", "b/a/z", "az"}},
	{"all below", "a/**\n", []string{"a/b", "a/b/c/", "a/b/c"}, []string{"a", "a/", "b/a/c"}},
	{"all below several", "*/**/x/**\n", []string{"a/x/y", "a/b/x/y"}, []string{"x/y", "a/x/"}},
	{"two asterisks in a word are one", "a**/z\nb**\n", []string{"ab/z", "a/z", "bc", "d/b"}, []string{"az", "ab/c/z", "ab/"}},
	{"three asterisks", "***/z\n", []string{"z", "a/z", "a/b/z"}, nil},
	{"an escaped slash needs a directory", "**\\/z\n", []string{"a/z", "a/b/z"}, []string{"z"}},
	{"set", "[ab]c\n", []string{"ac", "bc"}, []string{"cc", "c", "abc"}},
	{"negated set", "[!a]c\n[^x]d\n", []string{"bc", "-c", "!c", "ad"}, []string{"ac", "xd", "c"}},
	{"range", "[a-c]x\n[1-]y\n[-2]z\n", []string{"bx", "-y", "1y", "-z", "2z"}, []string{"dx", "-x", "2y"}},
	{"set with brackets", "[]-]a\n[[]b\n[\\]]c\n", []string{"]a", "-a", "[b", "]c"}, []string{"a", "\\c"}},
	{"classes", "[[:digit:]]a\n[[:alpha:]_]b\n[![:space:]]c\n", []string{"1a", "xb", "_b", "xc"}, []string{"xa", "1b", " c", ":a"}},
	{"a set without an end matches nothing", "[a\na[\n", nil, []string{"a", "[a", "a["}},
	{"an unknown class matches nothing", "[[:none:]]\n", nil, []string{"n", ":"}},
	{"a set has no slash", "a[/]b\na[!x]b\n", []string{"a-b"}, []string{"a/b"}},
	{"escapes", "\\*\n\\#a\n\\!b\nc\\d\n", []string{"*", "#a", "!b", "cd"}, []string{"a", "b", "c\\d", "\\*"}},
	{"a backslash at the end matches nothing", "a\\\n", nil, []string{"a", "a\\"}},
	{"comments", "#a\n #b\na#\n", []string{" #b", "a#"}, []string{"#a", "a", "#b"}},
	{"empty lines", "\n\n  \n!\n/\n", nil, []string{"a", " ", "!"}},
	{"spaces at the end", "a  \nb\\ \nc\\  \n d\n", []string{"a", "b ", "c ", " d"}, []string{"a ", "b", "c  ", "d"}},
	{"a space after an escaped backslash", "a\\\\ \n", []string{"a\\"}, []string{"a\\ "}},
	{"a tab at the end stays", "a\t\n", []string{"a\t"}, []string{"a"}},
	{"lines of Windows", "a\r\nb \r\nc\rd\r\n/\r\n", []string{"a", "b", "c\rd"}, []string{"a\r"}},
	{"no newline at the end", "a\nb\r", []string{"a", "b"}, []string{"b\r"}},
	{"byte order mark", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}, []string{"b"}},
	{"bytes that are not UTF-8", "\xff*\n[\xc3]\n", []string{"\xff", "\xffa", "\xc3"}, []string{"a", "ÿ", "é"}},
	{"zero byte", "a\x00b\n", []string{"a"}, []string{"ab"}},
	{"the last pattern decides", "*.a\n!b.a\nb.*\n!b.a\n", []string{"c.a", "b.c"}, []string{"b.a"}},
	{"nothing below an ignored directory comes back", "d/\n!d/f\n", []string{"d/f", "d/g"}, nil},
	{"all but one", "/*\n!/d\n/d/*\n!/d/f\n", []string{"a", "d/g", "d/d/"}, []string{"d/", "d/f"}},
	{"a negated directory only", "a\n!a/\n", []string{"a"}, []string{"a/", "a/b"}},
	{"two slashes match nothing", "a//b\n//c\nd//\n", nil, []string{"a/b", "c", "d/"}},
	{"a dot is a byte", ".\n./a\n*.*\n", []string{"a.b", ".a"}, []string{"a", "ab"}},
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		sources := func(dir string) []ignore.Source {
			if dir != "" {
				return nil
			}
			return []ignore.Source{{Name: ignore.GitName, Data: []byte(c.patterns)}}
		}
		root := ignore.Root(false, sources("")...)
		for _, path := range slices.Concat(c.ignored, c.included) {
			p := decide(root, sources, path)
			if got := p != nil && !p.Include; got != slices.Contains(c.ignored, path) {
				t.Errorf("%s: %q: ignored is %v", c.name, path, got)
			}
		}
	}
}

// TestCasesOfGit: git agrees with the cases, except for what its version has otherwise.
func TestCasesOfGit(t *testing.T) {
	j := newJudge(t)
	files := map[string]string{}
	var paths []string
	for i, c := range cases {
		if j.midWord && midWordPattern.MatchString(c.patterns) {
			continue
		}
		for k, path := range slices.Concat(c.ignored, c.included) {
			top := fmt.Sprintf("%d/%d/", i, k) // a path of its own: others have the same name for a directory
			files[top+ignore.GitName] = c.patterns
			j.write(t, top+ignore.GitName, c.patterns)
			paths = append(paths, top+path)
		}
	}
	j.compare(t, false, sourcesIn(j, files), paths)
}
