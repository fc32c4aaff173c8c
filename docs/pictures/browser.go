//go:build pictures

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a step may take.
const patience = 20 * time.Second

// live is true when the page listens to keys and events.
const live = `document.body?.dataset.ready !== undefined && document.body.dataset.connection === "online"`

// A browser is Chromium with one tab.
type browser struct {
	ctx   context.Context
	close func()
}

func startBrowser(ctx context.Context) (*browser, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("lang", "en-GB"),
		chromedp.Flag("hide-scrollbars", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, end := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(allocated)
	b := &browser{ctx: tab, close: func() { closeTab(); end() }}
	return b, chromedp.Do(tab)
}

// do runs actions.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// look sets the size of the page, and whether it is "light" or "dark".
func (b *browser) look(width, height int64, scheme string) error {
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	if err != nil {
		return err
	}
	return b.do(chromedp.EmulateViewport(width, height))
}

// eval returns the value of an expression.
func eval[T any](b *browser, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return v, fmt.Errorf("%s: %w", expression, err)
	}
	return v, nil
}

// wait waits until an expression is true.
func (b *browser) wait(expression string) error {
	for end := time.Now().Add(patience); ; {
		ok, err := eval[bool](b, "Boolean("+expression+")")
		if ok {
			return nil
		}
		if time.Now().After(end) {
			text, _ := eval[string](b, `location.href + "\n" + document.body?.innerText.slice(0, 800)`)
			return fmt.Errorf("never true: %s: %v\n%s", expression, err, text)
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
}

// visit opens an address, and waits until the page is live.
func (b *browser) visit(address string) error {
	if err := b.do(chromedp.Navigate(address)); err != nil {
		return err
	}
	return b.wait(live)
}

// press presses a key.
func (b *browser) press(key rune, modifiers ...chromedp.Modifier) error {
	events := kb.Encode(key)
	down, up := events[0], events[len(events)-1]
	for _, m := range modifiers {
		down.Modifiers |= int64(m)
		up.Modifiers |= int64(m)
	}
	if len(modifiers) == 0 && len(events) > 2 {
		down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
	}
	for _, e := range []*input.DispatchKeyEventParams{down, up} {
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, *e); err != nil {
			return err
		}
	}
	return nil
}

// middle scrolls an element into view if needed, and returns its middle.
func (b *browser) middle(selector string) (x, y float64, err error) {
	if err := b.wait(fmt.Sprintf("document.querySelector(%q)", selector)); err != nil {
		return 0, 0, err
	}
	at, err := eval[[]float64](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q), box = () => e.getBoundingClientRect();
		const middle = () => [box().left + Math.min(box().width / 2, 60), box().top + box().height / 2];
		const at = document.elementFromPoint(...middle()); // null outside of the window, or what covers it
		if (!at || !e.contains(at) || box().top < 0 || box().bottom > innerHeight) e.scrollIntoView({block: "center"});
		return middle();
	})()`, selector))
	if err != nil {
		return 0, 0, err
	}
	return at[0], at[1], nil
}

// scroll moves the page to a height, which is an expression.
func (b *browser) scroll(to string) error {
	_, err := eval[bool](b, "(scrollTo(0, "+to+"), true)")
	return err
}

// shoot writes a picture of the page.
func (b *browser) shoot(name string) error {
	if _, err := eval[bool](b, `document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// quote returns a text as a literal of JavaScript.
func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}
