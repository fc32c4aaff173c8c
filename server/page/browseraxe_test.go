package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axeVariable names the file axe.min.js of npm's axe-core.
const axeVariable = "BOUGH_AXE"

// A screen is a color scheme and a width.
type screen struct {
	scheme string
	width  int64
}

// on shows the page on a screen.
func (b *tab) on(s screen) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}})
	b.run(chromedp.EmulateViewport(s.width, 800))
}

// readAxe returns the script axe.min.js. It skips the test if there is none.
func readAxe(t *testing.T) string {
	t.Helper()
	file := os.Getenv(axeVariable)
	if file == "" {
		t.Skip(axeVariable + " does not name axe.min.js: npm install axe-core")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(axe)
}

// runAxe is an expression for what axe-core finds.
const runAxe = `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.nodes
	.map((n) => v.id + ": " + n.target + " " + n.failureSummary).join("\n")).join("\n"))`

// axe: axe-core finds nothing on any view, light and dark, wide and narrow.
func (c *chromium) axe(t *testing.T) {
	axe := readAxe(t)
	s := c.newSite(t)
	session, m := trip(s)
	s.say("assistant", "To **Oslo**.\n\n```go\nfunc main() { return 1 } // a comment\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted", workspace.Append{Session: session, Parent: m[0]})
	s.bough("bookmark", session+"@"+m[0], "start")
	s.bough("checkpoint", session, "--name", "Prices")
	s.bough("branch", session, "--name", "Cheaper")
	removed := s.new("Gone")
	s.bough("rm", removed)
	s.bough("agent", "create", "ada")
	exploration := s.explore(session)
	s.bough("remote", "add", "nas", "file://"+filepath.ToSlash(t.TempDir()), "--machine", "here", "--key", filepath.Join(t.TempDir(), "key"))
	s.bough("push")
	first, second := s.folder().baked(m)
	checkpoint := s.bough("ls", "--kind", "checkpoint").Get("sessions.0.id").Str
	empty := c.newSite(t)
	s.serve()
	empty.serve()
	b := c.tab(t)
	b.enter(s)
	load := func() {
		t.Helper()
		b.run(chromedp.Evaluate[chromedp.Void](axe))
	}
	check := func(what string) {
		t.Helper()
		if found := b.eval(runAxe).Str; found != "" {
			t.Errorf("%s: %s", what, found)
		}
	}
	paths := []string{
		"/", "/c/" + session, "/k/" + checkpoint, "/compare?a=" + session + "@" + m[3] + "&b=" + checkpoint, "/compare?a=" + session, "/tree/" + session,
		"/agents", "/agents/ada", "/explore", "/explore/" + exploration, "/search?q=Lisbon", "/log", "/trash", "/logout", "/nothing",
		"/explore?ref=" + session + "@" + m[3],
		"/compare?a=" + session + "@" + m[3] + "&b=" + checkpoint + "&c=" + session, "/merge?branch=" + session + "@" + m[3] + "&into=" + checkpoint, "/merge?branch=" + session + "&into=Cheaper&by=summary&files=true",
		"/remotes", "/replay?ref=" + session + "&from=" + m[0] + "&edit=" + m[0], "/suggest", "/files/blame?path=src/plan.go&at=" + second, "/files/log?path=notes.txt", "/files/bisect?ref=" + session,
		"/files", "/files?session=" + session, "/files/" + first, "/files/" + second + "/src/plan.go", "/files/diff?from=" + first + "&to=" + second, "/files/restore?ref=" + m[0], "/files/restore?ref=" + m[0] + "&way=take&what=both",
	}
	screens := []screen{{"light", 1280}, {"dark", 360}, {"light", 360}, {"dark", 1280}}
	for _, path := range paths {
		b.visit(path)
		load()
		for _, on := range testsize.Of(screens[:2], screens[:2], screens) {
			b.on(on)
			check(fmt.Sprint(path, on))
		}
	}
	b.on(screens[0])
	b.visit("/c/" + session)
	b.eval(`document.querySelectorAll("details").forEach((e) => { e.open = true; })`)
	load()
	check("open menus")
	b.key("?")
	b.wait(`document.getElementById("help").open`)
	check("help")
	other := c.tab(t)
	other.enter(empty)
	b = other
	load()
	check("an empty workspace")
}
