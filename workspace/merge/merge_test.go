package merge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/merge"
)

// path returns the messages that a text names: a word is an id, with ">x" a merge of what ends
// with x, with "=x" a copy of x, and with "=x..y" a summary of x to y.
func path(text string) (list []merge.Step) {
	for _, word := range strings.Fields(text) {
		id, merged, _ := strings.Cut(word, ">")
		id, copied, _ := strings.Cut(id, "=")
		first, last, summarizes := strings.Cut(copied, "..")
		if !summarizes {
			first, last = "", copied
		}
		list = append(list, merge.Step{ID: id, Merged: merged, Copied: last, First: first})
	}
	return list
}

// TestMake: only what is new travels, in both directions.
func TestMake(t *testing.T) {
	for _, c := range []struct{ name, target, branch, brings, base, nothing string }{
		{"everything", "", "a b", "a b", "", ""},
		{"beyond the fork", "a c", "a b", "b", "a", ""},
		{"an ancestor", "a b", "a", "", "a", merge.Ancestor},
		{"since the last merge", "a m>b c", "a b d e", "d e", "b", ""},
		{"merged before", "a m>b", "a b", "", "b", merge.Already},
		{"back: only what is new", "a b", "a c m>b d", "c d", "a", ""},
		{"back: nothing", "a b", "a m>b", "", "m", merge.Already},
		{"back, after the base", "a b", "a m>b d", "d", "m", ""},
		{"back and forth", "a b n>c e", "a c m>b d", "d", "m", ""},
		{"back and forth twice", "a b n>c e o>d", "a c m>b d p>e f", "f", "p", ""},
		{"both merged a third", "a m>x", "a n>x b", "b", "n", ""},
		{"a merge of a third is new", "a b", "a n>x", "n", "a", ""},
		{"a merge of later messages is new", "a b", "a m>c", "m", "a", ""},
		{"a copy of the target's", "a b", "a c=b d", "d", "c", ""},
		{"copied to the target", "a d=c", "a b c e", "b e", "a", ""},
		{"a summary of the target's", "a b c d", "a e=b..c d2=d", "", "d2", merge.Already},
		{"a summary in the target", "a e=b..c d2=d", "a b c d f", "f", "d", ""},
		{"both copied a third", "a d=x", "a c=x e", "e", "c", ""},
	} {
		target, branch := path(c.target), path(c.branch)
		n := 0
		for n < min(len(target), len(branch)) && target[n].ID == branch[n].ID {
			n++
		}
		p := merge.Make(target, branch, n, n)
		var brings []string
		for _, i := range p.Brings {
			brings = append(brings, branch[i].ID)
		}
		base := ""
		if p.Base >= 0 {
			base = branch[p.Base].ID
		}
		if !slices.Equal(brings, strings.Fields(c.brings)) || base != c.base || p.Nothing != c.nothing {
			t.Errorf("%s: it brings %v after %q, nothing %q; want %q after %q, nothing %q", c.name, brings, base, p.Nothing, c.brings, c.base, c.nothing)
		}
	}
}
