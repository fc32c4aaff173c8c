package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/chromedp/chromedp/kb"
)

// moreKeys presses the keys that the other tests do not: those that fold, go to forks, copy,
// redo and search, those of the tree and its filters, and all of them when they are off.
func (c *chromium) moreKeys(t *testing.T) {
	s := c.newSite(t)
	session, m := trip(s)
	s.say("assistant", "To Oslo.", workspace.Append{Session: session, Parent: m[0]})
	s.say("assistant", "Some 700 euros.", workspace.Append{Session: session, Parent: m[2]})
	s.bough("bookmark", session+"@"+m[1], "south")
	s.new("Apples")
	file := filepath.Join(t.TempDir(), "tools.json")
	const called = `[{"role": "user", "content": "Look."},
{"role": "assistant", "content": null, "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.txt\"}"}}]},
{"role": "tool", "tool_call_id": "t1", "content": "What the file has."}]`
	if err := os.WriteFile(file, []byte(called), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := s.bough("import", file).Get("imported.0.session_id").Str
	s.serve()
	b := c.tab(t)
	b.enter(s)

	t.Log("l unfolds the parts of a message, and h folds them")
	b.visit("/c/" + tools)
	const parts = `[...document.querySelectorAll('#feed article[data-at="1"] details:not(.more)')]`
	b.wait(parts + `.length > 0`)
	b.eval(`document.querySelector('#feed article[data-at="1"]').focus()`)
	b.key("l")
	b.wait(parts + `.every((e) => e.open)`)
	b.key("h")
	b.wait(parts + `.every((e) => !e.open)`)

	t.Log("{ and } go to the forks of the path, and say when there are no more")
	b.visit("/c/" + session + "?leaf=" + m[3])
	b.focus(m[3])
	at := func(message string) {
		t.Helper()
		b.wait(fmt.Sprintf(`document.activeElement.id === "m-%s"`, message))
	}
	b.key("{")
	at(m[1])
	b.key("{")
	b.said("There is no other fork")
	at(m[1])
	b.key("}")
	at(m[3])

	t.Log("y copies the text of a message")
	b.eval(`navigator.clipboard.writeText = async (text) => { window.copied = text; }; 0`) // a tab without a window has no clipboard
	b.focus(m[3])
	b.key("y")
	b.said("Copied the text of the message")
	if text := b.eval(`window.copied`).Str; text != "About 900 euros." {
		t.Errorf("%q is copied", text)
	}

	t.Log("U redoes what u undid")
	sessions := func() int64 { return s.bough("ls").Get("sessions.#").Int() }
	before := sessions()
	b.focus(m[3])
	b.key("b")
	b.at("/c/")
	b.said("Created branch")
	b.wait(live)
	b.key("u")
	b.said("Undid")
	b.wait(live)
	if n := sessions(); n != before {
		t.Errorf("%d sessions after u, want %d", n, before)
	}
	b.key("U")
	b.said("Redid")
	b.wait(live)
	if n := sessions(); n != before+1 {
		t.Errorf("%d sessions after U, want %d", n, before+1)
	}
	b.key("u")
	b.said("Undid")

	t.Log("/ goes to the search")
	b.visit("/c/" + session)
	b.key("/")
	b.wait(`document.activeElement.name === "q"`)
	b.key("Lisbon")
	b.key(kb.Enter)
	b.at("/search")
	b.wait(`document.querySelector(".hits").innerText.includes("To Lisbon.")`)

	t.Log("* unfolds all rows of a level")
	b.visit("/c/" + s.bough("ls").Get(`sessions.#(title=="Apples").id`).Str)
	b.key("t")
	b.key(kb.End)
	const folded = `document.querySelectorAll('[role="treeitem"][aria-level="1"][aria-expanded="false"]').length`
	if b.eval(folded).Int() < 2 {
		t.Errorf("%d rows are folded before *", b.eval(folded).Int())
	}
	b.key("*")
	b.wait(folded + ` === 0`)

	t.Log("the menu of the filter chooses the rows")
	rows := func(kinds string) {
		t.Helper()
		b.wait(fmt.Sprintf(`[...new Set([...document.querySelectorAll('#tree [role="treeitem"]')].map((e) => e.dataset.kind))].sort().join() === %q`, kinds))
	}
	b.eval(`document.querySelector('#tree select[name="filter"]').focus()`)
	b.key("Book")
	rows("bookmark,session")
	if n := b.eval(`document.querySelectorAll('#tree [data-kind="bookmark"]').length`).Int(); n != 1 {
		t.Errorf("%d bookmarks", n)
	}
	b.key(kb.ArrowDown)
	b.wait(`document.querySelector('#tree [data-kind="fork"]') && !document.querySelector('#tree [data-kind="bookmark"]')`)
	b.visit("/c/" + session)

	t.Log("a tree on its own stays so, and leads back")
	all := b.eval(`document.querySelectorAll('#tree [aria-level="1"]').length`).Int()
	b.click(`#tree a[href*="root="]`)
	b.wait(`location.search.includes("root=") && ` + live)
	b.wait(`document.querySelectorAll('#tree [aria-level="1"]').length === 1`)
	s.say("user", "Still there", workspace.Append{Session: session})
	b.wait(`document.querySelector("#feed").innerText.includes("Still there")`)
	b.wait(`document.querySelectorAll('#tree [aria-level="1"]').length === 1`)
	b.eval(`[...document.querySelectorAll("#tree .filters a")].find((a) => a.textContent === "All conversations").click()`)
	b.wait(fmt.Sprintf(`!location.search.includes("root=") && %s && document.querySelectorAll('#tree [aria-level="1"]').length === %d`, live, all))

	t.Log("when they are off, no single character does anything")
	b.eval(`document.getElementById("keys").click(); document.getElementById("single-keys").click(); document.getElementById("help").close()`)
	b.focus(m[0])
	changes := s.bough("log").Get("operations.0.seq").Int()
	where := b.eval(`location.href`).Str
	for _, key := range strings.Split("j k h l [ ] { } b c m r = u U / f t y D i q ?", " ") {
		b.key(key)
	}
	b.eval(`new Promise((done) => setTimeout(done, 300)).then(() => true)`) // a form that was sent has arrived
	at(m[0])
	if now := b.eval(`location.href`).Str; now != where {
		t.Errorf("the page goes from %s to %s", where, now)
	}
	if n := s.bough("log").Get("operations.0.seq").Int(); n != changes {
		t.Errorf("operation %d follows %d", n, changes)
	}
	b.clean()
}
