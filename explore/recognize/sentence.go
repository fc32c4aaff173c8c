package recognize

import (
	"slices"
	"strings"
)

// spoken returns the groups in sentences and paragraphs.
func spoken(list []block) []group {
	var groups []group
	var labels []Strategy
	for i, b := range list {
		if b.text == "" || b.level > 0 {
			continue
		}
		units := sentences(b.text)
		a := around(list, i, i+1)
		for k, s := range units {
			if rest, ok := unlabel(s); ok {
				rest, _ = cutPrefixes(rest, "is to", "would be to", "is", "would be")
				labels = append(labels, named(rest))
			}
			after := strings.Join(units[k+1:], " ") + " " + a.after
			for _, g := range enumerated(s) {
				g.score += chooses(after)
				groups = append(groups, g)
			}
		}
		if i+1 < len(list) && list[i+1].text != "" && list[i+1].level == 0 {
			a.before = "" // it introduces paragraphs
		}
		groups = append(groups, sequences(units, a.before, a.after)...)
	}
	for i := 0; i < len(list); i++ {
		k := i
		var units []string
		for k < len(list) && list[k].text != "" && list[k].level == 0 && list[k].lead == "" {
			units = append(units, list[k].text)
			k++
		}
		if len(units) > 1 {
			a := around(list, i, k)
			groups = append(groups, sequences(units, a.before, "")...)
		}
		i = max(i, k-1)
	}
	return append(groups, group{"sentence", labels, start + labelled})
}

// sequences returns the groups of consecutive units, which are sentences or paragraphs.
func sequences(units []string, before, after string) []group {
	return []group{announced(units, before, after), chained(units, before, after), conditional(units, before, after), offered(units)}
}

// offered returns the units between one that ends with a colon and a short one
// that asks for a choice.
func offered(units []string) group {
	g := group{rule: "sentence", score: start}
	n := len(units)
	if n < 4 || n > maxUnits+2 || !strings.HasSuffix(units[0], ":") || len(strings.Fields(units[n-1])) > 8 {
		return g
	}
	for _, s := range units[1 : n-1] {
		g.named = append(g.named, nameOf(s))
	}
	if chooses(units[n-1]) > 0 {
		g.score += 0.4
	}
	return g
}

// maxUnits is the maximum number of alternatives without marks.
const maxUnits = 4

// announced returns the units after an announcement such as "There are two
// ways".
func announced(units []string, before, after string) (best group) {
	for i := -1; i+1 < len(units); i++ {
		intro := before
		if i >= 0 {
			intro = units[i]
		}
		intro = lastSentence(intro)
		weight, n := heard(intro)
		rest := units[i+1:]
		if weight < 0.3 || len(rest) < 2 {
			continue
		}
		g := group{rule: "sentence", score: start + weight}
		if ordered := ordinals(rest); len(ordered) > 1 && (n == 0 || n == len(ordered)) {
			g.named = ordered
			g.score += counted
		} else {
			kept := slices.IndexFunc(rest, comments)
			if kept < 0 {
				kept = len(rest)
			}
			if _, of := ordinal(rest[min(max(n, 0), len(rest)-1)], 0); n > 1 && kept > n && of {
				kept = n // "The first is shorter"
			}
			if kept < 2 || kept > maxUnits || n > 1 && kept != n || n == 0 && !plural(intro) {
				continue
			}
			var names []string
			for _, s := range rest[:kept] {
				g.named = append(g.named, nameOf(s))
				names = append(names, s)
			}
			g.score = weigh(names, intro, "", "")
		}
		g.score += chooses(strings.Join(rest, " ") + " " + after)
		if g.score > best.score {
			best = g
		}
	}
	return best
}

// plural reports whether an announcement is of an unspecified number of items,
// or ends with a colon.
func plural(intro string) bool {
	words := " " + strings.Join(normalWords(intro), " ") + " "
	for _, w := range []string{"more than one", "some", "several", "a few", "options", "ways", "approaches", "alternatives", "possibilities", "trade off"} {
		if strings.Contains(words, " "+w+" ") {
			return true
		}
	}
	return strings.HasSuffix(intro, ":") || len(strings.Fields(words)) < 9 && startsWith(intro, "let's decide", "let's choose", "let's pick", "time to decide", "we have to decide", "we have to choose")
}

// comments reports whether a sentence is about alternatives but is not one.
func comments(s string) bool {
	return chooses(s) > 0 || strings.HasSuffix(s, "?") ||
		startsWith(s, "both", "either", "neither", "any of", "these", "they all", "all of", "i'd", "i would", "i think", "i prefer", "personally", "my", "the former", "the latter", "of the two", "for now", "given", "in short")
}

// ordinals returns the units that begin with "The first", "The second" and so
// on, with the units after each as its description.
func ordinals(units []string) []Strategy {
	var list []Strategy
	for _, s := range units {
		rest, ok := ordinal(s, len(list))
		switch {
		case ok:
			list = append(list, nameOf(rest))
		case len(list) > 0 && !comments(s):
			last := &list[len(list)-1]
			last.Description = strings.TrimSpace(last.Description + " " + s)
		}
	}
	return list
}

// ordinal returns the rest of a unit that begins with the n-th ordinal, from 0,
// and reports whether it does.
func ordinal(s string, n int) (rest string, ok bool) {
	begins := [][]string{
		{"the first", "first", "one is", "one would be", "one way", "one option", "the quick", "the easy", "the simple", "the cheap", "the short", "my first"},
		{"the second", "second", "another", "the other", "the proper", "the thorough", "the hard", "the clean", "the long", "my second"},
		{"the third", "third", "a third", "another", "the last"},
		{"the fourth", "fourth", "a fourth", "the last"},
	}
	if n >= len(begins) {
		return s, false
	}
	rest, ok = cutPrefixes(s, begins[n]...)
	if !ok {
		return s, false
	}
	noun := []string{"option", "approach", "way", "one", "possibility", "thought", "school", "idea", "solution", "alternative", "choice"}
	rest, _ = cutPrefixes(rest, noun...)
	if said, ok := cutPrefixes(rest, "is to", "would be to", "would be", "is", "was", "says to", "says"); ok {
		return said, true
	}
	return rest, true
}

// An opener is the way in which a unit begins that may be an alternative to the
// one before.
type opener int

const (
	plain  opener = iota
	modal         // "You could": an alternative if there is another one
	joined        // "Or", "Another option is": the unit before is an alternative too
)

// openerOf returns the opener of a unit, and the rest.
func openerOf(s string) (opener, string) {
	if rest, ok := cutPrefixes(s, "one option is", "one approach is", "one way is", "one possibility is", "one option would be", "one approach would be",
		"another option is", "another approach is", "another way is", "another is", "another option would be", "another would be", "another possibility is", "another possibility", "another option", "another approach", "another way",
		"a third option is", "a third approach would be", "a third approach is", "a third is", "a third option would be", "the other option is", "the other is", "the alternative is"); ok {
		rest, _ = cutPrefixes(rest, "to", "we could", "you could")
		return joined, rest
	}
	if rest, ok := cutPrefixes(s, "alternatively", "or alternatively", "or else", "or just", "or simply", "or"); ok {
		rest, _ = cutPrefixes(rest, "we could", "you could", "we can", "you can", "i could", "just")
		return joined, rest
	}
	modals := []string{"we could", "you could", "i could", "we can", "you can", "could be", "we might", "you might"}
	for _, m := range modals {
		modals = append(modals, m+" also", m+" either")
	}
	if rest, ok := cutPrefixes(s, modals...); ok && !startsWith(rest, "have", "see", "find", "get", "want", "expect", "try the following") {
		return modal, rest
	}
	for _, infix := range []string{" would be a third", " would be another", " is a third", " is another option", " is the other option"} {
		if name, _, ok := strings.Cut(s, infix); ok && len(strings.Fields(name)) <= 6 {
			return joined, name
		}
	}
	return plain, s
}

// chained returns the units that openers such as "Or" and "Another option is"
// join.
func chained(units []string, before, after string) group {
	g := group{rule: "sentence", score: start}
	kinds := make([]opener, len(units))
	first, intro := -1, before
	for i, s := range units {
		kinds[i], _ = openerOf(s)
		if kinds[i] != plain && first < 0 {
			first = i
		}
	}
	if first < 0 {
		return g
	}
	from := first
	if kinds[first] == joined && first > 0 && startsWith(units[first], "or", "alternatively", "another") {
		// The unit before is the first alternative, or all units after an announcement are.
		from = first - 1
		for k := first - 1; k >= 0 && k >= first-maxUnits; k-- {
			if weight, _ := heard(units[k]); (weight >= 0.3 || strings.HasSuffix(units[k], "?")) && k < first-1 {
				from = k + 1
				break
			}
		}
		if strings.HasSuffix(units[from], "?") {
			return g
		}
	}
	if from > 0 {
		intro = units[from-1]
	}
	modals, strong := 0, false
	for i := from; i < len(units); i++ {
		kind, rest := openerOf(units[i])
		switch {
		case kind == plain && i >= first:
			if last := len(g.named) - 1; last >= 0 && !comments(units[i]) {
				g.named[last].Description = strings.TrimSpace(g.named[last].Description + " " + units[i])
			}
			continue
		case kind == modal:
			modals++
		case kind == joined:
			strong = true
		}
		if rest, other, ok := cutAny(rest, ", or "); ok && kind == modal {
			g.named = append(g.named, named(rest), named(other))
			continue
		}
		g.named = append(g.named, nameOf(rest))
	}
	weight, _ := heard(lastSentence(intro))
	switch {
	case strong:
		g.score += 0.4
	case strings.HasSuffix(intro, "?"), weight >= 0.3, modals > 2 && len(g.named) == modals:
		g.score += 0.35
	}
	g.score += chooses(units[len(units)-1] + " " + after)
	return g
}

// conditional returns units such as "If we go with A, …" and "If you want B,
// …".
func conditional(units []string, before, after string) group {
	g := group{rule: "sentence", score: start}
	depends := startsWith(lastSentence(before), "it depends", "depends")
	sure := false // the conditions are preferences, not circumstances
	for i, s := range units {
		depends = depends || startsWith(s, "it depends", "depends", "that depends")
		if rest, ok := cutPrefixes(s, "if we", "if you", "if i"); ok {
			condition, said, cut := strings.Cut(rest, ", ")
			if choice, ok := cutPrefixes(condition, "go with", "choose", "pick", "use", "go for", "stay with"); ok {
				sure = sure || !startsWith(condition, "use")
				g.named = append(g.named, Strategy{Name: choice, Description: said})
				continue
			}
			if startsWith(condition, "want", "care", "care about", "prefer", "value", "need", "would rather", "like") && cut ||
				cut && depends && startsWith(condition, "don't", "don’t", "do not", "do") {
				sure = sure || !startsWith(condition, "want", "need", "like")
				g.named = append(g.named, named(said))
				continue
			}
		} else if _, said, ok := strings.Cut(s, ", "); ok && depends && i > 0 && startsWith(s, "if not", "otherwise", "if so") {
			g.named = append(g.named, named(said))
			continue
		}
		if kind, rest := openerOf(s); kind == joined && len(g.named) > 0 {
			g.named = append(g.named, nameOf(rest))
		}
	}
	if sure || depends {
		g.score += 0.4
	}
	g.score += chooses(after)
	return g
}

// nameOf splits a unit into a name and a description.
func nameOf(s string) Strategy {
	list := sentences(s)
	n := named(list[0])
	if more := strings.Join(list[1:], " "); more != "" {
		n.Description = strings.TrimSpace(n.Description + " " + more)
	}
	return n
}
