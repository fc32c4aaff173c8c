package page_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/tidwall/gjson"
)

// These tests open the page of a real server in Chromium, and use it as people do.

// patience is how long a test waits for anything. Reading 10,000 messages took half a minute on a busy machine.
const patience = 2 * time.Minute

// TestBrowser runs the tests of the page in one browser.
func TestBrowser(t *testing.T) {
	c := startBrowser(t)
	type test struct {
		name string
		run  func(*chromium, *testing.T)
	}
	all := []test{
		{"keys", (*chromium).keys}, {"agent", (*chromium).agent}, {"explore", (*chromium).explore}, {"large", (*chromium).large},
		{"access", (*chromium).access}, {"live", (*chromium).live}, {"tabs", (*chromium).tabs}, {"forks", (*chromium).forks},
		{"reset", (*chromium).reset}, {"background", (*chromium).background}, {"more keys", (*chromium).moreKeys},
		{"story", (*chromium).story}, {"modules", (*chromium).modules}, {"tree", (*chromium).tree}, {"axe", (*chromium).axe},
		{"hostile", (*chromium).hostile}, {"restart", (*chromium).restart}, {"files", (*chromium).files}, {"merge", (*chromium).merge}, {"manual", (*chromium).manual},
	}
	for _, test := range testsize.Sample(t, "tests in the browser", all, testsize.Of(1, 1, len(all))) {
		t.Run(test.name, func(t *testing.T) {
			if test.name != "large" { // it reports times, and runs before those in parallel
				t.Parallel()
			}
			test.run(c, t)
		})
	}
}

// A chromium is a browser, and the command.
type chromium struct {
	ctx   context.Context
	bough string
}

// startBrowser builds the command and starts a browser. It skips the test if there is none.
func startBrowser(t *testing.T) *chromium {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("chromium is not installed: the page cannot be tried in a browser")
	}
	dir := t.TempDir()
	c := &chromium{bough: filepath.Join(dir, "bough")}
	// Unlike go build, go run links the command only if it has changed.
	build := exec.Command("go", "run", "-exec", "cp", "github.com/bough-dev/bough/cmd/bough", c.bough)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go run: %v: %s", err, out)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	c.ctx = ctx
	return c
}

// A site is a workspace with a server.
type site struct {
	program string // the command
	t       testing.TB
	dir     string
	w       *workspace.Workspace
	env     []string
	addr    string // HOST:PORT
	cmd     *exec.Cmd
	errs    bytes.Buffer
}

// newSite returns a site of a new workspace, which is not served yet.
func (c *chromium) newSite(t testing.TB, env ...string) *site {
	t.Helper()
	s := &site{program: c.bough, t: t, dir: filepath.Join(t.TempDir(), "w"), addr: "127.0.0.1:0", env: append(os.Environ(), env...)}
	s.env = append(s.env, "HOME="+t.TempDir(), "BROWSER=")
	w, err := workspace.Open(t.Context(), s.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.w = w
	return s
}

// bough runs the command, and returns its JSON.
func (s *site) bough(args ...string) gjson.Result {
	s.t.Helper()
	cmd := exec.Command(s.program, append([]string{"-w", s.dir, "--json"}, args...)...)
	cmd.Env = s.env
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("bough %q: %v: %s", args, err, out)
	}
	return gjson.ParseBytes(out)
}

// serve starts a server. If one ran before, the new one listens at its address.
func (s *site) serve() {
	s.t.Helper()
	s.cmd = exec.Command(s.program, "-w", s.dir, "--json", "serve", "--addr", s.addr)
	s.cmd.Env, s.cmd.Stderr = s.env, &s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.cmd
	s.t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.kill()
		s.t.Fatalf("bough serve: %v: %s", err, &s.errs)
	}
	s.addr = strings.TrimPrefix(gjson.Get(line, "url").Str, "http://")
}

// kill ends the server at once.
func (s *site) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// say appends a message, and returns its id.
func (s *site) say(role, text string, o workspace.Append) string {
	s.t.Helper()
	o.Role, o.Text = role, text
	r, err := s.w.Append(context.Background(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Message
}

// new begins a conversation, and returns the id of its session.
func (s *site) new(title string) string {
	s.t.Helper()
	e, err := s.w.New(context.Background(), title)
	if err != nil {
		s.t.Fatal(err)
	}
	return e.ID
}

// open returns the address of the page with a new code.
func (s *site) open(ref ...string) (own, loopback string) {
	s.t.Helper()
	r := s.bough(append([]string{"open", "--print"}, ref...)...)
	return r.Get("url").Str, r.Get("url_by_ip").Str
}

// A tab is a page in a browser.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string

	mu       sync.Mutex
	requests []string
	problems []string // reports of the policy, exceptions and errors of the console
	document cdp.LoaderID
	live     map[network.RequestID]cdp.LoaderID // connections for events, of which document
	loads    int                                // documents that were requested
}

// tab opens a tab with cookies and storage of its own.
func (c *chromium) tab(t testing.TB) *tab {
	t.Helper()
	return newTab(t, c.ctx, chromedp.WithNewBrowserContext())
}

func newTab(t testing.TB, of context.Context, options ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t, live: map[network.RequestID]cdp.LoaderID{}}
	ctx, cancel := chromedp.NewContext(of, append(options, chromedp.WithListener(b.listen))...)
	t.Cleanup(cancel)
	b.ctx = ctx
	err := chromedp.Do(ctx) // opens the tab, which lives as long as ctx
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, cdplog.Enable, cdp.Empty{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, audits.Enable, cdp.Empty{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// another opens a tab with the cookies of this one.
func (b *tab) another() *tab {
	b.t.Helper()
	next := newTab(b.t, b.ctx)
	next.base = b.base
	return next
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Type == network.ResourceTypeDocument {
			b.document = e.LoaderID
			b.loads++
		}
		b.requests = append(b.requests, e.Request.URL)
		if strings.HasSuffix(e.Request.URL, "/events") {
			b.live[e.RequestID] = e.LoaderID
		}
	case *network.EventLoadingFailed:
		delete(b.live, e.RequestID)
	case *network.EventLoadingFinished:
		delete(b.live, e.RequestID)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, "exception: "+(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *cdplog.EventEntryAdded:
		if e.Entry.Source != cdplog.EntrySourceNetwork { // a server that was killed
			b.problems = append(b.problems, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
		}
	case *audits.EventIssueAdded:
		if e.Issue.Code == audits.InspectorIssueCodeContentSecurityPolicyIssue {
			details := e.Issue.Details.ContentSecurityPolicyIssueDetails
			b.problems = append(b.problems, fmt.Sprintf("policy: %s %s", details.ViolatedDirective, details.BlockedURL))
		}
	}
}

// run does actions, and fails the test if one fails.
func (b *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.state())
	}
}

// state describes the page, for failures.
func (b *tab) state() string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body?.innerText.slice(0, 1500)`))
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%s\nproblems: %q", text, b.problems)
}

// eval returns the value of an expression.
func (b *tab) eval(expression string) gjson.Result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.state())
	}
	return gjson.ParseBytes(out)
}

// call calls a command of the browser's protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// click clicks the middle of an element, which nothing may cover.
func (b *tab) click(selector string) {
	b.t.Helper()
	find := fmt.Sprintf("document.querySelector(%q)", selector)
	b.wait(find)
	at := b.eval(fmt.Sprintf(`(() => {
		const e = %s;
		const box = () => e.getBoundingClientRect();
		if (box().top < 0 || box().bottom > innerHeight) e.scrollIntoView({block: "center"});
		const [x, y] = [box().left + box().width / 2, box().top + box().height / 2];
		const top = document.elementFromPoint(x, y);
		return {x, y, covered: e.contains(top) ? "" : top?.outerHTML.slice(0, 200) ?? "nothing"};
	})()`, find))
	if covered := at.Get("covered").Str; covered != "" {
		b.t.Fatalf("%s is covered by %s", selector, covered)
	}
	b.run(chromedp.MouseClickXY(at.Get("x").Float(), at.Get("y").Float()))
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		switch {
		case ok:
			return
		case ctx.Err() != nil:
			b.t.Fatalf("never true: %s; %v\n%s", expression, err, b.state())
		}
		time.Sleep(10 * time.Millisecond) // between two looks
	}
}

// live is true when the page listens to keys and events.
const live = `(document.body?.dataset.ready !== undefined && document.body.dataset.connection === "online")`

// enter opens the site by a code.
func (b *tab) enter(s *site, ref ...string) {
	b.t.Helper()
	own, _ := s.open(ref...)
	scheme, rest, _ := strings.Cut(own, "://")
	host, _, _ := strings.Cut(rest, "/")
	b.base = scheme + "://" + host
	b.run(chromedp.Navigate(own))
	b.wait(live)
}

// visit opens a path, and waits until the page is live.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.base + path))
	b.wait(live)
}

// key presses keys one after the other, with the focus where it is.
func (b *tab) key(keys string, modifiers ...chromedp.Modifier) {
	b.t.Helper()
	for _, r := range keys {
		press, up := kb.Encode(r)[0], kb.Encode(r)[len(kb.Encode(r))-1]
		for _, m := range modifiers {
			press.Modifiers |= int64(m)
			up.Modifiers |= int64(m)
		}
		if char := kb.Encode(r)[1]; char.Type == kb.KeyChar && len(modifiers) == 0 {
			press.Text, press.UnmodifiedText = char.Text, char.UnmodifiedText // the browser makes the character, unless the page refuses it
		}
		call(b, input.DispatchKeyEvent, *press)
		call(b, input.DispatchKeyEvent, *up)
	}
}

// said waits until the status line has a text.
func (b *tab) said(text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.getElementById("status")?.textContent.includes(%q)`, text))
}

// clean fails the test if something was requested from elsewhere, if the policy reported
// anything, or if a script failed.
func (b *tab) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !strings.HasPrefix(url, b.base+"/") && url != "about:blank" {
			b.t.Errorf("the page requests %.200s", url)
		}
	}
	if len(b.problems) > 0 {
		b.t.Errorf("problems: %q", slices.Compact(b.problems))
	}
}

// streams returns how many connections for events the document of the tab has open. Those of
// earlier ones ended with them, of which the browser does not always report.
func (b *tab) streams() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, document := range b.live {
		if document == b.document {
			n++
		}
	}
	return n
}

// streamsOf returns how many connections for events tabs have open.
func streamsOf(tabs []*tab) (n int) {
	for _, b := range tabs {
		n += b.streams()
	}
	return n
}
