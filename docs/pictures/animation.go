//go:build pictures

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// animation makes the frames of a story: import, tree, checkpoint, branch, compare, restore
// and undo.
func animation(b *browser, out string) (err error) {
	s, err := newSite(b.ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	f := &film{b: b, dir: filepath.Join(out, "frames"), x: 640, y: 420}
	if err := os.RemoveAll(f.dir); err != nil {
		return err
	}
	if err := b.look(1000, 625, "light"); err != nil {
		return err
	}
	if err := b.visit(s.login("/")); err != nil {
		return err
	}
	const row = `#tree [role="treeitem"] a`
	pass := func() { s.clock.move(time.Minute) }

	f.hold(500 * time.Millisecond)
	f.click(`form[action="/do/import"] button`)
	f.says("Imported 3 conversations")
	f.hold(500 * time.Millisecond)

	pass()
	f.click(`[data-act="tree"]`)
	f.wait(`location.pathname.startsWith("/tree/")`)
	f.hold(800 * time.Millisecond)
	f.click(named(f, `.picture a`, "The last check races"))
	f.wait(`location.pathname.startsWith("/c/") && document.activeElement.matches("article")`)
	f.hold(300 * time.Millisecond)

	pass()
	f.press('c')
	f.wait(`document.activeElement.name === "name"`)
	f.write("Before the clock")
	f.says("Saved checkpoint")
	f.hold(400 * time.Millisecond)

	pass()
	f.press('b')
	f.says("Created branch")
	f.hold(400 * time.Millisecond)
	f.press('i')
	f.write("Could synctest do it?")
	f.wait(`document.getElementById("feed").innerText.includes("synctest")`)
	f.hold(500 * time.Millisecond)

	pass()
	f.click(`[data-act="compare"].button`)
	f.wait(`location.pathname === "/compare"`)
	f.click(named(f, `#main a`, "The flaky login test"))
	f.wait(`document.querySelector(".columns")`)
	f.hold(900 * time.Millisecond)

	pass()
	f.click(named(f, row, "Before the clock"))
	f.wait(`location.pathname.startsWith("/k/")`)
	f.click(`form[data-act="restore"] button`)
	f.says("Restored")
	f.hold(600 * time.Millisecond)
	f.press('u')
	f.says("Undid")
	f.hold(1200 * time.Millisecond)
	return f.save()
}

// named gives the first element of a selector that contains a text an id, and returns the
// selector of that.
func named(f *film, selector, text string) string {
	find := fmt.Sprintf(`[...document.querySelectorAll(%s)].find((e) => e.textContent.includes(%s))`, quote(selector), quote(text))
	f.wait(find)
	if f.err == nil {
		_, f.err = eval[bool](f.b, fmt.Sprintf(`(() => { for (const e of document.querySelectorAll("[data-film]")) delete e.dataset.film; %s.dataset.film = ""; return true })()`, find))
	}
	return "[data-film]"
}
