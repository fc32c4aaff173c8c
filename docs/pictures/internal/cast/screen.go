package cast

import (
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// A style is how a run of text looks.
type style struct {
	color                int // one of the sixteen, -1 for that of the terminal
	bold, faint, reverse bool
}

// A run is text of one style on a line.
type run struct {
	column, width int // in cells
	text          string
	style
}

// parse returns the runs of each line of a screen. Blanks have no run, unless their background
// is coloured. A style continues on the next line.
func parse(screen string) (lines [][]run) {
	s := style{color: -1}
	for l := range strings.Lines(screen) {
		var runs []run
		column := 0
		for l = strings.TrimRight(l, "\n"); l != ""; {
			if sequence, ok := strings.CutPrefix(l, "\x1b["); ok {
				end := strings.IndexByte(sequence, 'm')
				if end < 0 {
					break
				}
				s.set(sequence[:end])
				l = sequence[end+1:]
				continue
			}
			text := l
			if end := strings.IndexByte(l, '\x1b'); end >= 0 {
				text = l[:end]
			}
			l = l[len(text):]
			runs = appendWords(runs, column, text, s)
			column += displaywidth.String(text)
		}
		lines = append(lines, runs)
	}
	return lines
}

// appendWords appends the parts of a text between blanks of two cells or more or, with a coloured
// background, all of it.
func appendWords(runs []run, column int, text string, s style) []run {
	const gap = "  "
	if s.reverse {
		return append(runs, run{column, displaywidth.String(text), text, s})
	}
	for {
		rest := strings.TrimLeft(text, " ")
		column += len(text) - len(rest)
		if rest == "" {
			return runs
		}
		word, _, _ := strings.Cut(rest, gap)
		text = rest[len(word):]
		word = strings.TrimRight(word, " ")
		width := displaywidth.String(word)
		runs = append(runs, run{column, width, word, s})
		column += width
	}
}

// set applies the parameters of a sequence for colours and attributes. Unknown ones are ignored.
func (s *style) set(parameters string) {
	for p := range strings.SplitSeq(parameters, ";") {
		n, _ := strconv.Atoi(p) // an empty one is 0
		switch {
		case n == 0:
			*s = style{color: -1}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 27:
			s.reverse = false
		case n == 39:
			s.color = -1
		case n >= 30 && n <= 37:
			s.color = n - 30
		case n >= 90 && n <= 97:
			s.color = n - 90 + 8
		}
	}
}
