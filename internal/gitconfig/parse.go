package gitconfig

import (
	"fmt"
	"strings"
)

// An Entry is a variable with one of its values.
type Entry struct {
	// Key is the name as git lists it: the section, the subsection and the name, separated
	// by dots. The first and the last of them are in small letters.
	Key   string
	Value string
	Bare  bool // there is no equals sign, which means true
	File  string
	Line  int // on which the entry ends; the first line is 1
}

// A SyntaxError reports a line that git does not accept.
type SyntaxError struct {
	File string
	Line int
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s: line %d: bad configuration", e.File, e.Line)
}

// Parse parses a file. Name is its path, for the entries and the error.
func Parse(name string, data []byte) ([]Entry, error) {
	p := &parser{text: strings.TrimPrefix(string(data), "\ufeff"), line: 1}
	if !p.file() {
		if p.last == '\n' {
			p.line--
		}
		return nil, &SyntaxError{name, p.line}
	}
	for i := range p.entries {
		p.entries[i].File = name
	}
	return p.entries, nil
}

// A parser reads one byte after the other. Methods that parse report whether the syntax is
// valid.
type parser struct {
	text    string
	at      int
	line    int
	last    byte
	ended   bool // the newline that next returned was not in the text
	section string
	entries []Entry
}

// next returns the next byte. A carriage return before a newline is skipped, and the text
// ends with a newline.
func (p *parser) next() byte {
	if strings.HasPrefix(p.text[p.at:], "\r\n") {
		p.at++
	}
	b, again := byte('\n'), p.ended
	if p.ended = p.at == len(p.text); !p.ended {
		b = p.text[p.at]
		p.at++
	}
	if b == '\n' && !again {
		p.line++
	}
	p.last = b
	return b
}

func (p *parser) file() bool {
	if strings.Contains(p.text, "\x00") {
		return false
	}
	for {
		b := p.next()
		switch {
		case p.ended:
			return true
		case isSpace(b):
		case b == '#' || b == ';':
			for p.next() != '\n' {
			}
			if p.ended {
				return true
			}
		case b == '[':
			p.section = ""
			if !p.header() || p.section == "" {
				return false
			}
			p.section += "."
		case isLetter(b):
			if !p.entry(b) {
				return false
			}
		default:
			return false
		}
	}
}

// header parses a section after its opening bracket.
func (p *parser) header() bool {
	for {
		b := p.next()
		switch {
		case p.ended:
			return false
		case b == ']':
			return true
		case isSpace(b):
			return p.subsection(b)
		case !isKey(b) && b != '.':
			return false
		}
		p.section += string(lower(b))
	}
}

// subsection parses a subsection after the first space before it.
func (p *parser) subsection(b byte) bool {
	for isSpace(b) {
		if b == '\n' {
			return false
		}
		b = p.next()
	}
	if b != '"' {
		return false
	}
	var name []byte
	for {
		b := p.next()
		if b == '"' {
			p.section += "." + string(name)
			return p.next() == ']'
		}
		if b == '\\' {
			b = p.next()
		}
		if b == '\n' {
			return false
		}
		name = append(name, b)
	}
}

// entry parses an entry after the first byte of its name.
func (p *parser) entry(b byte) bool {
	e := Entry{}
	var name []byte
	for ; isKey(b) && !p.ended; b = p.next() {
		name = append(name, lower(b))
	}
	for b == ' ' || b == '\t' {
		b = p.next()
	}
	if e.Key = p.section + string(name); b == '\n' {
		e.Bare = true
	} else if b != '=' || !p.value(&e.Value) {
		return false
	}
	e.Line = p.line - 1
	p.entries = append(p.entries, e)
	return true
}

// value parses a value after the equals sign, with the end of the line.
func (p *parser) value(to *string) bool {
	var value []byte
	end := 0 // of the value without the spaces after it
	quoted := false
	for {
		b := p.next()
		switch {
		case b == '\n':
			*to = string(value[:end])
			return !quoted
		case isSpace(b) && !quoted:
			if len(value) > 0 {
				value = append(value, b)
			}
			continue
		case (b == ';' || b == '#') && !quoted:
			for p.next() != '\n' {
			}
			*to = string(value[:end])
			return true
		case b == '"':
			quoted = !quoted
		case b == '\\':
			switch b = p.next(); b {
			case '\n':
			case 't':
				value = append(value, '\t')
			case 'b':
				value = append(value, '\b')
			case 'n':
				value = append(value, '\n')
			case '\\', '"':
				value = append(value, b)
			default:
				return false
			}
		default:
			value = append(value, b)
		}
		end = len(value)
	}
}

func isSpace(b byte) bool  { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isLetter(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }
func isKey(b byte) bool    { return isLetter(b) || '0' <= b && b <= '9' || b == '-' }

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
