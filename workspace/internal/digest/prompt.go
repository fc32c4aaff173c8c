package digest

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/internal/cited"
)

// Prompt asks a model for the text of the merge.
func (m *Material) Prompt() string {
	var b strings.Builder
	b.WriteString("A conversation was branched to find something out. Write what the branch came to, for those who continue the " +
		"conversation without it: what was decided and why, the answers, what changed, and what is still open. Be brief and " +
		"concrete; omit how it was found. " + cited.Rule + " Answer with the text alone.\n")
	if m.Base != nil {
		b.WriteString("\nThe message at which the branch begins:\n" + cited.Quote(cited.Transcript([]cited.Message{*m.Base})))
	}
	fmt.Fprintf(&b, "\nThe branch %q:\n%s", m.Title, cited.Quote(cited.Transcript(m.Messages)))
	if m.Files != nil && len(m.Files.Changes) > 0 {
		var list []string
		for _, c := range m.Files.Changes {
			list = append(list, c.Kind+" "+inLine(c.Path))
		}
		b.WriteString("\nFiles that the branch changed:\n" + cited.Quote(strings.Join(list, "\n")))
	}
	return b.String()
}

// Sources are the messages that an answer to [Material.Prompt] may cite.
func (m *Material) Sources() []cited.Message {
	if m.Base == nil {
		return m.Messages
	}
	return append([]cited.Message{*m.Base}, m.Messages...)
}
