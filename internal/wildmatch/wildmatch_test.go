package wildmatch_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/wildmatch"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern       string
		fold          bool
		match, differ []string
	}{
		{pattern: "/home/**", match: []string{"/home/a", "/home/a/b/.git"}, differ: []string{"/home", "home/a", "/homes/a"}},
		{pattern: "**/work/**", match: []string{"/work/a", "/home/work/a/.git", "work/a"}, differ: []string{"/work", "/workshop/a"}},
		{pattern: "**/a/.git", match: []string{"/a/.git", "/x/a/.git", "a/.git"}, differ: []string{"/xa/.git", "/a/b/.git"}},
		{pattern: "feature/*", match: []string{"feature/x"}, differ: []string{"feature/x/y", "feature"}},
		{pattern: "a/**/b/**/c", match: []string{"a/b/c", "a/x/b/b/c", "a/b/y/z/c"}, differ: []string{"a/c", "b/c", "a/b/b"}},
		{pattern: "/HOME/xY[A-C]", fold: true, match: []string{"/home/xya", "/Home/XYc"}, differ: []string{"/home/xyd"}},
		{pattern: "x\\Y", fold: true, match: nil, differ: []string{"xy", "xY"}}, // as git: the small letter is compared
		{pattern: "x[A]", fold: true, differ: []string{"xa", "xA"}},
		{pattern: "", match: []string{""}, differ: []string{"a"}},
		{pattern: "[", differ: []string{"["}},
	} {
		p := wildmatch.Compile(c.pattern, c.fold)
		for _, path := range c.match {
			if !p.Match(path) {
				t.Errorf("%q does not match %q", c.pattern, path)
			}
		}
		for _, path := range c.differ {
			if p.Match(path) {
				t.Errorf("%q matches %q", c.pattern, path)
			}
		}
	}
}

// TestHostile: patterns on which a matcher that tries all ways would run for years are no
// more work than others, and a name takes no allocations.
func TestHostile(t *testing.T) {
	name := strings.Repeat("a", 4096)
	for _, text := range []string{
		strings.Repeat("*a", 1000) + "b",
		strings.Repeat("*a", 1000) + "*b*a",
		strings.Repeat("*?", 1000) + "b",
		strings.Repeat("*[ab]", 1000) + "[c-z]",
		"a" + strings.Repeat("*", 100_000) + "b",
	} {
		for _, fold := range []bool{false, true} {
			g, ok := wildmatch.Name(text, fold)
			if !ok {
				t.Fatalf("%.20q does not compile", text)
			}
			if g.Match(name) {
				t.Errorf("%.20q matches", text)
			}
			if n := testing.AllocsPerRun(1, func() { g.Match(name) }); n > 0 {
				t.Errorf("%.20q: a match takes %v allocations", text, n)
			}
		}
	}
	path := strings.Repeat("a/", 2000)
	for _, text := range []string{
		strings.Repeat("**/a/", 200) + "b",
		strings.Repeat("**/*/", 200) + "b",
		strings.Repeat("**/*a*/", 200) + "b",
	} {
		if p := wildmatch.Compile(text, false); p.Match(path+"c") || !p.Match(path+"b") {
			t.Errorf("%.20q: wrong", text)
		}
	}
}
