package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A folder is a directory that has states in a site.
type folder struct {
	s   *site
	dir string
}

func (s *site) folder() *folder {
	s.t.Helper()
	dir, err := filepath.EvalSymlinks(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}
	return &folder{s, dir}
}

// write writes a file.
func (f *folder) write(name, text string) {
	f.s.t.Helper()
	name = filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		f.s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		f.s.t.Fatal(err)
	}
}

// has fails the test unless a file has a text.
func (f *folder) has(name, text string) {
	f.s.t.Helper()
	if data, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(data) != text {
		f.s.t.Errorf("%s is %q, %v, want %q", name, data, err, text)
	}
}

// snap takes a state for a message, and returns its id.
func (f *folder) snap(ref string) string {
	f.s.t.Helper()
	return f.s.bough("files", "snap", ref, "--dir", f.dir).Get("id").Str
}

// baked writes a project whose files change with the messages of a trip, and returns the ids of
// two states of it.
func (f *folder) baked(messages []string) (first, second string) {
	f.s.t.Helper()
	f.write("src/plan.go", "package plan\n\nfunc Days() int { return 7 }\n")
	f.write("notes.txt", "Lisbon\nby train\n")
	f.write(".env", "KEY=1\n")
	hostile := "owned.html"
	if runtime.GOOS != "windows" { // which has no such names
		hostile = `"><script>document.title='owned'<script>.html`
	}
	f.write(hostile, "<script>document.title='owned'</script>\n")
	first = f.snap(messages[0])
	f.write("notes.txt", "Lisbon\nby plane\n")
	f.write("long.txt", strings.Repeat("a line\n", 400))
	f.write("data.bin", "\x00\x01")
	second = f.snap(messages[1])
	f.write("notes.txt", "Lisbon\nby plane\nin May\n")
	return first, second
}

// files looks at what a state has and at what changed.
func (c *chromium) files(t *testing.T) {
	s := c.newSite(t)
	session, m := trip(s)
	f := s.folder()
	first, second := f.baked(m)
	s.serve()
	b := c.tab(t)
	b.enter(s)
	b.visit("/c/" + session)
	if n := b.eval(`document.querySelectorAll("#feed .files").length`).Int(); n != 2 {
		t.Fatalf("%d messages have a mark", n)
	}
	b.click(fmt.Sprintf(`[data-message="%s"] .files`, m[0]))
	b.at("/files/" + first)
	b.wait(`document.querySelector(".left-out").innerText.includes(".env")`)
	b.click(`.entries a[href$="/src"]`)
	b.at("/files/" + first + "/src")
	b.click(`.entries a[href$="/plan.go"]`)
	b.at("/files/" + first + "/src/plan.go")
	b.wait(`document.querySelector("pre.whole").innerText.startsWith("package plan")`)
	b.wait(`CSS.highlights.get("code-keyword")?.size > 0`)
	b.visit("/files/" + first)
	b.click(`.entries a[href*="owned"]`)
	b.wait(`document.querySelector("pre.whole")?.innerText.includes("</script>")`)

	b.visit("/files/diff?from=" + first + "&to=" + second)
	b.wait(`document.querySelectorAll("section.change").length === 3`)
	colors := func() string {
		return b.eval(`["ins", "del"].map((e) => getComputedStyle(document.querySelector("pre.diff " + e)).backgroundColor).join()`).Str
	}
	seen := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		b.on(screen{scheme, 360})
		added, deleted, _ := strings.Cut(colors(), ",r")
		if seen[added] || "r"+deleted == added || strings.Contains(added+deleted, "0, 0, 0, 0") {
			t.Errorf("%s: added lines are %s, deleted ones r%s", scheme, added, deleted)
		}
		seen[added] = true
		if wide := b.eval(`document.documentElement.scrollWidth - innerWidth`).Int(); wide > 0 {
			t.Errorf("%s: the page is %d pixels too wide", scheme, wide)
		}
	}
	b.on(screen{"light", 1280})
	b.click(`.note a[href*="path=long.txt"]`)
	b.wait(`location.search.includes("path=long.txt") && document.querySelector("pre.diff")?.textContent.trim().split("\n").length === 401`)
	if raw := b.eval(fmt.Sprintf(`fetch("/files/raw/%s/data.bin").then((r) => r.headers.get("content-security-policy") + "|" + r.headers.get("content-disposition"))`, second)).Str; raw != "default-src 'none'; sandbox|attachment; filename=data.bin" {
		t.Errorf("a file is sent as %s", raw)
	}

	t.Log("who wrote a file, and what changed it")
	b.visit("/files/" + second + "/notes.txt")
	b.click(`.actions a[href^="/files/blame"]`)
	b.at("/files/blame")
	b.wait(`[...document.querySelectorAll(".lines code")].map((e) => e.innerText).join() === "Lisbon,by plane"`)
	b.click(`.actions a[href^="/files/log"]`)
	b.at("/files/log")
	b.click(`#main .list a[href^="/files/diff"]`)
	b.at("/files/diff")
	b.wait(`document.querySelector("pre.diff").innerText.includes("by plane")`)

	t.Log("restore, and undo it")
	plane, train := "Lisbon\nby plane\nin May\n", "Lisbon\nby train\n"
	b.visit("/c/" + session)
	b.eval(fmt.Sprintf(`document.querySelector('[data-message="%s"] details.more').open = true`, m[0]))
	b.click(fmt.Sprintf(`[data-message="%s"] [data-act="restore-files"]`, m[0]))
	b.at("/files/restore")
	b.wait(`document.querySelector(".planned").innerText.includes("notes.txt changed since")`)
	b.eval(`document.querySelector('select[name="way"]').value = "take"`)
	b.click(`form[action="/files/restore"].between button`)
	b.wait(`location.search.includes("way=take") && document.querySelector('[data-act="restore-files"] .primary') && ` + live)
	b.click(`[data-act="restore-files"] .primary`)
	b.at("/files/diff")
	b.said("Restored files of")
	f.has("notes.txt", train)
	b.click(`#status button`)
	b.said("Undid")
	f.has("notes.txt", plane)

	t.Log("restore only some paths, and see what was kept")
	b.visit("/files/restore?ref=" + m[0])
	b.eval(`document.querySelector('select[name="way"]').value = "keep"`)
	b.eval(`document.querySelector('textarea[name="only"]').value = "notes.txt\nlong.txt"`)
	b.click(`form[action="/files/restore"].between button`)
	b.wait(`location.search.includes("way=keep") && document.querySelector('[data-act="restore-files"] .primary') && ` + live)
	b.wait(`document.querySelector("p.summary").innerText.includes("1 file would change")`)
	b.click(`[data-act="restore-files"] .primary`)
	b.at("/files/diff")
	b.wait(`document.querySelector(".kept").innerText.includes("notes.txt others changed it too")`)
	f.has("notes.txt", plane)
	f.has("data.bin", "\x00\x01")
	b.click(`#status button`)
	b.said("Undid")
	f.has("long.txt", strings.Repeat("a line\n", 400))

	t.Log("the turn that made it go wrong, by hand")
	for i, text := range []string{"by train\n", "by car\n", "by car, slowly\n"} {
		f.write("notes.txt", text)
		f.snap(m[i+1])
	}
	b.visit("/c/" + session)
	b.eval(`document.querySelector('.menu a[data-act="bisect"]').closest("details").open = true`)
	b.click(`.menu a[data-act="bisect"]`)
	b.at("/files/bisect")
	b.on(screen{"dark", 320})
	if wide := b.eval(`document.documentElement.scrollWidth - innerWidth`).Int(); wide > 0 {
		t.Errorf("the bisection is %d pixels too wide", wide)
	}
	b.on(screen{"light", 1280})
	b.wait(`document.querySelector("#main .facts").innerText.includes("4 steps on a path of 4 messages, about 2 tests left")`)
	b.click(`#main [data-act="good"]`)
	b.wait(`location.search.includes("good=") && ` + live)
	b.click(`#main [data-act="bad"]`)
	b.wait(`document.querySelector("#found")?.innerText === "This made it go wrong" && ` + live)
	b.click(`#main .outcome a[href^="/files/diff"]`)
	b.wait(`document.querySelector("pre.diff")?.innerText.includes("by car")`)
	b.clean()
	if title := b.eval("document.title").Str; title == "owned" {
		t.Error("a script of a file ran")
	}
}
