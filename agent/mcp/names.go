package mcp

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// maxName is the maximum length of a name that all providers accept.
const maxName = 64

// An origin is a tool as its server names it.
type origin struct{ server, tool string }

// names returns the names of the tools for a model: unique, each of at most
// maxName letters, digits, "_" and "-". A name depends only on the tool, unless
// it collides with another.
func names(tools []origin) []string {
	plain := make([]string, len(tools))
	count := map[string]int{}
	for i, o := range tools {
		plain[i] = clean(o.server) + "__" + clean(o.tool)
		count[plain[i]]++
	}
	taken := map[string]bool{}
	for i, o := range tools {
		for try := 0; len(plain[i]) > maxName || count[plain[i]] > 1 || taken[plain[i]]; try++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", try, o.server, o.tool))
			end := fmt.Sprintf("_%x", sum[:4])
			full := clean(o.server) + "__" + clean(o.tool)
			plain[i] = full[:min(len(full), maxName-len(end))] + end
		}
		taken[plain[i]] = true
	}
	return plain
}

// clean replaces every character that is not allowed in a name with "_".
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, s)
}
