package recognize

// spoken returns the groups that sentences name.
func spoken(list []block) []group {
	var groups []group
	var labels, others []Strategy
	sure := false // that the others are meant to be chosen from
	for _, b := range list {
		if b.text == "" || b.level > 0 {
			continue
		}
		for _, s := range sentences(b.text) {
			if rest, ok := unlabel(s); ok {
				rest, _ = cutPrefixes(rest, "is to", "would be to", "is", "would be")
				labels = append(labels, named(rest))
			}
			if rest, ok := cutPrefixes(s, "one option is", "one approach is", "one way is", "one possibility is", "one option would be", "one approach would be",
				"another option is", "another approach is", "another way is", "another is", "another option would be", "another would be", "another possibility is",
				"alternatively", "a third option is", "a third is", "the other option is", "the other is", "or we could", "or you could",
				"we could also", "you could also", "we could", "you could", "i could"); ok {
				sure = sure || !startsWith(s, "we could", "you could", "i could", "or we could", "or you could")
				rest, _ = cutPrefixes(rest, "to", "we could", "you could")
				others = append(others, named(rest))
			}
			if g := enumerated(s); len(g.named) > 1 {
				groups = append(groups, g)
			}
		}
	}
	score := start
	if sure {
		score += 0.4
	}
	return append(groups,
		group{"sentence", labels, start + labelled},
		group{"sentence", others, score})
}
