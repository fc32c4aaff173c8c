package workspace

import (
	"math"
	"strconv"
	"strings"
)

// The names of the head and, the last, of the previous head. They take precedence over
// titles and labels.
const (
	headName     = "HEAD"
	headSign     = "@"
	previousSign = "-"
)

// isHeadName reports whether name always means where the head is or was.
func isHeadName(name string) bool {
	return name == headName || name == headSign || name == previousSign
}

// A refForm is one way to read a REF.
type refForm struct {
	name    string // of a session, or of a message by its id or label
	sep     byte   // '@' or '/' before message; 0 for a name alone
	message string
	up      int // messages to go up from there
}

// parseRef returns the ways to read ref, in the order in which they are tried: the whole
// as a name; without the operators ~N and ^ at its end, one after the other; then, without
// all of them, as SESSION@MESSAGE and as TREE/NODE. The last are those two of ref as it
// is, for ids that end like an operator.
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

// cutOperator cuts ~N, ~ or ^ off the end of ref, which must have something before it.
// It returns how many messages the operator goes up.
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

// appendSplit appends the forms of base with a separator: at the last '@', then at the
// last '/'.
func appendSplit(forms []refForm, base string, up int) []refForm {
	for _, sep := range []byte{'@', '/'} {
		if i := strings.LastIndexByte(base, sep); i >= 0 {
			forms = append(forms, refForm{name: base[:i], sep: sep, message: base[i+1:], up: up})
		}
	}
	return forms
}
