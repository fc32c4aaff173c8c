package recognize

import "github.com/bough-dev/bough/internal/likeness"

// headed returns the groups of sections, whose names are headings or the bold
// words at the start of paragraphs.
func headed(list []block) []group {
	const boldLevel = 7 // lower than all headings
	levelOf := func(b block) int {
		if b.level == 0 && b.lead != "" {
			return boldLevel
		}
		return b.level
	}
	var groups []group
	for level := 1; level <= boldLevel; level++ {
		for i := 0; i < len(list); i++ {
			if levelOf(list[i]) != level {
				continue
			}
			var sections []Strategy
			var names []string
			var labels []bool
			k := i
			for k < len(list) {
				b := list[k]
				if l := levelOf(b); l != level && l > 0 && l < level {
					break
				} else if l != level {
					k++
					continue
				}
				head, said := b.text, ""
				if level == boldLevel {
					head, said = b.lead, afterLead(b.text, b.lead)
				}
				rest, label := unlabel(head)
				s := Strategy{Name: rest, Description: said}
				if level == boldLevel && said != "" && len(likeness.Normal(rest)) < 10 && label {
					s = named(said) // **Option A:** its description
				}
				for k++; k < len(list) && levelOf(list[k]) != level && (list[k].level == 0 || list[k].level > level); k++ {
					if s.Description == "" {
						s.Description = list[k].text
					}
				}
				sections, names, labels = append(sections, s), append(names, head), append(labels, label)
			}
			groups = append(groups, section(sections, names, labels, around(list, i, k)))
			i = k - 1
		}
	}
	return groups
}

// surroundings is the text around a group.
type surroundings struct{ before, above, after string }

// around returns the surroundings of list[i:k].
func around(list []block, i, k int) (s surroundings) {
	if i > 0 && list[i-1].items == nil {
		s.before = list[i-1].text
	}
	for j := i - 1; j >= 0; j-- {
		if list[j].level > 0 && (list[i].level == 0 || list[j].level < list[i].level) {
			s.above = list[j].text
			break
		}
	}
	for j := k; j < len(list) && j < k+2; j++ {
		s.after += " " + list[j].text
	}
	if k == len(list) && k > 0 {
		s.after = list[k-1].text // the last section contains it
	}
	return s
}

// section returns a group of names. If at least two have labels, it drops those
// without.
func section(all []Strategy, names []string, labels []bool, a surroundings) group {
	with := 0
	for _, l := range labels {
		if l {
			with++
		}
	}
	g := group{rule: "headings"}
	var kept []string
	for i := range all {
		if with >= 2 && !labels[i] || with < 2 && character(names[i]) == "part" {
			continue
		}
		g.named, kept = append(g.named, all[i]), append(kept, names[i])
	}
	if len(kept) == 0 {
		return g
	}
	g.score = weigh(kept, a.before, a.above, a.after)
	if with >= 2 {
		g.score = max(g.score, start) + labelled
	}
	return g
}
