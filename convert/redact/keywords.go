package redact

import (
	"bytes"
	"cmp"
	"slices"
)

// keywords finds words in text, case-insensitively, in one pass. The zero keywords is
// empty.
type keywords struct {
	words  []keyword
	starts [1 << 16]uint16 // index in lists, by the first two bytes
	lists  [][]int         // indexes in words; the first list is empty
}

type keyword struct {
	text  []byte
	rules []int
}

// add adds a word of a rule, in lower case and with at least two letters.
func (k *keywords) add(text string, rule int) {
	if k.lists == nil {
		k.lists = [][]int{nil}
	}
	start := &k.starts[int(text[0])<<8|int(text[1])]
	for _, i := range k.lists[*start] {
		if string(k.words[i].text) == text {
			k.words[i].rules = append(k.words[i].rules, rule)
			return
		}
	}
	if *start == 0 {
		*start = uint16(len(k.lists))
		k.lists = append(k.lists, nil)
	}
	k.lists[*start] = append(k.lists[*start], len(k.words))
	k.words = append(k.words, keyword{[]byte(text), []int{rule}})
}

// A hit is the position of a word of a rule.
type hit struct{ rule, at int }

// find returns the words in s, grouped by rule and in order.
func (k *keywords) find(s []byte) []hit {
	if len(s) == 0 {
		return nil
	}
	lower := bytes.Clone(s)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	var hits []hit
	before := lower[0]
	for i, c := range lower[1:] {
		start := k.starts[int(before)<<8|int(c)]
		before = c
		if start == 0 {
			continue
		}
		for _, w := range k.lists[start] {
			if word := &k.words[w]; bytes.HasPrefix(lower[i:], word.text) {
				for _, rule := range word.rules {
					hits = append(hits, hit{rule, i})
				}
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.rule, b.rule) })
	return hits
}
