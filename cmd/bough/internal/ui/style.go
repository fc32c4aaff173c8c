package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/clipperhouse/displaywidth"
)

// The styles use the sixteen colours of every terminal. Where colours are turned off, bubbletea
// removes them and keeps bold, faint and reverse.

func bold(s string) string    { return lipgloss.NewStyle().Bold(true).Render(s) }
func dim(s string) string     { return lipgloss.NewStyle().Faint(true).Render(s) }
func reverse(s string) string { return lipgloss.NewStyle().Reverse(true).Render(s) }
func green(s string) string   { return lipgloss.NewStyle().Foreground(lipgloss.Green).Render(s) }
func cyan(s string) string    { return lipgloss.NewStyle().Foreground(lipgloss.Cyan).Render(s) }
func yellow(s string) string  { return lipgloss.NewStyle().Foreground(lipgloss.Yellow).Render(s) }
func red(s string) string     { return lipgloss.NewStyle().Foreground(lipgloss.Red).Render(s) }
func plainly(s string) string { return s }
func roleStyle(role string) func(string) string {
	switch role {
	case "user":
		return green
	case "assistant":
		return cyan
	}
	return dim
}

// clean returns text that is safe to print. A tab has no width of its own, so it is four blanks.
func clean(s string) string { return strings.ReplaceAll(printable.Clean(s), "\t", "    ") }

// line returns clean text on one line.
func line(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// fit cuts plain text to a number of columns.
func fit(s string, columns int) string {
	if columns <= 0 {
		return ""
	}
	return displaywidth.TruncateString(s, columns, "…")
}

// pad adds blanks up to a number of columns. s may be styled.
func pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(0, columns-lipgloss.Width(s)))
}

// wrap breaks clean text into lines of at most so many columns.
func wrap(text string, columns int) []string {
	return strings.Split(lipgloss.Wrap(text, max(columns, 1), ""), "\n")
}

// width returns the number of columns of plain text.
func width(s string) int { return displaywidth.String(s) }
