package merge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/merge"
)

// path returns the messages that a text names: a word is an id, with ">x" a merge of what ends
// with x, with "=x" a copy of x, with "=x..y" a summary of x to y, and with "=s,x..y" a copy of such a summary s. With
// "#c", its content is c.
func path(text string) (list []merge.Step) {
	for _, word := range strings.Fields(text) {
		word, content, _ := strings.Cut(word, "#")
		id, merged, _ := strings.Cut(word, ">")
		id, copied, _ := strings.Cut(id, "=")
		copied, summary, _ := strings.Cut(copied, ",")
		if strings.Contains(copied, "..") {
			copied, summary = "", copied
		}
		first, last, _ := strings.Cut(summary, "..")
		list = append(list, merge.Step{ID: id, Merged: merged, Copied: copied, Content: content, First: first, Last: last})
	}
	return list
}

// within returns what a text says that merges and summaries stand for: "x: a b; y: c".
func within(text string) map[string][]merge.Step {
	all := map[string][]merge.Step{}
	for part := range strings.SplitSeq(text, ";") {
		if id, list, ok := strings.Cut(part, ":"); ok {
			all[strings.TrimSpace(id)] = path(list)
		}
	}
	return all
}

// TestMake: only what is new travels, in both directions.
func TestMake(t *testing.T) {
	for _, c := range []struct{ name, target, branch, brings, base, nothing, within string }{
		{"everything", "", "a b", "a b", "", "", ""},
		{"beyond the fork", "a c", "a b", "b", "a", "", ""},
		{"an ancestor", "a b", "a", "", "a", merge.Ancestor, ""},
		{"since the last merge", "a m>b c", "a b d e", "d e", "b", "", ""},
		{"merged before", "a m>b", "a b", "", "b", merge.Already, ""},
		{"back: only what is new", "a b", "a c m>b d", "c d", "a", "", ""},
		{"back: nothing", "a b", "a m>b", "", "m", merge.Already, ""},
		{"back, after the base", "a b", "a m>b d", "d", "m", "", ""},
		{"back and forth", "a b n>c e", "a c m>b d", "d", "m", "", ""},
		{"back and forth twice", "a b n>c e o>d", "a c m>b d p>e f", "f", "p", "", ""},
		{"both merged a third", "a m>x", "a n>x b", "b", "n", "", ""},
		{"a merge of a third is new", "a b", "a n>x", "n", "a", "", ""},
		{"a merge of later messages is new", "a b", "a m>c", "m", "a", "", ""},
		{"a copy of the target's", "a b", "a c=b d", "d", "c", "", ""},
		{"copied to the target", "a d=c", "a b c e", "b e", "a", "", ""},
		{"a summary of the target's", "a b c d", "a e=b..c d2=d", "", "d2", merge.Already, ""},
		{"a summary in the target", "a e=b..c d2=d", "a b c d f", "f", "d", "", ""},
		{"a copy of a summary in the target, whose session is gone", "a f=e,b..c", "a b c d", "d", "c", "", ""},
		{"a copy of a summary in the branch, whose session is gone", "a b c", "a f=e,b..c d", "d", "f", "", ""},
		{"a copy of a summary that the target has", "a e=b..c", "a f=e,b..c d", "d", "f", "", ""},
		{"both copied a third", "a d=x", "a c=x e", "e", "c", "", ""},
		{"through a third", "t m>n", "t b c d e", "", "e", merge.Already, "m: b c n>e; n: d e"},
		{"through a third, and more", "t m>n", "t b c d e f", "f", "e", "", "m: b c n>e; n: d e"},
		{"through a third that is gone", "t m>n", "t b c d e", "d e", "c", "", "m: b c n>x"},
		{"back through a third", "t b c d e", "t m>n", "", "m", merge.Already, "m: b c n>e; n: d e"},
		{"back through a third, and more", "t b c d e", "t m>n", "m", "t", "", "m: b c n>f; n: d e f"},
		{"copied by a third", "t m>x", "t b c", "c", "b", "", "m: x=b"},
		{"a squashed merge", "t s=m..m", "t b c", "", "c", merge.Already, "s: m>c; m: b c"},
		{"a squashed merge, and more", "t s=a..m", "t b c d", "d", "c", "", "s: a m>c; m: b c"},
		{"a squash of a squash", "t r=s..x", "t b c", "", "c", merge.Already, "r: s=a..m x; s: a m>c; m: b c"},
		{"a dropped merge", "t d2=d", "t b c", "b c", "t", "", "m: b c"},
		{"a copy without the id", "a b#1", "a c#1 d#2", "d", "c", "", ""},
		{"a copy without the id, and back", "a c#1 d#2", "a b#1", "", "b", merge.Already, ""},
		{"a copy without the id, in a merge", "t m>c", "t x#1 d#2", "d", "x", "", "m: b c#1"},
		{"a merge of copies without ids", "t b#1 c#2", "t m>y d", "d", "m", "", "m: x#1 y#2"},
		{"equal content twice", "a b#1", "a c#1 d#1 e", "e", "d", "", ""},
		{"a merge of itself", "t", "t m>m", "m", "t", "", "m: m>m"},
	} {
		target, branch := path(c.target), path(c.branch)
		n := 0
		for n < min(len(target), len(branch)) && target[n].ID == branch[n].ID {
			n++
		}
		p := merge.Make(target, branch, within(c.within), n, n)
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
