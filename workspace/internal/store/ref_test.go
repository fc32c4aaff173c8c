package store

import (
	"fmt"
	"strings"
	"testing"
)

func formsOf(ref string) string {
	var list []string
	for _, f := range parseRef(ref) {
		s := fmt.Sprintf("%q", f.name)
		if f.sep != 0 {
			s += fmt.Sprintf("%c%q", f.sep, f.message)
		}
		if f.up != 0 {
			s += fmt.Sprintf("~%d", f.up)
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func TestParseRef(t *testing.T) {
	for ref, want := range map[string]string{
		"":                          `""`,
		"HEAD":                      `"HEAD"`,
		"HEAD^":                     `"HEAD^" "HEAD"~1`,
		"HEAD~2^":                   `"HEAD~2^" "HEAD~2"~1 "HEAD"~3`,
		"@":                         `"@" ""@""`,
		"@~1":                       `"@~1" "@"~1 ""@""~1 ""@"~1"`,
		"-~":                        `"-~" "-"~1`,
		"trip":                      `"trip"`,
		"trip~12":                   `"trip~12" "trip"~12`,
		"~2":                        `"~2"`,
		"^":                         `"^"`,
		"^^":                        `"^^" "^"~1`,
		"trip@m":                    `"trip@m" "trip"@"m"`,
		"trip@":                     `"trip@" "trip"@""`,
		"me@work@m":                 `"me@work@m" "me@work"@"m"`,
		"trip@m^":                   `"trip@m^" "trip@m"~1 "trip"@"m"~1 "trip"@"m^"`,
		"tree/node":                 `"tree/node" "tree"/"node"`,
		"a/b@c/d":                   `"a/b@c/d" "a/b"@"c/d" "a/b@c"/"d"`,
		"trip~99999999999999999999": `"trip~99999999999999999999" "trip"~2147483647`,
		"2~x":                       `"2~x"`,
	} {
		if got := formsOf(ref); got != want {
			t.Errorf("%q is read as %s, want %s", ref, got, want)
		}
	}
}

// FuzzParseRef: the whole string is the first name to try, and each form consists of the
// parts of the string, with operators added up.
func FuzzParseRef(f *testing.F) {
	for _, ref := range []string{"", "HEAD~2^", "trip@m^", "a/b@c/d~3", "^^^", "~~", "@-", "x~18446744073709551616"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		forms := parseRef(ref)
		if forms[0] != (refForm{name: ref}) {
			t.Fatalf("%q is first read as %+v", ref, forms[0])
		}
		for _, form := range forms[1:] {
			read := form.name
			if form.sep != 0 {
				read += string(form.sep) + form.message
			}
			rest, ok := strings.CutPrefix(ref, read)
			if !ok || strings.Trim(rest, "~^0123456789") != "" || form.up < 0 || rest == "" && form.up != 0 || form.sep == 0 && form.name == "" {
				t.Fatalf("%q is read as %+v", ref, form)
			}
		}
	})
}
