package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/tidwall/sjson"
	"golang.org/x/net/html"
)

// A drawn is the page of a view.
type drawn struct {
	t    testing.TB
	path string
	text string
	root *html.Node
}

// draw returns the page of a path. It checks the page as [drawn.check] does.
func draw(t testing.TB, w *workspace.Workspace, path string) *drawn {
	t.Helper()
	var header http.Header
	if strings.HasPrefix(path, "/piece/") {
		header = http.Header{"Bough-Fragment": {"1"}}
	}
	d := answer(t, w, path, http.StatusOK, header)
	d.check()
	return d
}

// answer returns the page of a path, which must have a status.
func answer(t testing.TB, w *workspace.Workspace, path string, status int, header http.Header) *drawn {
	t.Helper()
	rec := serve(t, w, path, header)
	if to := rec.Header().Get("Location"); to != "" && status == http.StatusOK {
		return answer(t, w, to, status, header)
	}
	if rec.Code != status {
		t.Fatalf("%s: status %d, not %d: %s", path, rec.Code, status, rec.Body)
	}
	root, err := html.Parse(strings.NewReader(rec.Body.String()))
	if err != nil {
		t.Fatal(err)
	}
	return &drawn{t, path, rec.Body.String(), root}
}

// serve returns the answer to a request for a path.
func serve(t testing.TB, w *workspace.Workspace, path string, header http.Header) *httptest.ResponseRecorder {
	home, _ := os.UserHomeDir()
	m := transcript.Machine{Home: home, Dir: home, Env: os.Getenv, Read: os.ReadFile}
	p := &Page{workspace: w, opts: Options{Machine: &m, Now: time.Now, Log: func(s string) { t.Error(s) }}}
	mux := http.NewServeMux()
	for _, v := range views() {
		mux.HandleFunc("GET "+v.path, p.show(v.view))
	}
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if header != nil {
		r.Header = header
	}
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, r)
	return rec
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// find returns the elements for which ok returns true.
func (d *drawn) find(ok func(*html.Node) bool) (list []*html.Node) {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && ok(n) {
			list = append(list, n)
		}
	}
	return list
}

// class returns the elements with a class.
func (d *drawn) class(name string) []*html.Node {
	return d.find(func(n *html.Node) bool { return slices.Contains(strings.Fields(attr(n, "class")), name) })
}

// with returns the elements with an attribute of a value.
func (d *drawn) with(name, value string) []*html.Node {
	return d.find(func(n *html.Node) bool { return has(n, name) && attr(n, name) == value })
}

// words returns the text in an element, with single spaces.
func words(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (d *drawn) contains(texts ...string) {
	d.t.Helper()
	all := words(d.root)
	for _, s := range texts {
		if !strings.Contains(all, s) {
			d.t.Errorf("%s does not say %q", d.path, s)
		}
	}
}

// check holds that a page has nothing that a browser runs or loads from elsewhere, that its
// headings are in order, that its ids are unique, and that what refers to an id finds it.
func (d *drawn) check() {
	d.t.Helper()
	ids := map[string]int{}
	for _, n := range d.find(func(n *html.Node) bool { return has(n, "id") }) {
		ids[attr(n, "id")]++
	}
	for id, n := range ids {
		if n > 1 {
			d.t.Errorf("%s: %d elements have the id %q", d.path, n, id)
		}
	}
	level := 0
	for n := range d.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		d.checkElement(n, ids)
		if len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6' && !isText(n) {
			if l := int(n.Data[1] - '0'); l > level+1 && level > 0 {
				d.t.Errorf("%s: h%d follows h%d: %q", d.path, l, level, words(n))
			} else {
				level = l
			}
		}
	}
	if n := len(d.find(func(n *html.Node) bool { return n.Data == "h1" })); n != 1 && strings.Contains(d.text, "<html") {
		d.t.Errorf("%s has %d h1 elements", d.path, n)
	}
}

// within reports whether n is in the element with an id.
func within(n *html.Node, id string) bool {
	for p := range n.Ancestors() {
		if attr(p, "id") == id {
			return true
		}
	}
	return false
}

// isText reports whether n is in the text of a message, whose headings are its own.
func isText(n *html.Node) bool {
	for p := range n.Ancestors() {
		if slices.Contains(strings.Fields(attr(p, "class")), "text") {
			return true
		}
	}
	return false
}

func (d *drawn) checkElement(n *html.Node, ids map[string]int) {
	switch n.Data {
	case "script":
		if src := attr(n, "src"); !strings.HasPrefix(src, "/static/") || n.FirstChild != nil {
			d.t.Errorf("%s has a script: %q %s", d.path, src, words(n))
		}
	case "style", "iframe", "object", "embed", "base", "math":
		d.t.Errorf("%s has the element %s", d.path, n.Data)
	case "input", "textarea", "select":
		if attr(n, "type") != "hidden" && !has(n, "aria-label") && !d.labelled(n) {
			d.t.Errorf("%s: the field %q has no label", d.path, attr(n, "name"))
		}
	}
	for _, a := range n.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "srcdoc", a.Key == "srcset":
			d.t.Errorf("%s: %s has the attribute %s=%q", d.path, n.Data, a.Key, a.Val)
		case a.Key == "href" && !isLink(a.Val), a.Key == "src" && !strings.HasPrefix(a.Val, "/"),
			(a.Key == "action" || a.Key == "formaction") && !strings.HasPrefix(a.Val, "/"):
			d.t.Errorf("%s: %s leads to %q", d.path, n.Data, a.Val)
		case a.Key == "for" || a.Key == "aria-describedby" || a.Key == "aria-labelledby":
			if ids[a.Val] == 0 {
				d.t.Errorf("%s: %s of %s refers to %q, which does not exist", d.path, a.Key, n.Data, a.Val)
			}
		case a.Key == "aria-label" && strings.TrimSpace(a.Val) == "":
			d.t.Errorf("%s: %s has an empty label", d.path, n.Data)
		}
	}
}

// labelled reports whether a field has a label.
func (d *drawn) labelled(field *html.Node) bool {
	for p := range field.Ancestors() {
		if p.Data == "label" {
			return true
		}
	}
	id := attr(field, "id")
	return id != "" && len(d.with("for", id)) > 0
}

// isLink reports whether a page may have a link to an address.
func isLink(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "":
		return u.Host == "" && (strings.HasPrefix(address, "/") || strings.HasPrefix(address, "#"))
	case "http", "https":
		return u.Host != ""
	}
	return u.Scheme == "mailto"
}

// open returns an empty workspace.
func open(t testing.TB) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// must returns v, and fails the test for an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

const (
	lisbon  = "session_20260522_181004_3d9c07ab"
	middle  = "849dde0b-de4a-4c01-a29f-3fa48814455a" // a message of lisbon, by the assistant
	ofUser  = "1723c411-bb0e-4ad7-a236-8f3f0566ddfd" // the one before it
	agentID = "guide"
)

// A story is a workspace with everything that the page shows.
type story struct {
	*workspace.Workspace
	fork       string // a second reply to ofUser
	branch     string
	checkpoint string
	removed    string
	explored   string // an exploration
}

// tell returns a workspace with everything that the page shows.
func tell(t testing.TB) *story {
	t.Helper()
	ctx := t.Context()
	dir := t.TempDir()
	if err := os.CopyFS(dir, fixtures.Demo()); err != nil {
		t.Fatal(err)
	}
	s := &story{Workspace: must(workspace.Open(ctx, dir, nil))(t)}
	s.checkpoint = must(s.Checkpoint(ctx, lisbon+"@"+middle, workspace.SnapshotOptions{Name: "Before the sea"}))(t).ID
	s.branch = must(s.Branch(ctx, lisbon+"@"+middle, workspace.SnapshotOptions{Name: "Only museums", KeepHead: true}))(t).ID
	must(s.Append(ctx, workspace.Append{Session: s.branch, Text: "Then only museums."}))(t)
	s.fork = must(s.Append(ctx, workspace.Append{Session: lisbon, Parent: ofUser, Role: "assistant", Text: "Or stay in Lisbon: Cacilhas is **ten minutes** by ferry."}))(t).Message
	must(s.Bookmark(ctx, lisbon+"@"+middle, "the sea", workspace.BookmarkOptions{Summary: "Where Cascais came up"}))(t)
	must(s.Rewind(ctx, lisbon+"@"+middle, checkpoint.CutOptions{}))(t)
	gone := must(s.NewSession(ctx, workspace.NewOptions{Title: "A mistake"}))(t)
	s.removed = gone.ID
	must(s.Remove(ctx, gone.ID, workspace.RemoveOptions{}))(t)
	must(s.Rewind(ctx, lisbon+"@"+middle, checkpoint.CutOptions{}))(t)
	a := must(s.Agent(agentID).Create(ctx, agents.Options{Model: "some/model", System: "You guide."}))(t)
	tree := a.Trees[0].ID
	first := must(s.Append(ctx, workspace.Append{Session: tree, Text: "Where do trams go?"}))(t).Message
	must(s.Bookmark(ctx, tree+"@"+first, "trams", workspace.BookmarkOptions{Summary: "All about trams", Scope: bookmark.Subtree}))(t)
	s.explored = "3f1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a11"
	yes, no, outcome := 0.9, 0.2, "9a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a22"
	x := &explore.Exploration{
		ID: s.explored, Session: lisbon, Node: middle, Question: "Which way to the sea?", Method: explore.Best, Config: explore.Defaults(),
		Active: []string{}, CreatedAt: "2026-05-22T18:12:37.045129+00:00", EndedAt: "2026-05-22T18:14:37.045129+00:00",
		Branches: []explore.Branch{
			{ID: "1a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a01", Parent: middle, Session: s.branch, Strategy: "by train", Description: "Take the train", Depth: 1, Status: explore.Completed,
				Confidence: &yes, Result: "The **train** takes forty minutes.", Metrics: json.RawMessage(`{"minutes":40}`), Insights: []string{"trains are on time"},
				StartedAt: "2026-05-22T18:12:37.045129+00:00", EndedAt: "2026-05-22T18:13:07.045129+00:00"},
			{ID: "2a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a02", Parent: middle, Strategy: "by bike", Depth: 1, Status: explore.Failed, Reason: "no bikes today", Confidence: &no, Insights: []string{}},
		},
		Notes: []explore.Note{}, Outcome: &outcome,
		Evaluation: &explore.Evaluation{Strategy: explore.Best, Selected: "1a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a01", From: []string{"1a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a01"}, Result: "Take the **train**.", Confidence: &yes, Metrics: []string{}, Reasons: []string{"by train is rated best"}},
	}
	if err := s.Exploration(s.explored).Write(ctx, x.Encode()); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestViews holds what each view says.
func TestViews(t *testing.T) {
	s := tell(t)
	for _, c := range []struct {
		path string
		says []string
	}{
		{"/", []string{"A weekend in Lisbon", "One museum, no more.", "Cascais", "the sea", "1/2", "Only museums", "Before the sea"}},
		{"/c/" + lisbon, []string{"A weekend in Lisbon", "2 branches"}},
		{"/c/" + lisbon + "?leaf=" + s.fork, []string{"Cacilhas is ten minutes by ferry.", "2/2"}},
		{"/c/" + s.branch, []string{"Only museums", "Branch", "Copied from A weekend in Lisbon up to here", "Then only museums."}},
		{"/k/" + s.checkpoint, []string{"Before the sea", "Checkpoint, read-only", "A message makes a branch of it; the checkpoint does not change.", "Restore"}},
		{"/k/" + s.branch, []string{"Only museums"}},
		{"/compare?a=" + lisbon + "&b=" + s.branch, []string{"3 messages in common", "Then only museums.", "2 messages · ", "1 message · ", "Merge into Only museums…", "Add another branch"}},
		{"/compare?a=" + lisbon, []string{"Compare A weekend in Lisbon with", "Branch in this conversation", "Only museums"}},
		{"/tree/" + lisbon, []string{"A weekend in Lisbon", "Before the sea", "Only museums", "the sea", "head", "12 messages"}},
		{"/agents", []string{"guide", "some/model · 1 topic"}},
		{"/agents/" + agentID, []string{"guide", "idle", "Where do trams go?", "All about trams", "trams", "Send"}},
		{"/explore", []string{"Which way to the sea?", "1 of 2 strategies completed"}},
		{"/explore/" + s.explored, []string{"by train", "90 %", "Take the train.", "by train is rated best", "no bikes today", "20 %", "minutes", "40", "trains are on time", "Adopt the outcome", "30 s"}},
		{"/search", []string{"Search"}},
		{"/search?q=cascais", []string{"A weekend in Lisbon", "forty minutes along the water", "Cascais"}},
		{"/search?q=nothing+of+the+kind", []string{"No messages match"}},
		{"/log", []string{"Created branch “Only museums”", "Saved checkpoint “Before the sea”", "Added bookmark “the sea”", "Undo"}},
		{"/trash", []string{"A mistake", "Restore"}},
	} {
		t.Run(c.path, func(t *testing.T) {
			d := draw(t, s.Workspace, c.path)
			d.contains(c.says...)
		})
	}
}

// TestEmpty: an empty workspace offers what can be imported.
func TestEmpty(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	w := open(t)
	draw(t, w, "/").contains("No conversations yet", "bough import FILE")
	name := filepath.Join(home, ".claude", "projects", "-src-a", "1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := draw(t, w, "/")
	d.contains("claude-code", "1 file", "bough import --from claude-code")
	if len(d.with("action", "/do/import")) != 1 {
		t.Error("the page does not offer the import")
	}
	for _, path := range []string{"/agents", "/explore", "/log", "/trash", "/search"} {
		draw(t, w, path)
	}
}

// TestRefused: an unknown name, and a word in place of a number, has the right status.
func TestRefused(t *testing.T) {
	s := tell(t)
	for path, status := range map[string]int{
		"/c/nothing":                         http.StatusNotFound,
		"/c/" + lisbon + "?leaf=nothing":     http.StatusNotFound,
		"/c/" + lisbon + "?from=x":           http.StatusBadRequest,
		"/c/" + lisbon + "?from=-1":          http.StatusBadRequest,
		"/k/nothing":                         http.StatusNotFound,
		"/agents/nothing":                    http.StatusNotFound,
		"/explore/nothing":                   http.StatusNotFound,
		"/compare?a=nothing&b=" + lisbon:     http.StatusNotFound,
		"/piece/messages?session=nothing":    http.StatusNotFound,
		"/image?session=" + lisbon + "&n=0":  http.StatusNotFound,
		"/file/" + strings.Repeat("0", 64):   http.StatusNotFound,
		"/file/..%2f..%2fhead.json":          http.StatusNotFound,
		"/search?q=%22unclosed&role=nothing": http.StatusBadRequest,
	} {
		answer(t, s.Workspace, path, status, nil)
	}
}

// TestMessageMarkup holds the markup that the modules of the page rely on.
func TestMessageMarkup(t *testing.T) {
	s := tell(t)
	d := draw(t, s.Workspace, "/c/"+lisbon+"?leaf="+s.fork)
	feed := d.with("role", "feed")
	if len(feed) != 1 || attr(feed[0], "id") != "feed" || attr(feed[0], "data-session") != lisbon || attr(feed[0], "data-leaf") != s.fork ||
		attr(feed[0], "data-from") != "0" || attr(feed[0], "data-total") != "4" {
		t.Fatalf("the feed is %+v", feed[0].Attr)
	}
	last := d.with("id", "m-"+s.fork)[0]
	for name, want := range map[string]string{
		"data-message": s.fork, "data-at": "3", "data-role": "assistant", "tabindex": "-1", "aria-posinset": "4", "aria-setsize": "4",
	} {
		if got := attr(last, name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	forks := d.find(func(n *html.Node) bool { return has(n, "data-fork") })
	if len(forks) != 1 || attr(forks[0], "aria-label") != "2 of 2 replies" {
		t.Fatalf("there are %d forks", len(forks))
	}
	prev := d.with("rel", "prev")
	if len(prev) != 1 || !strings.HasSuffix(attr(prev[0], "href"), "#m-"+middle) || !strings.Contains(attr(prev[0], "href"), "leaf=") {
		t.Errorf("the previous reply is %q", attr(prev[0], "href"))
	}
	for act, action := range map[string]string{"branch": "/do/branch", "checkpoint": "/do/checkpoint", "bookmark": "/do/bookmark", "continue": "/do/rewind"} {
		n := 0
		for f := range last.Descendants() {
			if f.Data == "form" && attr(f, "data-act") == act && attr(f, "action") == action && attr(f, "method") == "post" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the message has %d forms for %s", n, act)
		}
	}
	if composer := d.with("id", "composer"); len(composer) != 1 || attr(composer[0], "action") != "/do/append" || len(d.with("name", "content")) != 1 {
		t.Error("there is no input")
	}
	for _, path := range []string{"/c/" + lisbon, "/k/" + s.checkpoint} {
		f := answer(t, s.Workspace, path, http.StatusOK, http.Header{"Bough-Fragment": {"1"}})
		if strings.Contains(f.text, "<html") || len(f.with("id", "feed")) != 1 {
			t.Errorf("the fragment of %s is %.80q", path, f.text)
		}
	}
}

// TestDeletion: what cannot be deleted has a disabled button with the reason.
func TestDeletion(t *testing.T) {
	s := tell(t)
	for _, c := range []struct{ session, why string }{
		{lisbon, "2 copies of it: Before the sea, Only museums"},
		{s.branch, ""},
	} {
		d := draw(t, s.Workspace, "/c/"+c.session)
		forms := slices.DeleteFunc(d.with("data-act", "delete"), func(n *html.Node) bool { return within(n, "tree") })
		if len(forms) == 0 {
			t.Fatal("there is no form")
		}
		for n := range forms[0].Descendants() {
			if n.Data != "button" {
				continue
			}
			if has(n, "disabled") != (c.why != "") {
				t.Errorf("%s: the button is %+v", c.session, n.Attr)
			}
			if c.why != "" && words(d.with("id", attr(n, "aria-describedby"))[0]) != c.why {
				t.Errorf("the reason is %q, not %q", words(d.with("id", attr(n, "aria-describedby"))[0]), c.why)
			}
		}
	}
}

// TestContinue: the head of an agent moves in its own conversations, else that of the
// workspace.
func TestContinue(t *testing.T) {
	s := tell(t)
	tree := must(s.Agent(agentID).Info(t.Context()))(t).Trees[0].ID
	for path, want := range map[string]string{"/c/" + lisbon: "/do/rewind", "/c/" + tree: "/do/agent/rewind", "/agents/" + agentID: "/do/agent/rewind"} {
		forms := draw(t, s.Workspace, path).with("data-act", "continue")
		if len(forms) == 0 || attr(forms[0], "action") != want {
			t.Errorf("%s has %d forms", path, len(forms))
		}
	}
	draw(t, s.Workspace, "/c/"+tree).contains("Agent guide", "A message is added here without an answer")
}

// TestVectors: every valid workspace has pages, also one that Penguin wrote.
func TestVectors(t *testing.T) {
	vectors, err := fixtures.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if v.Group == fixtures.Broken {
			continue
		}
		w := open(t)
		for name, data := range v.Files {
			path := filepath.Join(w.Dir(), filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		d := draw(t, w, "/c/"+v.Session)
		if n := len(v.Messages); n <= chunkSize && len(d.class("message")) != n {
			t.Errorf("%s: %d messages, not %d", v.Name, len(d.class("message")), n)
		}
		draw(t, w, "/tree/"+v.Session)
		draw(t, w, "/piece/tree?filter=all&session="+v.Session)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, fixtures.Penguin()); err != nil {
		t.Fatal(err)
	}
	w := must(workspace.Open(t.Context(), dir, nil))(t)
	list := must(w.Sessions(t.Context(), workspace.ListOptions{}))(t)
	penguins := 0
	for _, e := range list.Sessions {
		d := draw(t, w, "/k/"+e.ID)
		if first := list.Sessions[0].ID; e.ID != first {
			draw(t, w, "/compare?a="+e.ID+"&b="+first)
		}
		if !e.Penguin || !strings.HasPrefix(d.path, "/k/") { // an automatic one is a place in a conversation
			continue
		}
		penguins++
		if !strings.Contains(d.text, `<small id="no-delete-`+e.ID+`"><bdi>`+anotherProgram) {
			t.Errorf("%s can be deleted, though it is a checkpoint of Penguin", d.path)
		}
	}
	if penguins == 0 {
		t.Error("there is no checkpoint of Penguin")
	}
}

// long returns a workspace with a conversation of n messages, and its id.
func long(t testing.TB, n int) (*workspace.Workspace, string) {
	t.Helper()
	type object = map[string]any
	messages := make([]object, n)
	for i := range messages {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		messages[i] = object{"role": role, "content": fmt.Sprintf("Message %d has **words**, `code` and a list:\n\n- one\n- two\n\n```go\nfunc f%d() {}\n```\n%s", i, i, strings.Repeat("It goes on for a while. ", 20))}
	}
	data, err := json.Marshal(object{"model": "some-model", "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	w := open(t)
	report := must(w.Import(t.Context(), []string{name}, imports.Options{}))(t)
	return w, string(report.Imported[0].Session)
}

// TestLong: of a long conversation the last 50 messages are in the page, and the others in
// chunks that are not loaded.
func TestLong(t *testing.T) {
	n := testsize.Of(1000, 2023, 10_000)
	w, id := long(t, n)
	d := draw(t, w, "/c/"+id)
	counts := func(d *drawn, loaded, unloaded int) {
		t.Helper()
		if got := len(d.class("message")); got != loaded {
			t.Errorf("%s has %d messages, not %d", d.path, got, loaded)
		}
		if got := len(d.class("unloaded")); got != unloaded {
			t.Errorf("%s has %d chunks that are not loaded, not %d", d.path, got, unloaded)
		}
		covered := 0
		for _, c := range d.class("chunk") {
			if attr(c, "data-from") != fmt.Sprint(covered) {
				t.Errorf("%s: a chunk begins at %s, not %d", d.path, attr(c, "data-from"), covered)
			}
			fmt.Sscan(attr(c, "data-to"), &covered)
		}
		if covered != n {
			t.Errorf("%s: the chunks end at %d, not %d", d.path, covered, n)
		}
	}
	chunks := (n - chunkSize + chunkSize - 1) / chunkSize
	counts(d, chunkSize, chunks)
	d = draw(t, w, attr(d.with("id", "earlier")[0], "href"))
	d.contains(fmt.Sprintf("Message %d has", n-2*chunkSize), fmt.Sprintf("Message %d has", n-1))
	counts(draw(t, w, "/c/"+id+"?from=100"), 2*chunkSize, chunks-1)
	piece := draw(t, w, "/piece/messages?session="+id+"&from=100&to=150").class("message")
	if len(piece) != 50 || attr(piece[0], "data-at") != "100" || attr(piece[0], "aria-setsize") != fmt.Sprint(n) {
		t.Errorf("the piece has %d messages", len(piece))
	}
	// A link to a message in the middle loads its chunk.
	d = draw(t, w, "/c/"+id+"?at="+attr(piece[7], "data-message"))
	counts(d, 2*chunkSize, chunks-1)
	if len(d.with("id", attr(piece[7], "id"))) != 1 {
		t.Error("the message of the link is not loaded")
	}
}

// hostile are texts that no page may take for anything but text.
func hostile() []string {
	return []string{
		`"><script>alert(1)</script>`, `' onload='alert(1)`, `<img src=x onerror=alert(1)>`, `javascript:alert(1)`,
		`</textarea></title></style><svg onload=alert(1)>`, `{{.}}{{template "x"}}`, "\u202egnirts\u2066", "a\x00b\x1b[31mc",
		`[x](javascript:alert(1)) ![y](https://example.com/i.png) <a href="data:text/html,x">z</a>`,
		"data:text/html;base64,PHNjcmlwdD4=", `//example.com/x`, "\" autofocus onfocus=\"alert(1)",
	}
}

// TestHostile: text of a conversation is text, in every field.
func TestHostile(t *testing.T) {
	type object = map[string]any
	for i, bad := range hostile() {
		w := open(t)
		var messages []object
		parent := any(nil)
		for k, role := range []string{"user", "assistant", "tool", bad, "assistant"} {
			id := fmt.Sprintf("%d%s", k, bad)
			m := object{"role": role, "content": bad, "id": id, "category": "DIALOG", "timestamp": bad, "metadata": object{
				"parent_id": parent, "delivery_mode": bad, "kind": bad, "tool_call_id": bad,
				"tool_calls": []object{{"id": bad, "name": bad, "arguments": bad}},
				"bough":      object{"model_id": bad, "joined": bad, "source": object{"model": bad, "kind": bad, "format": bad}},
			}}
			if k == 4 {
				m["metadata"].(object)["parent_id"] = fmt.Sprintf("0%s", bad) // a fork
			}
			messages = append(messages, m)
			parent = id
		}
		messages[1]["content"] = []object{{"type": "text", "text": bad}, {"type": "image", "source": object{"type": "url", "url": bad}}, {"type": "tool_use", "name": bad, "input": object{bad: bad}}, {"type": bad, "text": bad}}
		file, err := json.Marshal(object{"id": "x", "created_at": bad, "last_active": bad, "metadata": object{"title": bad, "bough": object{"tool": bad}}, "messages": messages})
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("session_20260101_00000%d_0000000%d", i%10, i%10)
		if err := os.MkdirAll(filepath.Join(w.Dir(), "conversations"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(w.Dir(), "conversations", id+".json"), file, 0o644); err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		must(w.Bookmark(ctx, id, strings.Join(strings.Fields(strings.ToValidUTF8(bad, "")), " "), workspace.BookmarkOptions{Summary: "s"}))
		must(w.Checkpoint(ctx, id, workspace.SnapshotOptions{Name: bad}))
		x := &explore.Exploration{
			ID: "3f1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a11", Session: id, Node: "0" + bad, Question: bad, Method: explore.Best, Config: explore.Defaults(), Active: []string{}, CreatedAt: bad, Notes: []explore.Note{{Name: bad, Text: bad}},
			Branches: []explore.Branch{{ID: "1a1d7c58-3c1b-4c39-9d3c-0d6e0e3c5a01", Parent: "0" + bad, Session: id, Strategy: bad, Description: bad, Depth: 1, Status: explore.Completed, Reason: bad, Result: bad, Insights: []string{bad}, Metrics: json.RawMessage(`{"a":1}`)}},
		}
		if err := w.Exploration(x.ID).Write(ctx, x.Encode()); err != nil {
			t.Fatal(err)
		}
		q := url.QueryEscape
		for _, path := range []string{
			"/", "/c/" + id, "/c/" + id + "?leaf=" + q("3"+bad), "/compare?a=" + q(id+"@3"+bad) + "&b=" + q(id+"@4"+bad), "/compare?a=" + id, "/compare?a=" + q(id+"@3"+bad) + "&b=" + q(id+"@4"+bad) + "&c=" + id,
			"/merge?branch=" + q(id+"@3"+bad) + "&into=" + q(id+"@4"+bad) + "&by=summary", "/replay?ref=" + id + "&edit=" + q("0"+bad), "/suggest",
			"/search?q=" + q(bad), "/tree/" + id, "/piece/tree?filter=all&session=" + id, "/piece/tree?text=" + q(bad), "/log", "/trash", "/explore", "/piece/messages?session=" + id,
		} {
			p := &Page{workspace: w, opts: Options{Now: time.Now, Log: func(s string) { t.Error(s) }}}
			mux := http.NewServeMux()
			for _, v := range views() {
				mux.HandleFunc("GET "+v.path, p.show(v.view))
			}
			rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
			if strings.HasPrefix(path, "/piece/") {
				r.Header.Set("Bough-Fragment", "1")
			}
			mux.ServeHTTP(rec, r)
			root, err := html.Parse(strings.NewReader(rec.Body.String()))
			if err != nil {
				t.Fatal(err)
			}
			d := &drawn{t, fmt.Sprintf("%s of %q", path, bad), rec.Body.String(), root}
			d.check()
		}
	}
}

// TestLongTitle: a title of a megabyte, which another program wrote, is not repeated in the
// page. Except in a full run it has 190 kB.
func TestLongTitle(t *testing.T) {
	s := tell(t)
	for _, id := range []string{lisbon, s.branch} {
		name := filepath.Join(s.Dir(), "conversations", id+".json")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if data, err = sjson.SetBytes(data, "metadata.title", strings.Repeat("ä very long title ", testsize.Of(10_000, 10_000, 60_000))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/", "/c/" + lisbon, "/c/" + s.branch, "/k/" + s.checkpoint, "/tree/" + lisbon, "/search?q=cascais", "/log", "/compare?a=" + lisbon, "/compare?a=" + lisbon + "&b=" + s.branch,
		"/merge?branch=" + s.branch + "&into=" + lisbon, "/replay?ref=" + s.branch, "/suggest",
	} {
		if d := draw(t, s.Workspace, path); len(d.text) > 100_000 {
			t.Errorf("%s has %d bytes", path, len(d.text))
		}
	}
}

// BenchmarkFirst measures the first page of a workspace with 1,000 conversations, one of
// them with 10,000 messages, by a program that has just started.
func BenchmarkFirst(b *testing.B) {
	w, id := long(b, 10_000)
	dir := b.TempDir()
	for i := range 1000 {
		text := fmt.Sprintf(`{"messages":[{"role":"user","content":"Question %d"},{"role":"assistant","content":"Answer %d"}]}`, i, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	must(w.Import(b.Context(), []string{dir}, imports.Options{}))(b)
	must(w.Rewind(b.Context(), id, checkpoint.CutOptions{}))(b)
	for b.Loop() {
		answer(b, must(workspace.Open(b.Context(), w.Dir(), nil))(b), "/", http.StatusOK, nil)
	}
}

// BenchmarkLong measures the page of a conversation of 10,000 messages.
func BenchmarkLong(b *testing.B) {
	w, id := long(b, 10_000)
	for b.Loop() {
		answer(b, w, "/c/"+id, http.StatusOK, nil)
	}
}
