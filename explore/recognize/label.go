package recognize

import "strings"

// unmark returns s without a number before it: "1.", "(2)", "b)".
func unmark(s string) string {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, ".)")
	if i < 0 || i > 3 {
		return s
	}
	mark := strings.TrimLeft(s[:i], "(")
	number := mark != "" && strings.Trim(mark, "0123456789") == ""
	if (number || len(mark) == 1) && (i+1 == len(s) || s[i+1] == ' ') {
		return strings.TrimSpace(s[i+1:])
	}
	return s
}

// unlabel removes a label such as "Option A:" from the start of a text, and
// reports whether there was one. A text that is only a label is returned
// unchanged.
func unlabel(s string) (rest string, ok bool) {
	s = unmark(s)
	words := strings.Fields(s)
	if len(words) < 2 {
		return s, false
	}
	switch strings.ToLower(words[0]) {
	case "option", "approach", "strategy", "alternative", "method", "solution", "plan", "variant", "path", "choice", "idea", "proposal", "design", "way", "candidate":
	default:
		return s, false
	}
	id := strings.TrimRight(words[1], ":.)—–-,")
	number := strings.Trim(id, "0123456789") == "" || numeral(strings.ToLower(id)) > 0
	letters := len(id) == 1 && letter(rune(id[0])) && id != "a" || strings.Trim(id, "IVX") == ""
	if id == "" || !number && !letters || len(id) > 5 {
		return s, false
	}
	closed := id != words[1]
	rest = strings.TrimSpace(strings.TrimPrefix(s, words[0]))
	rest = strings.TrimSpace(strings.TrimPrefix(rest, words[1]))
	trimmed := strings.TrimLeft(rest, ":.)—–- ")
	if strings.HasPrefix(rest, "(") {
		trimmed, closed = strings.NewReplacer("(", "", ")", "").Replace(rest), true
	}
	switch {
	case trimmed == "":
		return strings.TrimRight(s, ":.)—–- "), true
	case !closed && trimmed == rest && !startsWith(rest, "is", "would be", "uses"):
		return s, false // "Option 1 looks good"
	}
	return trimmed, true
}

// named splits a text into a name and a description.
func named(text string) Strategy {
	text = strings.TrimSpace(unbox(text))
	name, said, ok := cutAny(text, ": ", " — ", " – ", " - ")
	if ok && len(strings.Fields(name)) <= 10 && len([]rune(name)) <= maxName {
		return Strategy{trimName(name), said}
	}
	name = sentences(text + " ")[0]
	if len([]rune(name)) > maxName {
		if clause, _, ok := cutAny(name, ", ", "; ", " ("); ok {
			name = clause
		}
	}
	said = strings.TrimSpace(strings.TrimPrefix(text, name))
	if r := []rune(name); len(r) > maxName {
		cut := string(r[:maxName-1])
		if i := strings.LastIndexByte(cut, ' '); i > 0 {
			cut = cut[:i]
		}
		name, said = cut+"…", text
	}
	return Strategy{trimName(name), strings.TrimLeft(said, ",;. ")}
}

// unbox returns s without a check box before it.
func unbox(s string) string {
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if rest, ok := strings.CutPrefix(s, box); ok {
			return rest
		}
	}
	return s
}

func trimName(s string) string { return strings.Trim(s, " :.;,?!—–-*_") }

// afterLead returns the text after the bold words that it begins with.
func afterLead(text, lead string) string {
	return strings.TrimLeft(strings.TrimPrefix(text, lead), " :.—–-")
}
