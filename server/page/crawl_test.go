package page_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/server/page"
	"github.com/bough-dev/bough/workspace/files"
	"golang.org/x/net/html"
)

// TestCrawl follows every link of the page of a workspace that has one of everything: each leads
// to a page or a file. Each form posts to an action of the page, with fields that its verb
// has, and all that it needs.
func TestCrawl(t *testing.T) {
	v := visit(t)
	v.furnish()
	seen := map[string]bool{"/": true}
	checked := map[string]bool{}
	for queue := []string{"/", "/nothing", "/c/nothing", "/search?q=how", "/log?all=1", "/login?to=/log"}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		a := v.get(path)
		text := body(t, a)
		if missing := strings.Contains(path, "nothing"); !missing && a.StatusCode != http.StatusOK && a.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: status %d: %.300s", path, a.StatusCode, text)
		}
		if strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			doc, err := html.Parse(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			for n := range doc.Descendants() {
				switch n.Data {
				case "form":
					checkForm(t, path, n, checked)
				case "script":
					if src := attribute(n, "src"); src == "" || n.FirstChild != nil {
						t.Errorf("%s has an inline script", path)
					}
				case "style":
					t.Errorf("%s has an inline style", path)
				}
				for _, name := range []string{"href", "src"} {
					to := local(path, attribute(n, name))
					if to != "" && !seen[to] {
						seen[to] = true
						queue = append(queue, to)
					}
				}
				for _, a := range n.Attr {
					if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
						t.Errorf("%s: <%s> has the attribute %s", path, n.Data, a.Key)
					}
				}
			}
		}
	}
	if len(seen) < 40 || len(checked) < 12 {
		t.Errorf("found only %d links, and forms %v", len(seen), checked)
	}
}

// furnish makes one of everything.
func (v *visitor) furnish() {
	for _, form := range []string{
		"new?title=Bread", "append?content=How+wet%3F", "append?content=It+depends.&role=assistant",
		"bookmark?ref=Bread@first&label=here", "checkpoint?name=Before", "append?session_id=Bread&content=With+rye%3F&role=user",
		"rewind?ref=Bread@first", "append?content=Other&role=assistant", "branch?ref=Bread@first&name=Aside", "append?content=In+the+branch",
		"new?title=Gone", "rm?session_id=Gone", "agent/create?name=ada", "undo", "redo", "rename?session_id=Aside&title=Beside",
	} {
		verb, query, _ := strings.Cut(form, "?")
		fields, err := url.ParseQuery(query)
		if err != nil {
			v.t.Fatal(err)
		}
		if verb == "undo" {
			fields.Set("seq", newestSeq(v.t, v.w))
		}
		if a := v.post("/do/"+verb, fields); a.StatusCode != http.StatusSeeOther {
			v.t.Fatalf("%s: status %d: %s", form, a.StatusCode, body(v.t, a))
		}
	}
	dir := v.t.TempDir()
	for i, ref := range []string{"Bread@first", "Bread", "Before"} {
		if err := os.WriteFile(filepath.Join(dir, "flour"), fmt.Append(nil, i), 0o600); err != nil {
			v.t.Fatal(err)
		}
		if _, err := v.w.Folder(dir).Snap(v.t.Context(), ref, files.SnapOptions{}); err != nil {
			v.t.Fatal(err)
		}
	}
}

// checkForm checks that a form of a page can be sent.
func checkForm(t *testing.T, path string, form *html.Node, checked map[string]bool) {
	t.Helper()
	actions := []string{attribute(form, "action")}
	var fields []string
	for n := range form.Descendants() {
		if name := attribute(n, "name"); name != "" {
			fields = append(fields, name)
		}
		if to := attribute(n, "formaction"); to != "" {
			actions = append(actions, to)
		}
	}
	for _, action := range actions {
		name, isAction := strings.CutPrefix(action, "/do/")
		if !isAction {
			if method := attribute(form, "method"); method != "" && method != "get" && action != "/login" && action != "/logout" {
				t.Errorf("%s: a form posts to %q", path, action)
			}
			continue
		}
		checked[name] = true
		if attribute(form, "method") != "post" {
			t.Errorf("%s: the form of %s does not post", path, action)
		}
		if !slices.Contains(page.Actions(), name) {
			t.Errorf("%s: there is no action %s", path, action)
			continue
		}
		for _, field := range fields {
			v, ok := api.Find(name)
			switch known := ok && v.In().Properties[field] != nil; {
			case known, field == "back":
			case (name == "undo" || name == "redo") && field == "seq", name == "trash/restore" && field == "session_id":
			case name == "explore" && field == "command", name == "replay/cancel" && field == "session_id":
			case field == "content" && ok && (v.In().Properties["text"] != nil || v.In().Properties["prompt"] != nil):
			default:
				t.Errorf("%s: %s has no argument %q", path, action, field)
			}
		}
		if v, ok := api.Find(name); ok {
			for _, required := range v.In().Required {
				if !slices.Contains(fields, required) && !slices.Contains(fields, "content") {
					t.Errorf("%s: the form of %s has no %s", path, action, required)
				}
			}
		}
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// local returns the path and query that a link of a page leads to, "" if it leaves the site.
func local(from, to string) string {
	base, err := url.Parse(from)
	if err != nil || to == "" {
		return ""
	}
	u, err := base.Parse(to)
	if err != nil || u.Host != "" || u.Scheme != "" {
		return ""
	}
	u.Fragment = ""
	return u.String()
}
