package page_test

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// manual: the manual that 'bough help --web' serves, which has the style sheet of the page, loads in
// a browser without an error of its policy, finds sections by its form, and axe-core finds nothing.
func (c *chromium) manual(t *testing.T) {
	axe := readAxe(t)
	cmd := exec.CommandContext(t.Context(), c.bough, "help", "branch", "--web", "--print")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	base, found := strings.CutSuffix(address, "/help/bough-branch\n")
	if err != nil || !found {
		t.Fatalf("the address is %q, %v", address, err)
	}
	b := c.tab(t)
	for _, path := range []string{"/help/bough-branch", "/help/bough", "/", "/docs/json.md", "/docs/page.md", "/docs/api", "/search?q=packed", "/nothing"} {
		b.run(chromedp.Navigate(base+path), chromedp.Evaluate[chromedp.Void](axe))
		for _, on := range []screen{{"light", 1280}, {"dark", 360}} {
			b.on(on)
			if problems := b.eval(runAxe).Str; problems != "" {
				t.Errorf("%s: %s", fmt.Sprint(path, on), problems)
			}
			if wide := b.eval(`document.documentElement.scrollWidth > innerWidth`).Bool(); wide {
				t.Errorf("%s is wider than the window", fmt.Sprint(path, on))
			}
		}
	}
	b.run(chromedp.Navigate(base + "/"))
	b.eval(`document.querySelector("input[name=q]").focus()`)
	b.key("sardines\r")
	b.wait(`location.search === "?q=sardines" && document.querySelector(".results mark")`)
	b.eval(`document.querySelector(".results a").click()`)
	b.wait(`location.pathname !== "/search"`)
}
