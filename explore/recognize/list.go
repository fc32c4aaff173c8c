package recognize

import (
	"slices"

	"github.com/bough-dev/bough/internal/likeness"
)

// listed returns the groups of lists. It joins lists of one item that only
// paragraphs separate: they are a numbered list whose paragraphs are not
// indented.
func listed(list []block) []group {
	var groups []group
	for i := 0; i < len(list); i++ {
		if list[i].items == nil {
			continue
		}
		items := slices.Clone(list[i].items)
		k := i + 1
		for len(list[i].items) == 1 {
			next := k
			for next < len(list) && next < k+3 && list[next].items == nil && list[next].level == 0 {
				next++
			}
			if next >= len(list) || len(list[next].items) != 1 {
				break
			}
			items = append(items, list[next].items[0])
			k = next + 1
		}
		var all []Strategy
		var names []string
		var labels []bool
		leads := true
		for _, it := range items {
			text := it.text
			rest, label := unlabel(text)
			var s Strategy
			if it.lead != "" {
				said := afterLead(text, it.lead)
				name, bare := unlabel(it.lead)
				s = Strategy{Name: name, Description: said}
				if bare && said != "" && len(likeness.Normal(name)) < 10 {
					s = named(said)
				}
				label = label || bare
			} else {
				s, leads = named(rest), false
			}
			if s.Description == "" {
				s.Description = it.more
			}
			all, names, labels = append(all, s), append(names, text), append(labels, label)
		}
		g := section(all, names, labels, around(list, i, k))
		g.rule = "list"
		if leads && g.score > start {
			g.score += bold
		}
		groups = append(groups, g)
		i = k - 1
	}
	return groups
}
