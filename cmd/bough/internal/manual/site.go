package manual

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed site.html
var siteTemplates string

//go:embed site.css
var siteStyle string

// A Site serves documents and the pages of the help to a browser. Addresses are the paths of the
// documents, so that a link between two of them is the same here as in a repository. It needs no
// scripts.
type Site struct {
	documents fs.FS
	pages     []Page
	style     []byte
	templates *template.Template
	sections  func() []section // of all documents and pages, for the search
	routes    http.ServeMux
}

// NewSite returns a site of documents in Markdown, with README.md as the first one, and of pages.
// The style sheet is that of the page of a workspace.
func NewSite(documents fs.FS, pages []Page, style []byte) *Site {
	s := &Site{documents: documents, pages: pages, style: append(slices.Clip(style), siteStyle...)}
	s.templates = template.Must(template.New("").Funcs(template.FuncMap{
		"blocks": blocks, "linked": s.linked, "path": Path, "dashed": dashed, "marked": marked,
	}).Parse(siteTemplates))
	s.sections = sync.OnceValue(s.index)
	s.routes.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { s.document(w, "README.md") })
	s.routes.HandleFunc("GET /help/{name}", s.help)
	s.routes.HandleFunc("GET /search", s.search)
	s.routes.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Write(s.style)
	})
	s.routes.HandleFunc("GET /{path...}", s.file)
	return s
}

// Path returns the path of the page with a name.
func Path(name string) string { return "/help/" + dashed(name) }

// ServeHTTP implements [http.Handler].
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	s.routes.ServeHTTP(w, r)
}

// A view is the data of a page.
type view struct {
	Title   string
	Path    string // "" if the list of pages does not have it
	Query   string
	Menu    []group
	Body    template.HTML // of a document
	Heads   []heading
	Page    *Page
	Results []result
	Files   []string // of a folder
}

// A group is a part of the list of pages.
type group struct {
	Title string
	Links []link
}

type link struct{ Path, Text string }

// menu returns the list of pages.
func (s *Site) menu() []group {
	read := group{Title: "Documents", Links: []link{{"/", "README"}}}
	names, _ := fs.Glob(s.documents, "docs/*.md")
	for _, name := range append(names, "CONTRIBUTING.md", "CHANGELOG.md") {
		if title := s.title(name); title != "" {
			read.Links = append(read.Links, link{"/" + name, title})
		}
	}
	verbs := group{Title: "Verbs"}
	for _, p := range s.pages {
		if strings.Count(p.Name, " ") < 2 {
			verbs.Links = append(verbs.Links, link{Path(p.Name), strings.TrimPrefix(p.Name, "bough ")})
		}
	}
	return []group{read, verbs}
}

// show sends a page.
func (s *Site) show(w http.ResponseWriter, status int, v view) {
	v.Menu = s.menu()
	var b bytes.Buffer
	if err := s.templates.Execute(&b, v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func (s *Site) notFound(w http.ResponseWriter) {
	s.show(w, http.StatusNotFound, view{Title: "Not found"})
}

// file serves a document, a folder, or any other file.
func (s *Site) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimSuffix(r.PathValue("path"), "/")
	info, err := fs.Stat(s.documents, name)
	switch {
	case err != nil:
		s.notFound(w)
	case info.IsDir():
		s.folder(w, name)
	case path.Ext(name) == ".md":
		s.document(w, name)
	default:
		data, err := fs.ReadFile(s.documents, name)
		if err != nil {
			s.notFound(w)
			return
		}
		w.Header().Set("Content-Type", mediaType(path.Ext(name)))
		w.Write(data)
	}
}

// mediaType returns the media type of a file with an extension.
func mediaType(ext string) string {
	switch ext {
	case ".png":
		return "image/png"
	case ".gif":
		return "image/gif"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/plain; charset=utf-8"
}

// folder shows the files in a folder.
func (s *Site) folder(w http.ResponseWriter, name string) {
	v := view{Title: name}
	fs.WalkDir(s.documents, name, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			v.Files = append(v.Files, file)
		}
		return err
	})
	s.show(w, http.StatusOK, v)
}

// document shows a document.
func (s *Site) document(w http.ResponseWriter, name string) {
	data, err := fs.ReadFile(s.documents, name)
	if err != nil {
		s.notFound(w)
		return
	}
	d := s.parse(name, data)
	v := view{Title: cmp.Or(d.title(), name), Path: "/" + name, Heads: d.headings(2), Body: d.html()}
	if name == "README.md" {
		v.Path = "/"
	}
	s.show(w, http.StatusOK, v)
}

// title returns the title of a document, "" if there is none.
func (s *Site) title(name string) string {
	data, err := fs.ReadFile(s.documents, name)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), "\n")
	title, ok := strings.CutPrefix(first, "# ")
	if !ok {
		return path.Base(name)
	}
	return title
}

func (s *Site) help(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	i := slices.IndexFunc(s.pages, func(p Page) bool { return dashed(p.Name) == name })
	if i < 0 {
		s.notFound(w)
		return
	}
	s.show(w, http.StatusOK, view{Title: s.pages[i].Name, Path: "/help/" + name, Page: &s.pages[i]})
}
