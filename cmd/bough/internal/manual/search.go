package manual

import (
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// A section is a part of a document, or a page, as the search finds it.
type section struct {
	path, page, title, text string
}

// A result is a section that has all words of a search.
type result struct {
	Path, Page, Title string
	Text              string // an excerpt
	Words             []string
}

// index returns the sections of all documents and pages: pages come first.
func (s *Site) index() (all []section) {
	for i := range s.pages {
		p := &s.pages[i]
		all = append(all, section{Path(p.Name), "Verbs", p.Name, p.text()})
	}
	fs.WalkDir(s.documents, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		data, err := fs.ReadFile(s.documents, name)
		if err == nil {
			all = append(all, s.parse(name, data).sections("/"+name)...)
		}
		return err
	})
	return all
}

// sections returns a section for each heading of the document, which has an address.
func (d *document) sections(address string) (list []section) {
	start := 0
	end := func(at int) {
		if len(list) > 0 {
			list[len(list)-1].text = string(d.source[start:at])
		}
	}
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		at := h.Lines().At(0)
		end(at.Start)
		start = at.Stop
		list = append(list, section{address + "#" + id(h), d.title(), plain(h, d.source), ""})
	}
	end(len(d.source))
	return list
}

// text returns all text of a page.
func (p *Page) text() string {
	var b strings.Builder
	b.WriteString(p.Short + "\n")
	for _, s := range p.Sections {
		b.WriteString(s.Text + "\n")
		for _, r := range s.Rows {
			b.WriteString(r.Term + " " + r.Text + "\n")
		}
		b.WriteString(s.Code + "\n")
	}
	return b.String()
}

func (s *Site) search(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.FormValue("q"))
	v := view{Title: "Search", Query: query}
	if query != "" {
		v.Results = find(s.sections(), strings.Fields(strings.ToLower(query)))
	}
	s.show(w, http.StatusOK, v)
}

// maxResults limits the results of a search.
const maxResults = 60

// find returns the sections that have all words, in lower case, in their title or text: first
// those with a word in the title.
func find(all []section, words []string) (found []result) {
	var titled []result
	for _, s := range all {
		title, text := strings.ToLower(s.title), strings.ToLower(s.text)
		if slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(title+"\n"+text, word) }) {
			continue
		}
		r := result{s.path, s.page, s.title, excerpt(s.text, words[0]), words}
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(title, word) }) {
			titled = append(titled, r)
		} else {
			found = append(found, r)
		}
	}
	found = append(titled, found...)
	return found[:min(len(found), maxResults)]
}

// excerpt returns the text around the first place of a word, or its beginning, on one line.
func excerpt(text, word string) string {
	const before, length = 60, 220 // bytes
	text = strings.Join(strings.Fields(text), " ")
	at := strings.Index(strings.ToLower(text), word)
	from := max(0, min(at, len(text))-before)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), from+length)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	cut := text[from:to]
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	return cut
}

// marked returns text as HTML, with marks around words.
func marked(text string, words []string) template.HTML {
	var quoted []string
	for _, word := range words {
		quoted = append(quoted, regexp.QuoteMeta(word))
	}
	return replaced(text, regexp.MustCompile("(?i)"+strings.Join(quoted, "|")), func(match string) string {
		return "<mark>" + template.HTMLEscapeString(match) + "</mark>"
	})
}

// replaced returns text as HTML, with what a pattern matches replaced.
func replaced(text string, pattern *regexp.Regexp, by func(match string) string) template.HTML {
	var b strings.Builder
	at := 0
	for _, m := range pattern.FindAllStringIndex(text, -1) {
		b.WriteString(template.HTMLEscapeString(text[at:m[0]]) + by(text[m[0]:m[1]]))
		at = m[1]
	}
	b.WriteString(template.HTMLEscapeString(text[at:]))
	return template.HTML(b.String())
}

// linked returns the text of a help as HTML, with links to the documents and verbs that it names.
func (s *Site) linked(text string) template.HTML {
	return replaced(text, regexp.MustCompile(`docs/[a-z]+\.md|'bough [a-z][^']*'`), func(match string) string {
		to := "/" + match
		if match[0] == '\'' {
			to = s.named(strings.Fields(strings.Trim(match, "'")))
		} else if _, err := fs.Stat(s.documents, match); err != nil {
			to = ""
		}
		if to == "" {
			return template.HTMLEscapeString(match)
		}
		return `<a href="` + template.HTMLEscapeString(to) + `">` + template.HTMLEscapeString(match) + "</a>"
	})
}

// named returns the path of the page that the first words of a command line name, "" for none.
func (s *Site) named(words []string) string {
	if len(words) > 2 && words[1] == "help" {
		words = slices.Delete(words, 1, 2)
	}
	for n := min(len(words), 3); n > 1; n-- {
		name := strings.Join(words[:n], " ")
		if slices.ContainsFunc(s.pages, func(p Page) bool { return p.Name == name }) {
			return Path(name)
		}
	}
	return ""
}
