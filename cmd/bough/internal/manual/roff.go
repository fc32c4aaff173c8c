package manual

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Stamp says which program a man page belongs to.
type Stamp struct {
	Version string
	Date    time.Time // of the program; zero omits it
}

// WriteRoff writes the page as a man page of section 1, in the macros that groff and mandoc
// both have. The output is ASCII.
func (p *Page) WriteRoff(to io.Writer, s Stamp) error {
	w := &roff{bufio.NewWriter(to)}
	date := ""
	if !s.Date.IsZero() {
		date = s.Date.UTC().Format(time.DateOnly)
	}
	fmt.Fprintf(w, ".TH %s 1 %q %q %q\n", strings.ToUpper(dashed(p.Name)), date, "bough "+s.Version, "Manual of bough")
	w.line(".SH NAME")
	w.line(escape(dashed(p.Name)) + ` \- ` + escape(p.Short))
	w.line(".SH SYNOPSIS")
	w.line(`.B ` + escape(p.Name))
	if p.Usage != "" {
		w.text(p.Usage)
	}
	for i := range p.Sections {
		w.section(&p.Sections[i])
	}
	if len(p.See) > 0 {
		w.line(".SH SEE ALSO")
		for i, name := range p.See {
			end := ","
			if i == len(p.See)-1 {
				end = ""
			}
			w.line(`.BR ` + escape(dashed(name)) + ` (1)` + end)
		}
	}
	return w.Flush()
}

type roff struct{ *bufio.Writer }

// line writes a line that is already escaped.
func (w *roff) line(s string) { w.WriteString(s + "\n") }

// text writes a line of text, which is not taken for a request.
func (w *roff) text(s string) {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		w.WriteString(`\&`)
	}
	w.line(escape(s))
}

func (w *roff) section(s *Section) {
	w.line(".SH " + escape(strings.ToUpper(s.Title)))
	w.blocks(blocks(s.Text))
	w.rows(s.Rows)
	w.code(s.Code)
}

func (w *roff) blocks(list []block) {
	for i, b := range list {
		switch {
		case b.Rows != nil:
			w.rows(b.Rows)
		case b.Code != "":
			if i > 0 {
				w.line(".PP")
			}
			w.code(b.Code)
		default:
			if i > 0 {
				w.line(".PP")
			}
			w.text(b.Text)
		}
	}
}

func (w *roff) rows(rows []Row) {
	for _, r := range rows {
		w.line(".TP")
		w.line(`\fB` + escape(r.Term) + `\fR`)
		for i, l := range strings.Split(r.Text, "\n") {
			if i > 0 {
				w.line(".br")
			}
			w.text(l)
		}
	}
}

// code writes lines that are not filled, indented.
func (w *roff) code(text string) {
	if text == "" {
		return
	}
	w.line(".RS 4\n.nf")
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		w.text(l)
	}
	w.line(".fi\n.RE")
}

// escape escapes text for roff: what a formatter would replace by typographic characters, and
// characters beyond ASCII.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
