package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// writeConversation writes a conversation for an import.
func writeConversation(t testing.TB, dir, name string, messages int) {
	t.Helper()
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var list []message
	for i := range messages {
		list = append(list, message{[]string{"user", "assistant"}[i%2], fmt.Sprintf("%s %d: %s\n\n- one\n- two\n\n```go\nfunc f%d() int { return %d } // code\n```\n",
			name, i, strings.Repeat("Some words of a conversation. ", 20), i, i)})
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// importOne imports a conversation, and returns its session.
func (s *site) importOne(name string, messages int) string {
	s.t.Helper()
	dir := s.t.TempDir()
	writeConversation(s.t, dir, name, messages)
	s.bough("import", dir)
	return s.bough("ls", "--limit", "1").Get("sessions.0.id").Str
}

// memory describes the memory of the largest renderer, where the system reports it.
func (b *tab) memory() (text string) {
	b.t.Helper()
	r, err := chromedp.CallBrowser(b.ctx, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	most := 0
	for _, p := range r.ProcessInfo {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.ID))
		if err != nil || p.Type != "renderer" {
			continue
		}
		anonymous := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(status)
		if anonymous == nil {
			continue
		}
		if kB, _ := strconv.Atoi(string(anonymous[1])); kB > most {
			most = kB
			text = fmt.Sprintf("%d MB of its own", kB>>10)
			if all := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status); all != nil {
				kB, _ := strconv.Atoi(string(all[1]))
				text += fmt.Sprintf(", %d MB with what it shares", kB>>10)
			}
		}
	}
	return text
}

// large: of a conversation of 10,000 messages among 1,000 sessions, the page loads
// the last 50, others as they come near the view, and all of them if the user wants so. It
// reports times and memory.
func (c *chromium) large(t *testing.T) {
	sessions, messages := testsize.Of(20, 100, 1000), testsize.Of(500, 1000, 10_000)
	s := c.newSite(t)
	dir := t.TempDir()
	for i := range sessions - 1 {
		writeConversation(t, dir, fmt.Sprint("small", i), 2)
	}
	s.bough("import", dir)
	session := s.importOne("large", messages)
	s.serve()
	b := c.tab(t)
	b.enter(s, session)

	var first, answered []time.Duration
	for range testsize.Of(1, 3, 9) {
		call(b, network.ClearBrowserCache, cdp.Empty{})
		b.visit("/c/" + session)
		times := b.eval(`(() => {
			const page = performance.getEntriesByType("navigation")[0];
			return {paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? page.domContentLoadedEventEnd, answer: page.responseEnd - page.requestStart};
		})()`)
		first = append(first, time.Duration(times.Get("paint").Float()*float64(time.Millisecond)))
		answered = append(answered, time.Duration(times.Get("answer").Float()*float64(time.Millisecond)))
	}
	slices.Sort(first)
	slices.Sort(answered)
	t.Logf("first view of %d messages among %d sessions: %v, of which the server takes %v", messages, sessions, first, answered)

	articles := func() int64 { return b.eval(`document.querySelectorAll("#feed article").length`).Int() }
	if n := articles(); n < 50 || n > 150 {
		t.Errorf("%d messages are loaded at first", n)
	}
	if n := b.eval(`document.querySelectorAll("#feed .chunk").length`).Int(); n != int64(messages/50) {
		t.Errorf("%d chunks", n)
	}
	nodes := b.eval(`document.getElementsByTagName("*").length`).Int()
	if most := int64(20*sessions + 15_000); nodes > most {
		t.Errorf("%d elements, more than %d", nodes, most)
	}
	if n := b.streams(); n != 1 {
		t.Errorf("%d connections for events", n)
	}

	b.eval(`window.heights = []; document.addEventListener("bough:added", (e) => heights.push([e.detail, e.detail.getBoundingClientRect().height])); 0`)
	steps := testsize.Of(60, 60, 240)
	frames := b.eval(fmt.Sprintf(`(async (n) => {
		const times = [];
		let last = await new Promise(requestAnimationFrame);
		for (let i = 0; i < n; i++) {
			window.scrollBy(0, -28_800 / n);
			const now = await new Promise(requestAnimationFrame);
			times.push(now - last);
			last = now;
		}
		times.sort((a, b) => a - b);
		return {median: times[n / 2], p95: times[Math.floor(0.95 * n)], mean: times.reduce((a, b) => a + b) / n};
	})(%d)`, steps))
	t.Logf("%d steps of scrolling: %s ms a frame", steps, frames.Raw)
	loaded := articles()
	if loaded < 100 || loaded > 1000 {
		t.Errorf("%d messages are loaded after scrolling", loaded)
	}

	t.Log("what is in view stays where it is while chunks above it are loaded")
	b.eval(`document.querySelector("#feed .chunk:not(.unloaded) article").scrollIntoView()`)
	b.eval(`window.seen = [...document.querySelectorAll("#feed article")].find((e) => e.getBoundingClientRect().bottom > 0); window.top0 = seen.getBoundingClientRect().top`)
	b.wait(`!document.querySelector(".chunk.unloaded:has(+ .chunk:not(.unloaded))") || document.querySelectorAll("#feed article").length > ` + fmt.Sprint(loaded))
	if drift := b.eval(`seen.getBoundingClientRect().top - top0`).Float(); drift > 1 || drift < -1 {
		t.Errorf("the view drifts by %v pixels", drift)
	}

	if n := b.eval(`heights.length`).Int(); n == 0 {
		t.Error("no chunk was loaded")
	}
	if off := b.eval(`Math.max(0, ...heights.map(([chunk, was]) => Math.abs(chunk.getBoundingClientRect().height - was)))`).Float(); off > 1 {
		t.Errorf("a chunk has another height than when it was added, by %v pixels", off)
	}

	t.Logf("memory of the page: %s", b.memory())

	t.Log("all messages of the conversation")
	b.visit("/c/" + session)
	b.key("f", chromedp.ModifierCtrl)
	b.said("not loaded")
	b.click("#status button")
	begun := time.Now()
	b.said("All messages are loaded")
	b.eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => true)`)
	t.Logf("%d messages are loaded and drawn in %v", messages, time.Since(begun))
	if n := articles(); n != int64(messages) {
		t.Errorf("%d messages of %d are loaded", n, messages)
	}
	if n := b.eval(`document.querySelectorAll("#feed details.more").length`).Int(); n > 100 {
		t.Errorf("%d menus are in the page, though one is used at a time", n)
	}
	oldest := b.eval(`document.querySelector('#feed article[data-at="0"]').dataset.message`).Str
	b.focus(oldest)
	b.key("m")
	b.wait(fmt.Sprintf(`document.activeElement.name === "label" && document.activeElement.closest("article").id === "m-%s"`, oldest))
	b.click(`#feed article[data-at="9"] button.more`) // below the open menu
	b.wait(`document.querySelector('#feed article[data-at="9"] details.more').open`)
	b.clean()
}
