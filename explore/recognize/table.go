package recognize

import (
	"slices"
	"strings"
)

// tabled returns the groups of tables with a row for each alternative. The
// names are in the column whose heading indicates it, or in the next one if
// that column only has numbers; the cells after it are the description.
func tabled(list []block) []group {
	var groups []group
	for i, b := range list {
		if len(b.rows) < 3 {
			continue
		}
		head := b.rows[0]
		column := slices.IndexFunc(head, optionColumn)
		score := 0.4
		if column < 0 {
			column, score = 0, 0
		}
		for column+1 < len(head) && numbered(b.rows[1:], column) {
			column++
		}
		var all []Strategy
		var names []string
		for _, row := range b.rows[1:] {
			name := row[column]
			if rest, ok := unlabel(name); ok {
				name = rest
			}
			var said []string
			for k, cell := range row {
				if k != column && cell != "" && len(normalWords(cell)) > 0 && k > column {
					said = append(said, strings.TrimSpace(head[k]+": "+cell))
				}
			}
			all = append(all, Strategy{Name: name, Description: strings.Join(said, "; ")})
			names = append(names, row[column])
		}
		a := around(list, i, i+1)
		if score == 0 && (chooses(a.after) == 0 || numbered(b.rows[1:], column)) {
			continue // data
		}
		g := group{rule: "table", named: all, score: score + weigh(names, a.before, a.above, a.after)}
		groups = append(groups, g)
	}
	return groups
}

// optionColumn reports whether a column with this heading names alternatives.
func optionColumn(head string) bool {
	for _, w := range normalWords(head) {
		switch strings.TrimSuffix(w, "s") {
		case "option", "approach", "approache", "alternative", "strategy", "strategie", "solution", "choice", "variant", "candidate", "proposal", "design", "way", "idea", "plan", "path", "route":
			return true
		}
	}
	return false
}

// numbered reports whether the cells of a column are only letters or numbers.
func numbered(rows [][]string, column int) bool {
	return !slices.ContainsFunc(rows, func(row []string) bool {
		cell := strings.Trim(row[column], "().:# ")
		return len(cell) > 2 || len(cell) == 2 && strings.Trim(cell, "0123456789") != ""
	})
}
