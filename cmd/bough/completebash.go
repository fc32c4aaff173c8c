package main

import (
	"context"
	"fmt"
	"strings"
)

// completeBash prints the completions of the word at a byte offset of a line, one per line,
// quoted so that the shell reads back the same word and expands nothing. breaks are the
// additional characters at which bash splits words: in a word with such characters, bash
// replaces only the part after the last one. kind is $COMP_TYPE; if bash only lists the
// completions, each has its description.
func (p *program) completeBash(ctx context.Context, text string, point int, breaks string, kind int) {
	if point >= 0 && point < len(text) {
		text = text[:point]
	}
	words, quote, start := shellWords(text)
	if len(words) < 2 {
		return
	}
	words = words[1:]
	found := p.candidates(ctx, words)
	const listing = '?'
	for _, c := range found {
		switch {
		case kind == listing && len(found) > 1 && c.about != "":
			fmt.Fprintf(p.stdout, "%s  (%s)\n", c.word, clean(c.about))
		case quote != 0:
			fmt.Fprintln(p.stdout, quoteIn(c.word, quote))
		default:
			whole := quoteWord(c.word)
			typed := text[start:]
			if at := strings.LastIndexAny(typed, strings.Trim(breaks, " \t\n\"'><=;|&(")); at >= 0 && strings.HasPrefix(whole, typed[:at+1]) {
				if typed[at] != '@' { // readline replaces that one, too
					at++
				}
				whole = whole[at:]
			}
			fmt.Fprintln(p.stdout, whole)
		}
	}
}

// shellWords splits the beginning of a command line into words as a shell does, without
// expanding anything. The last word is the unfinished one, which may be empty; quote is
// its open quote, 0 for none, and start its offset in text.
func shellWords(text string) (words []string, quote byte, start int) {
	var word strings.Builder
	inWord := false
	end := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if quote == 0 && (c == ' ' || c == '\t' || c == '\n') {
			end()
			continue
		}
		if !inWord {
			inWord, start = true, i
		}
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && i+1 < len(text):
			i++
			if quote == '"' && !strings.ContainsRune("$`\"\\\n", rune(text[i])) {
				word.WriteByte(c)
			}
			word.WriteByte(text[i])
		case c == '\\': // at the end: it quotes the next character, not typed yet
		default:
			word.WriteByte(c)
		}
	}
	if !inWord {
		start = len(text)
	}
	return append(words, word.String()), quote, start
}

// quoteWord returns s with a backslash before each character that is special to a shell.
func quoteWord(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x80 && !isPlainByte(c) && !(c == '~' && i > 0) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isPlainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:@%+=,", c) >= 0
}

// quoteIn escapes s for use inside an open quote.
func quoteIn(s string, quote byte) string {
	if quote == '\'' {
		return strings.ReplaceAll(s, "'", `'\''`)
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case s[i] == '!': // bash expands history even after a backslash
			b.WriteString(`"'!'"`)
			continue
		case strings.IndexByte("$`\"\\", s[i]) >= 0:
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
