package recognize

import "strings"

// enumerated returns the groups in one sentence.
func enumerated(s string) []group {
	return []group{listedAfter(s), either(s), mayDo(s), asks(s), between(s), versus(s)}
}

// listedAfter returns the names after an announcement such as "three
// approaches:" in a sentence.
func listedAfter(s string) group {
	g := group{rule: "sentence"}
	head, tail, ok := cutAny(s, ": ", " — ", " – ", " namely ")
	if !ok || strings.HasSuffix(s, "?") {
		return g
	}
	weight, n := heard(head)
	choice := weight >= 0 && strings.Contains(s, head+": ") && strings.Contains(tail, ", or ") && len(strings.Fields(head)) <= 8 && !startsWith(head, "it", "this", "the")
	if weight < 0.25 && !choice {
		return g
	}
	parts := enumeration(tail)
	if choice {
		parts = alternatives(tail)
	}
	for _, p := range parts {
		if n := len(strings.Fields(p)); n > 14 && !choice || n > 20 {
			return group{}
		}
		g.named = append(g.named, named(p))
	}
	g.score = start + weight
	if choice && len(parts) > 2 {
		g.score = start + max(weight, 0.35)
	}
	if n == len(parts) {
		g.score += counted
	} else if n > 0 {
		g.score -= counted
	}
	return g
}

// either returns the names of "could either A or B".
func either(s string) group {
	g := group{rule: "sentence"}
	lower := strings.ToLower(s)
	i := strings.Index(" "+lower, " either ")
	if i < 0 || len(lower) != len(s) {
		return g
	}
	subject := normalWords(s[:i])
	one, other, ok := strings.Cut(s[i+len("either "):], " or ")
	if ok && len(subject) > 0 && oneOf(subject[len(subject)-1], "could", "can", "should", "may", "might") {
		g.named = []Strategy{named(one), named(other)}
		g.score = start + 0.4
	}
	return g
}

// mayDo returns the names of "We can A, B, or C".
func mayDo(s string) group {
	g := group{rule: "sentence"}
	words := strings.Fields(s)
	for i, w := range words {
		if i == 0 || i == len(words)-1 || !oneOf(w, "can", "could", "may", "might") {
			continue
		}
		verb := words[i+1]
		switch subject := strings.ToLower(words[i-1]); {
		case oneOf(strings.ToLower(verb), "see", "find", "get", "expect", "have", "want", "need", "notice", "also", "either", "not"):
			return g
		case oneOf(subject, "we", "you", "i"):
		case verb == "be" && i+2 < len(words) && done(words[i+2]) && (i < 4 || strings.Contains(s, ", or ")):
		default:
			return g
		}
		parts := alternatives(strings.Join(words[i+1:], " "))
		if len(parts) < 2 || len(parts) == 2 && verb == "be" && !strings.Contains(s, ", or ") && strings.Contains(s, " as ") {
			return g
		}
		for _, p := range parts {
			g.named = append(g.named, named(p))
		}
		// "You can press escape or click outside" does not ask for a choice.
		if g.score = start + 0.35; strings.HasSuffix(s, "?") || oneOf(w, "can", "may") && verb != "be" && !strings.Contains(s, ", or ") {
			g.score = start
		}
		return g
	}
	return g
}

// done reports whether a word is the participle of a verb.
func done(word string) bool {
	return strings.HasSuffix(word, "ed") || oneOf(word, "set", "done", "made", "built", "written", "kept", "put", "cut", "run", "drawn", "sent", "held")
}

// asks returns the alternatives in a question.
func asks(s string) group {
	g := group{rule: "sentence"}
	if !strings.HasSuffix(s, "?") {
		return g
	}
	rest, ok := cutPrefixes(afterColon(s), "should we", "should i", "shall we", "shall i", "would you prefer", "do you prefer", "do you want", "want me to",
		"would you like", "do you want me to", "would you like me to")
	var parts []string
	switch head, tail, cut := strings.Cut(s, ": "); {
	case ok && strings.Contains(rest, " or ") && len(strings.Fields(rest)) < 30:
		parts = enumeration(rest)
	case cut && oneOf(lastWord(head), "rather", "prefer", "have", "first", "like") && strings.Contains(tail, " or "):
		parts = alternatives(tail)
	case len(strings.Fields(s)) <= 8 && strings.Contains(s, " or ") && !startsWith(s, "is", "are", "do", "does", "did", "was", "were", "has", "have", "can", "could", "would",
		"will", "what", "which", "how", "why", "when", "where", "who", "if", "and", "or", "any"):
		parts = enumeration(s)
	}
	for _, p := range parts {
		if !negates(p) {
			g.named = append(g.named, named(p))
		}
	}
	g.score = start + 0.4
	return g
}

// negates reports whether a part of a question only negates the others.
func negates(p string) bool {
	return len(normalWords(p)) == 1 && oneOf(normalWords(p)[0], "not", "no", "both", "neither")
}

// between returns the alternatives of "choose between A and B".
func between(s string) group {
	g := group{rule: "sentence", score: start + 0.4}
	words := " " + strings.Join(normalWords(s), " ") + " "
	for _, w := range []string{" choose ", " choosing ", " decide ", " torn ", " decision ", " choice ", " question "} {
		if !strings.Contains(words, w) {
			continue
		}
		if _, tail, ok := cutAny(s, " between "); ok {
			for _, p := range splitTop(tail, " and ") {
				g.named = append(g.named, named(strings.TrimSuffix(trimClause(p), ".")))
			}
			return g
		}
		if _, tail, ok := cutAny(s, " whether to "); ok && strings.Contains(tail, " or ") {
			for _, p := range splitTop(tail, " or ") {
				g.named = append(g.named, named(strings.TrimSuffix(p, ".")))
			}
			return g
		}
	}
	return g
}

// versus returns the two sides of "A vs. B: …".
func versus(s string) group {
	g := group{rule: "sentence", score: start + 0.2}
	head, _, _ := cutAny(s, ": ", " — ")
	one, other, ok := cutAny(head, " vs. ", " vs ", " versus ")
	if ok && len(strings.Fields(head)) <= 10 {
		g.named = []Strategy{named(one), named(other)}
	}
	return g
}

// alternatives returns the parts of "A, B, or C" or "A, or B", none if no "or"
// joins the last part. A comma within a part does not split it.
func alternatives(s string) []string {
	s = strings.TrimRight(s, " .!?")
	parts := splitTop(s, ", or ")
	if len(parts) == 1 {
		parts = splitTop(s, "; or ")
	}
	if len(parts) != 2 {
		if whole := splitTop(s, " or "); len(parts) == 1 && len(whole) == 2 && !strings.Contains(s, ",") && len(strings.Fields(whole[0])) > 2 {
			return []string{unmark(whole[0]), unmark(whole[1])}
		}
		return nil
	}
	var list []string
	for _, p := range splitTop(parts[0], ", ") {
		if len(list) > 0 && clause(p) {
			list[len(list)-1] += ", " + p
			continue
		}
		list = append(list, unmark(p))
	}
	return append(list, unmark(parts[1]))
}

// clause reports whether a part after a comma belongs to the part before it.
func clause(s string) bool {
	return startsWith(s, "which", "who", "whose", "where", "so", "because", "as", "but", "giving", "with", "and", "since", "though", "although", "that", "while", "if", "at", "then") ||
		strings.HasSuffix(strings.SplitN(s+" ", " ", 2)[0], "ing")
}

// trimClause returns s without an explanatory clause.
func trimClause(s string) string {
	for _, part := range []string{", because", ", which", ", since", ", as ", ", who"} {
		if i := strings.Index(s, part); i > 0 {
			return s[:i]
		}
	}
	return strings.Trim(s, " ,.")
}

// splitTop splits s at a separator outside of parentheses and quotation marks.
func splitTop(s, separator string) []string {
	var parts []string
	begin, depth := 0, 0
	quoted := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '"':
			quoted = !quoted
		}
		if depth <= 0 && !quoted && i >= begin && strings.HasPrefix(s[i:], separator) {
			parts = append(parts, s[begin:i])
			begin = i + len(separator)
		}
	}
	return append(parts, s[begin:])
}

// enumeration returns the parts of "a, b, and c", without their numbers.
func enumeration(s string) []string {
	separator := ","
	if strings.Contains(s, ";") {
		separator = ";"
	}
	var parts []string
	add := func(p string) {
		p = strings.TrimSpace(p)
		p, _ = cutPrefixes(p, "and", "or")
		p = unmark(strings.Trim(p, " .?!"))
		if p != "" {
			parts = append(parts, p)
		}
	}
	split := splitTop(s, separator)
	for i, p := range split {
		last := i == len(split)-1 && separator == ","
		if one, other, ok := cutAny(p, " or ", " and "); ok && last && !startsWith(strings.TrimSpace(p), "and", "or") {
			add(one)
			add(other)
			continue
		}
		add(p)
	}
	return parts
}

func afterColon(s string) string {
	if _, tail, ok := strings.Cut(s, ": "); ok {
		return tail
	}
	return s
}

func lastWord(s string) string {
	words := normalWords(s)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
