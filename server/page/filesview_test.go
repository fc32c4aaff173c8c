package page

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/tidwall/gjson"
	"golang.org/x/net/html"
)

// A project is a folder of a conversation.
type project struct {
	t   *testing.T
	w   *workspace.Workspace
	dir string
}

// newProject returns an empty folder, and a workspace with the conversation Bread.
func newProject(t *testing.T) *project {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &project{t, w, dir}
}

// write writes a file, or removes it if the text is "-".
func (p *project) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if text == "-" {
		err = os.Remove(name)
	} else if err == nil {
		err = os.WriteFile(name, []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// say adds a message of the user to Bread and takes a state for it. It returns both ids.
func (p *project) say(text string) (message, state string) {
	p.t.Helper()
	return p.sayAs("user", text)
}

func (p *project) sayAs(role, text string) (message, state string) {
	p.t.Helper()
	m, err := p.w.Append(p.t.Context(), workspace.Append{Session: "Bread", Role: role, Text: text})
	if err != nil {
		p.t.Fatal(err)
	}
	return m.Message, p.snap(m.Message)
}

func (p *project) snap(ref string) string {
	p.t.Helper()
	st, err := p.w.Folder(p.dir).Snap(p.t.Context(), ref, files.SnapOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return st.ID
}

func (d *drawn) hrefs() (list []string) {
	for _, n := range d.find(func(n *html.Node) bool { return n.Data == "a" }) {
		list = append(list, attr(n, "href"))
	}
	return list
}

// leads fails the test unless the page has a link.
func (d *drawn) leads(to string) {
	d.t.Helper()
	for _, href := range d.hrefs() {
		if href == to {
			return
		}
	}
	d.t.Errorf("%s has no link to %s", d.path, to)
}

// TestStates: a message with a state leads to it, and the conversation to all its states, also
// those that a branch has from the messages that it copied.
func TestStates(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	if d := draw(t, p.w, "/"); len(d.class("files")) > 0 {
		t.Error("there are marks without states")
	}
	draw(t, p.w, "/files").contains("There are no states")
	p.write("flour", "rye\n")
	message, first := p.say("How wet is too wet?")
	p.write("flour", "wheat\n")
	_, second := p.say("With rye?")
	branch, err := p.w.Branch(t.Context(), message, workspace.SnapshotOptions{Name: "Rolls"})
	if err != nil {
		t.Fatal(err)
	}
	loose := p.snap("")
	d := draw(t, p.w, "/c/"+url.PathEscape("Bread"))
	if marks := d.class("files"); len(marks) != 2 || attr(marks[0], "href") != "/files/"+first || attr(marks[1], "href") != "/files/"+second {
		t.Errorf("the marks lead to %q", d.hrefs())
	}
	all := draw(t, p.w, "/files")
	for _, id := range []string{first, second, loose} {
		all.leads("/files/" + id)
		all.leads("/files/diff?to=" + id)
	}
	own := draw(t, p.w, "/files?session="+branch.ID)
	own.contains("How wet is too wet?")
	own.leads("/files/" + first)
	for _, href := range own.hrefs() {
		if href == "/files/"+second {
			t.Error("the branch has a state of the original")
		}
	}
	// A message may name its state itself; then the state is listed with that message.
	folders, err := os.ReadFile(filepath.Join(p.w.Dir(), "states", "folders.json"))
	if err != nil {
		t.Fatal(err)
	}
	odd := fmt.Sprintf(`{"created_at":"2026-05-25T15:00:00","metadata":{"title":"Odd"},"messages":[{"id":"m1","role":"assistant","content":"Own state","metadata":{"bough":{"files":{"folder":%q,"state":%q}}}}]}`,
		gjson.GetBytes(folders, "folders.0.id").Str, second)
	if err := os.WriteFile(filepath.Join(p.w.Dir(), "conversations", "odd.json"), []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	if marks := draw(t, p.w, "/c/odd").class("files"); len(marks) != 1 || attr(marks[0], "href") != "/files/"+second {
		t.Errorf("a message that names its state has %d marks", len(marks))
	}
	named := draw(t, p.w, "/files?session=odd")
	named.contains("Own state")
	named.leads("/c/odd?at=m1#m-m1")
	if n := len(draw(t, p.w, "/c/"+branch.ID).class("files")); n != 1 { // the newest of its message
		t.Errorf("the branch has %d marks", n)
	}
}

// TestStateView: what a state has is shown as text, whatever it is, and its bytes are sent so
// that a browser does nothing with them.
func TestStateView(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	const hostile = "<script>alert(1)</script>\n"
	names := []string{"100% of.md", "#1 &amp;.go", "ä/ö ü.txt", "a;b=c.txt", "x.html"}
	if runtime.GOOS != "windows" { // which has no such names
		names = append(names, "<b>x.html", "what?.md", `back\slash.txt`)
	}
	for _, name := range names {
		p.write(name, hostile)
	}
	p.write("image.png", "\x89PNG\r\n\x1a\n")
	p.write("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
	p.write("latin", "na\xdf\x00")
	p.write("empty", "")
	p.write("evil\u202egnp.exe", "MZ")
	p.write("turned.go", "if admin \u202e{ // x\n")
	p.write("long.txt", strings.Repeat("0123456789\n", 60_000))
	p.write(".env", "SECRET=1")
	for i := range maxEntries + 3 {
		p.write(fmt.Sprintf("many/%04d", i), "")
	}
	if err := os.Mkdir(filepath.Join(p.dir, "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" { // others have only names in UTF-8
		names = append(names, "\xff\xfe.txt")
		p.write("\xff\xfe.txt", hostile)
	}
	_, id := p.say("Look")
	top := draw(t, p.w, "/files/"+id)
	top.contains("evilU+202Egnp.exe", ".env", "a secret, by its name")
	for _, name := range names {
		dir, _, _ := strings.Cut(name, "/")
		top.leads((&url.URL{Path: "/files/" + id + "/" + dir}).String())
		d := draw(t, p.w, (&url.URL{Path: "/files/" + id + "/" + name}).String())
		d.contains("<script>alert(1)</script>", "1 line")
	}
	draw(t, p.w, "/files/"+id+"/none").contains("The folder is empty.")
	draw(t, p.w, "/files/"+id+"/empty").contains("The file is empty.", "0 bytes")
	draw(t, p.w, "/files/"+id+"/turned.go").contains("if admin U+202E{ // x")
	draw(t, p.w, "/files/"+id+"/latin").contains("A binary file is not shown.", "4 bytes")
	if d := draw(t, p.w, "/files/"+id+"/image.png"); len(d.with("src", "/files/raw/"+id+"/image.png")) != 1 {
		t.Errorf("the image is not shown: %s", d.text)
	}
	if d := draw(t, p.w, "/files/"+id+"/drawing.svg"); len(d.find(func(n *html.Node) bool { return n.Data == "img" })) > 0 {
		t.Error("an SVG file is shown as an image")
	}
	long := draw(t, p.w, "/files/"+id+"/long.txt")
	long.contains("60000 lines", "455.2 kB more")
	long.leads("/files/" + id + "/long.txt?all=1")
	if whole := draw(t, p.w, "/files/"+id+"/long.txt?all=1"); strings.Count(whole.text, "0123456789") != 60_000 {
		t.Error("not all lines are shown")
	}
	draw(t, p.w, "/files/"+id+"/many").leads("/files/" + id + "/many?from=1000")
	draw(t, p.w, "/files/"+id+"/many?from=1000").contains("1002")
	draw(t, p.w, "/files/Bread/empty").contains("The file is empty.")
	for _, path := range []string{"/files/none", "/files/" + id + "/nothing", "/files/raw/" + id + "/nothing"} {
		answer(t, p.w, path, http.StatusNotFound, nil)
	}
	answer(t, p.w, "/files/raw/"+id+"/many", http.StatusConflict, nil)
	answer(t, p.w, "/files/"+id+"/%2e%2e/x", http.StatusBadRequest, nil)
	for name, kind := range map[string]string{"x.html": "application/octet-stream", "drawing.svg": "application/octet-stream", "image.png": "image/png"} {
		h := serve(t, p.w, (&url.URL{Path: "/files/raw/" + id + "/" + name}).String(), nil).Header()
		if h.Get("Content-Type") != kind || h.Get("Content-Security-Policy") != attachmentPolicy || strings.HasPrefix(h.Get("Content-Disposition"), "attachment") != (kind != "image/png") {
			t.Errorf("%s: %v", name, h)
		}
	}
}

// TestDifference: what changed is shown line by line, bounded, with links to the rest.
func TestDifference(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write("flour", "rye\nwater\n")
	p.write("gone", "x\n")
	p.write("data", "\x00\x01")
	message, first := p.say("one")
	for i := range maxChanges + 2 {
		p.write(fmt.Sprintf("many/%03d", i), "<i>\n")
	}
	p.write("flour", "<b>wheat</b>\nwater\n")
	p.write("gone", "-")
	p.write("data", "\x00\x01\x02")
	p.write("numbers", strings.Repeat("a line\n", maxLines+50))
	if _, err := p.w.Append(t.Context(), workspace.Append{Session: "Bread", Text: "without a state"}); err != nil {
		t.Fatal(err)
	}
	_, second := p.say("two")
	between := "/files/diff?from=" + first + "&to=" + second
	d := draw(t, p.w, between)
	d.contains("106 files: 103 added, 2 changed, 1 deleted", "binary, 2 bytes → 3 bytes", "at one")
	if ins := d.find(func(n *html.Node) bool { return n.Data == "ins" }); len(ins) == 0 || words(ins[0]) != "+<b>wheat</b>" {
		t.Errorf("added: %v", ins)
	}
	if del := d.find(func(n *html.Node) bool { return n.Data == "del" }); len(del) == 0 || words(del[0]) != "-rye" {
		t.Errorf("deleted: %v", del)
	}
	more := d.find(func(n *html.Node) bool { return n.Data == "a" && words(n) == "6 more files" })
	if len(more) != 1 {
		t.Fatal("there is no link to more files")
	}
	rest := draw(t, p.w, attr(more[0], "href"))
	rest.contains("numbers", "51 more lines")
	one := draw(t, p.w, between+"&path=numbers")
	one.contains("1 file: 1 added", "+350 −0")
	if text := words(one.root); strings.Contains(text, "more line") || strings.Count(text, "+a line") != maxLines+50 {
		t.Error("one file is not shown whole")
	}
	// A state is compared with the one before it, and the first one with nothing.
	draw(t, p.w, "/files/diff?to="+second).contains("106 files")
	draw(t, p.w, "/files/diff?to="+first).contains("It is the first state of this folder.")
	p.write("salt", "2 %\n")
	p.write("flour", "<b>wheat</b>\r\nwater\n")
	draw(t, p.w, "/files/diff?from="+second).contains("2 files: 1 added, 1 changed", "the files now", "-<b>wheat</b> +<b>wheat</b>␍ water")
	draw(t, p.w, "/files/diff?from=Bread@"+message+"~0&to=now").contains("107 files")
	inexact := draw(t, p.w, "/files/diff?from=Bread~1&to=now")
	inexact.contains("Bread~1 has no state of its own")
	draw(t, p.w, "/compare?a=Bread@"+message+"&b=Bread").leads("/files/diff?from=Bread%40" + message + "&to=Bread")
	other := t.TempDir()
	answer(t, p.w, between+"&dir="+url.QueryEscape(other), http.StatusConflict, nil)
	answer(t, p.w, "/files/diff?from=now&to=now", http.StatusBadRequest, nil)
	draw(t, p.w, between+"&path=.").contains("106 files")
	answer(t, p.w, between+"&path=../x", http.StatusBadRequest, nil)
}
