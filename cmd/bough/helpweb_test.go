package main

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/bough-dev/bough/cmd/bough/internal/manual"
)

var (
	href   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	idAttr = regexp.MustCompile(` id="([^"]*)"`)
)

// TestManualLinks follows all links of the manual from its first page: each page exists, also
// those of all verbs, and has the place that a link names. Only a few links lead to the repository.
func TestManualLinks(t *testing.T) {
	site := (&program{}).site()
	type visited struct {
		ids map[string]bool
	}
	pages := map[string]visited{}
	links := map[string][]string{} // the pages with a link, by address
	var outside []string
	var visit func(path string)
	visit = func(path string) {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		v := visited{map[string]bool{}}
		pages[path] = v
		if w.Code != 200 {
			t.Errorf("%s, linked from %q: status %d", path, links[path], w.Code)
			return
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			return
		}
		text := w.Body.String()
		for _, m := range idAttr.FindAllStringSubmatch(text, -1) {
			if v.ids[m[1]] {
				t.Errorf("%s has the id %q twice", path, m[1])
			}
			v.ids[m[1]] = true
		}
		for _, m := range href.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil {
				t.Errorf("%s links to %q: %v", path, m[1], err)
				continue
			}
			if u.IsAbs() {
				if strings.HasPrefix(m[1], manual.Source) {
					outside = append(outside, path+" "+m[1])
				}
				continue
			}
			to := u.Path
			if to == "" {
				to = path
			}
			links[to+"#"+u.Fragment] = append(links[to+"#"+u.Fragment], path)
			links[to] = append(links[to], path)
			if _, seen := pages[to]; !seen {
				visit(to)
			}
		}
	}
	visit("/")
	for place, from := range links {
		path, fragment, _ := strings.Cut(place, "#")
		if fragment != "" && !pages[path].ids[fragment] {
			t.Errorf("%s, linked from %q, has no such place", place, from)
		}
	}
	for _, p := range (&program{}).manualPages() {
		if _, ok := pages[manual.Path(p.Name)]; !ok {
			t.Errorf("no page links to that of %s", p.Name)
		}
	}
	if len(pages) < 150 || len(outside) > 2 {
		t.Errorf("the manual has %d pages, and links to the repository: %q", len(pages), outside)
	}
}

// TestManualSearch: a search finds verbs and sections of documents, with marks, and escapes what
// was typed.
func TestManualSearch(t *testing.T) {
	site := (&program{}).site()
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code, w.Body.String()
	}
	for query, want := range map[string]string{
		"prune-context": `<a href="/help/bough-prune-context">bough <mark>prune-context</mark></a>`,
		"PACKED recipe": `href="/docs/format.md#`,
		"no-such-word":  "No section has all of these words.",
		"<script>":      `value="&lt;script&gt;"`,
		"":              "Type words",
	} {
		code, text := get("/search?q=" + url.QueryEscape(query))
		if code != 200 || !strings.Contains(text, want) || strings.Contains(text, "<script") {
			t.Errorf("a search of %q: status %d, and no %q", query, code, want)
		}
	}
	for _, path := range []string{"/nothing", "/help/bough-nothing", "/docs/nothing.md"} {
		if code, text := get(path); code != 404 || !strings.Contains(text, "Not found") {
			t.Errorf("%s has the status %d", path, code)
		}
	}
}
