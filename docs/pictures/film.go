//go:build pictures

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A film is a sequence of pictures of the page with a pointer and the keys that are pressed.
// Its first error ends it: later steps do nothing.
type film struct {
	b    *browser
	dir  string
	list strings.Builder // the frames, as ffmpeg reads them
	n    int
	x, y float64 // the pointer
	took time.Duration
	err  error
}

// overlay draws the pointer and a key, above everything and outside of the elements that the
// page changes.
const overlay = `((x, y, down, key) => {
	const svg = "http://www.w3.org/2000/svg";
	document.getElementById("film")?.remove();
	const box = document.createElement("div");
	box.id = "film";
	Object.assign(box.style, {position: "fixed", inset: "0", zIndex: "2147483647", pointerEvents: "none"});
	const pointer = document.createElementNS(svg, "svg");
	pointer.setAttribute("width", "34");
	pointer.setAttribute("height", "34");
	pointer.setAttribute("viewBox", "-9 -9 34 34");
	Object.assign(pointer.style, {position: "absolute", left: x - 9 + "px", top: y - 9 + "px"});
	if (down) {
		const ring = document.createElementNS(svg, "circle");
		ring.setAttribute("r", "8");
		ring.setAttribute("fill", "#0f766e");
		ring.setAttribute("fill-opacity", "0.35");
		pointer.append(ring);
	}
	const arrow = document.createElementNS(svg, "path");
	arrow.setAttribute("d", "M0 0v16l3.8-3.6 2.6 6 2.9-1.2-2.6-5.9H12Z");
	arrow.setAttribute("fill", "#111");
	arrow.setAttribute("stroke", "#fff");
	arrow.setAttribute("stroke-width", "1.5");
	pointer.append(arrow);
	box.append(pointer);
	if (key) {
		const cap = document.createElement("div");
		cap.textContent = key;
		Object.assign(cap.style, {position: "absolute", right: "24px", bottom: "24px", padding: "10px 20px", borderRadius: "10px",
			background: "#111c", color: "#fff", font: "600 26px/1.2 monospace"});
		box.append(cap);
	}
	document.documentElement.append(box);
	return true;
})`

// frame adds a picture that stays for a time.
func (f *film) frame(stays time.Duration, down bool, key string) {
	if f.err != nil {
		return
	}
	if _, f.err = eval[bool](f.b, fmt.Sprintf("%s(%.1f, %.1f, %t, %s)", overlay, f.x, f.y, down, quote(key))); f.err != nil {
		return
	}
	f.n++
	name := fmt.Sprintf("frame-%03d.png", f.n)
	if f.err = f.b.shoot(filepath.Join(f.dir, name)); f.err == nil {
		fmt.Fprintf(&f.list, "file %s\nduration %.2f\n", name, stays.Seconds())
		f.took += stays
	}
}

// hold shows the page as it is for a time.
func (f *film) hold(stays time.Duration) { f.frame(stays, false, "") }

// wait waits until an expression is true and the page is live.
func (f *film) wait(expression string) {
	if f.err == nil {
		f.err = f.b.wait("(" + expression + ") && " + live)
	}
}

// says waits until the status line has a text.
func (f *film) says(text string) {
	f.wait(fmt.Sprintf(`document.getElementById("status")?.textContent.includes(%s)`, quote(text)))
}

// click moves the pointer to an element and clicks it.
func (f *film) click(selector string) {
	if f.err != nil {
		return
	}
	var x, y float64
	if x, y, f.err = f.b.middle(selector); f.err != nil {
		return
	}
	fromX, fromY := f.x, f.y
	const steps = 5
	for i := 1; i <= steps; i++ {
		part := (1 - math.Cos(math.Pi*float64(i)/steps)) / 2
		f.x, f.y = fromX+(x-fromX)*part, fromY+(y-fromY)*part
		f.frame(40*time.Millisecond, false, "")
	}
	f.frame(120*time.Millisecond, true, "")
	if f.err == nil {
		f.err = f.b.do(chromedp.MouseClickXY(x, y))
	}
}

// press presses a key, and shows it.
func (f *film) press(key rune) {
	f.frame(340*time.Millisecond, false, string(key))
	if f.err == nil {
		f.err = f.b.press(key)
	}
}

// write types a text into the element that has the focus, and presses Enter.
func (f *film) write(text string) {
	for i, r := range []rune(text) {
		if f.err == nil {
			f.err = f.b.press(r)
		}
		if i%4 == 3 {
			f.frame(50*time.Millisecond, false, "")
		}
	}
	f.frame(140*time.Millisecond, false, "")
	if f.err == nil {
		f.err = f.b.press([]rune(kb.Enter)[0])
	}
}

// save writes the list of the frames.
func (f *film) save() error {
	if f.err != nil {
		return f.err
	}
	fmt.Printf("animation: %d frames, %.1f s\n", f.n, f.took.Seconds())
	return os.WriteFile(filepath.Join(f.dir, "frames.txt"), []byte(f.list.String()), 0o644)
}
