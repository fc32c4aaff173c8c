// Package title derives the title of a conversation from its first messages.
package title

import (
	"strings"
	"unicode"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
)

// Of returns a title for a conversation with the user's message m: the first
// meaningful line that a person wrote, "" if there is none. ok reports whether
// the title is good. A weak title, such as the name of a command, should be
// used only if no later message gives a better one.
func Of(m *transcript.Message) (title string, ok bool) {
	if !m.IsPrompt() || m.Kind != transcript.Said {
		return "", false
	}
	var texts []string
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == content.TypeText {
			texts = append(texts, p.Text)
		}
	}
	return titleOf(strings.Join(texts, "\n"))
}

// titleOf is [Of] for a text.
func titleOf(text string) (title string, ok bool) {
	var command, args string
	for {
		text = strings.TrimSpace(text)
		tag, inside, rest, is := cutBlock(text)
		switch {
		case !is:
		case isReport(tag):
			return "", false
		case tag == "command-name" || tag == "bash-input":
			command, text = inside, rest
			continue
		case tag == "command-args":
			args, text = inside, rest
			continue
		default:
			text = rest
			continue
		}
		break
	}
	if title = firstLine(args); title != "" {
		return title, true
	}
	switch rest, is := strings.CutPrefix(text, "Implement the following plan:"); {
	case is:
		title = planTitle(rest)
	case !isMadeUp(text):
		title = firstLine(text)
	}
	switch {
	case title == "":
		return firstLine(command), false
	case title[0] == '/' && !strings.ContainsAny(title[1:], "/ "):
		return title, false
	}
	return title, true
}

// isMadeUp reports whether a program wrote a text in the user's name.
func isMadeUp(text string) bool {
	for _, start := range []string{
		"Base directory for this skill:",
		"Caveat: ",
		"This session is being continued from a previous conversation",
		"# AGENTS.md instructions",
	} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// isReport reports whether a message that begins with a block is completely a
// report of a program.
func isReport(tag string) bool {
	switch tag {
	case "task-notification", "teammate-message", "subagent_notification", "local-command-stdout", "local-command-stderr",
		"local-command-caveat", "bash-stdout", "bash-stderr", "turn_aborted", "skill":
		return true
	}
	return false
}

// cutBlock removes a block that a program put before the user's text: an
// element with a name that is not an HTML element, or a notice in brackets. A
// block without an end is the whole text.
func cutBlock(text string) (tag, inside, rest string, ok bool) {
	if strings.HasPrefix(text, "[Request interrupted by user") {
		inside, rest, _ = strings.Cut(text, "]")
		return "", inside, rest, true
	}
	if !strings.HasPrefix(text, "<") {
		return "", "", "", false
	}
	open, rest, closed := strings.Cut(text[1:], ">")
	end := strings.IndexFunc(open, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
	if tag = open; end >= 0 {
		tag = open[:end]
	}
	if !closed || strings.Contains(open, "\n") || !strings.ContainsAny(tag, "-_") && tag != "skill" && open != "permissions instructions" {
		return "", "", "", false
	}
	inside, rest, _ = strings.Cut(rest, "</"+tag)
	_, rest, _ = strings.Cut(rest, ">")
	return tag, inside, rest, true
}

// planTitle returns the first heading of a plan, else its first line.
func planTitle(plan string) string {
	for line := range strings.Lines(plan) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			if title := firstLine(strings.TrimLeft(line, "#")); title != "" {
				return title
			}
		}
	}
	return firstLine(plan)
}

// firstLine returns the first line that has letters or digits, with single
// spaces. It ignores names that programs give to pasted pictures and texts.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		said := strings.Join(strings.Fields(line), " ")
		if strings.HasPrefix(said, "```") || strings.HasSuffix(said, "]") && (strings.HasPrefix(said, "[Image") || strings.HasPrefix(said, "[Pasted text")) {
			continue
		}
		if strings.ContainsFunc(said, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return said
		}
	}
	return ""
}
