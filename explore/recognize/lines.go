package recognize

import "strings"

// listLines returns the lines of a reply, with standard marks for what readers
// see as list items. Besides "-" and "1." people write "1)", "•", "–", "→",
// "a.", "(a)" and "[1]", or begin each line with a label or with bold words.
func listLines(reply string) []string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(reply, "\uFFFD")) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	kinds := make([]string, len(lines))
	fence := ""
	for i, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
			fence = text[:3]
		default:
			kinds[i] = lineKind(line)
		}
	}
	for i, line := range lines {
		kind := kinds[i]
		if kind == "" || kind != "mark" && !neighbour(kinds, lines, i) {
			continue
		}
		text := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(text)]
		if kind == "bold" || kind == "label" {
			lines[i] = "- " + line
			continue
		}
		_, rest, _ := strings.Cut(text, " ")
		mark := "- "
		if n := strings.TrimRight(text[:len(text)-len(rest)], " )"); n != "" && strings.Trim(n, "0123456789") == "" {
			mark = n + ". "
		}
		lines[i] = indent + mark + rest
	}
	return lines
}

// lineKind returns the kind of item that a line begins. An item of kind "mark"
// may be alone; the other kinds need a neighbour of the same kind.
func lineKind(line string) string {
	text := strings.TrimLeft(line, " ")
	first, rest, ok := strings.Cut(text, " ")
	if !ok || strings.TrimSpace(rest) == "" {
		return ""
	}
	inner := strings.Trim(first, "([])."+":")
	number := inner != "" && len(inner) < 4 && strings.Trim(inner, "0123456789") == ""
	single := len(inner) == 1 && letter(rune(inner[0]))
	switch {
	case first == "•", number && first == inner+")":
		return "mark"
	case first == "–", first == "—", first == "→", first == "->", first == "⇒":
		return "dash"
	case number && (first == "("+inner+")" || first == "["+inner+"]"), single && (first == inner+")" || first == "("+inner+")" || first == inner+"."):
		return "mark " + first[:1]
	case len(text) != len(line) || marked(text):
		return ""
	case single && first == inner+":" && strings.ToUpper(inner) == inner:
		return "label"
	case strings.HasPrefix(text, "**"):
		if _, said, ok := strings.Cut(text[2:], "**"); ok && strings.TrimSpace(said) != "" {
			return "bold"
		}
	}
	if _, ok := unlabel(text); ok && strings.ContainsAny(text, ":–—") {
		return "label"
	}
	return ""
}

// neighbour reports whether an adjacent line is an item of the same kind as
// lines[i]. A blank line may be between them, except between labels or bold
// words, which then begin paragraphs.
func neighbour(kinds, lines []string, i int) bool {
	same := func(step int) bool {
		k := i + step
		if kinds[i] != "bold" && kinds[i] != "label" && k >= 0 && k < len(lines) && strings.TrimSpace(lines[k]) == "" {
			k += step
		}
		if k < 0 || k >= len(lines) {
			return false
		}
		if strings.HasPrefix(kinds[i], "mark ") {
			return strings.HasPrefix(kinds[k], "mark ")
		}
		return kinds[k] == kinds[i]
	}
	return same(-1) || same(1)
}
