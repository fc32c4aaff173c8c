package manual

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Source is the address of the repository, where links to other files go.
const Source = "https://github.com/bough-dev/bough/tree/HEAD/"

// A document is a parsed document. Its links go to addresses of the site.
type document struct {
	source []byte
	root   ast.Node
	render renderer.Renderer
}

// A heading is a heading of a document.
type heading struct{ ID, Text string }

// parse parses the document with a name.
func (s *Site) parse(name string, source []byte) *document {
	m := goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(own{}, 100))),
	)
	d := &document{source: source, render: m.Renderer()}
	ids := &anchors{taken: map[string]bool{}}
	d.root = m.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Link:
				n.Destination = s.resolve(name, n.Destination)
			case *ast.Image:
				n.Destination = s.resolve(name, n.Destination)
			}
		}
		return ast.WalkContinue, nil
	})
	return d
}

// resolve returns the address of a destination in the document with a name.
func (s *Site) resolve(name string, destination []byte) []byte {
	to := string(destination)
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return destination
	}
	to, fragment, _ := strings.Cut(to, "#")
	to = path.Join(path.Dir(name), to)
	if fragment != "" {
		fragment = "#" + fragment
	}
	if _, err := fs.Stat(s.documents, to); err != nil {
		return []byte(Source + to + fragment)
	}
	return []byte("/" + to + fragment)
}

func (d *document) html() template.HTML {
	var b bytes.Buffer
	if err := d.render.Render(&b, d.source, d.root); err != nil {
		panic(err) // a buffer returns no error
	}
	return template.HTML(b.String())
}

// headings returns the headings of a level.
func (d *document) headings(level int) (list []heading) {
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level == level {
			list = append(list, heading{id(h), plain(h, d.source)})
		}
	}
	return list
}

// title returns the first heading of level 1, "" for none.
func (d *document) title() string {
	if list := d.headings(1); len(list) > 0 {
		return list[0].Text
	}
	return ""
}

func id(h *ast.Heading) string {
	value, _ := h.AttributeString("id")
	name, _ := value.([]byte)
	return string(name)
}

// plain returns the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors makes the ids of headings as GitHub does, so that links work in both places.
type anchors struct{ taken map[string]bool }

// Generate implements [parser.IDs].
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	unique := name
	for n := 1; a.taken[unique]; n++ {
		unique = name + "-" + strconv.Itoa(n)
	}
	a.Put([]byte(unique))
	return []byte(unique)
}

// Put implements [parser.IDs].
func (a *anchors) Put(value []byte) { a.taken[string(value)] = true }

// own renders headings with a link to them, and blocks of code that a keyboard can scroll.
type own struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (own) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
}

func renderHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	name := template.HTMLEscapeString(id(h))
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, h.Level, name)
	} else {
		fmt.Fprintf(w, ` <a class="here" href="#%s" aria-label="Link to “%s”">#</a></h%d>`+"\n", name, template.HTMLEscapeString(plain(h, source)), h.Level)
	}
	return ast.WalkContinue, nil
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		w.WriteString(`<pre tabindex="0"><code>`)
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			html.DefaultWriter.RawWrite(w, line.Value(source))
		}
		w.WriteString("</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}
