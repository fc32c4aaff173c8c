package store

import (
	"math"
	"strconv"
	"strings"
)

// Names of the head and, the last one, of the previous head. They take
// precedence over titles and labels.
const (
	HeadName     = "HEAD"
	headSign     = "@"
	previousSign = "-"
)

// IsHeadName reports whether name refers to the head or the previous head.
func IsHeadName(name string) bool {
	return name == HeadName || name == headSign || name == previousSign
}

// A refForm is one interpretation of a REF.
type refForm struct {
	name    string // a session, or the id or label of a message
	sep     byte   // '@' or '/' before message; 0 for a name alone
	message string
	up      int // how many messages to go up
}

// parseRef returns the interpretations of ref, in the order in which they are
// tried: ref as a name; without the operators ~N and ^ at its end, one by one;
// then, without all operators, SESSION@MESSAGE and TREE/NODE; then these two
// with the operators as part of the id.
func parseRef(ref string) []refForm {
	forms := []refForm{{name: ref}}
	base, up := ref, 0
	for {
		rest, n, ok := cutOperator(base)
		if !ok {
			break
		}
		base, up = rest, up+min(n, math.MaxInt32-up)
		forms = append(forms, refForm{name: base, up: up})
	}
	forms = appendSplit(forms, base, up)
	if up > 0 {
		forms = appendSplit(forms, ref, 0)
	}
	return forms
}

// cutOperator removes ~N, ~ or ^ from the end of ref, if there is something
// before it. up is how many messages the operator goes up.
func cutOperator(ref string) (rest string, up int, ok bool) {
	if rest, ok := strings.CutSuffix(ref, "^"); ok {
		return rest, 1, rest != ""
	}
	rest = strings.TrimRight(ref, "0123456789")
	digits := ref[len(rest):]
	rest, ok = strings.CutSuffix(rest, "~")
	if !ok || rest == "" {
		return ref, 0, false
	}
	if digits == "" {
		return rest, 1, true
	}
	up, err := strconv.Atoi(digits)
	if err != nil {
		up = math.MaxInt32
	}
	return rest, min(up, math.MaxInt32), true
}

// appendSplit appends the interpretations of base as a pair: split at the last
// '@', then at the last '/'.
func appendSplit(forms []refForm, base string, up int) []refForm {
	for _, sep := range []byte{'@', '/'} {
		if i := strings.LastIndexByte(base, sep); i >= 0 {
			forms = append(forms, refForm{name: base[:i], sep: sep, message: base[i+1:], up: up})
		}
	}
	return forms
}
