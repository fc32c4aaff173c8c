package ui

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// testBody returns a body with items of one to five lines, and all of its lines.
func testBody(items int) (c body, all []shownLine) {
	c = body{items, func(item int) (lines []string) {
		for i := range 1 + item*7%5 {
			lines = append(lines, fmt.Sprint(item, ".", i))
		}
		return lines
	}}
	for item := range items {
		for _, text := range c.lines(item) {
			all = append(all, shownLine{item, text})
		}
	}
	return c, all
}

// offset returns the index in all of the first line of a window.
func (w window) offset(c body) (n int) {
	for item := range w.top {
		n += len(c.lines(item))
	}
	return n + w.skip
}

// TestWindow: after any steps the window shows consecutive lines, is full if there are enough,
// and scrolls by exactly as many lines as there are in that direction.
func TestWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, items := range []int{0, 1, 2, 7, 300} {
		c, all := testBody(items)
		var w window
		height := 6
		for step := range 500 {
			before := w.offset(c)
			most := max(0, len(all)-height)
			switch random.IntN(4) {
			case 0, 1:
				n := random.IntN(41) - 20
				w.scroll(c, n, height)
				if want := max(0, min(before+n, most)); w.offset(c) != want {
					t.Fatalf("%d items, step %d: scrolled by %d from %d to %d, want %d", items, step, n, before, w.offset(c), want)
				}
			case 2:
				if items == 0 {
					continue
				}
				item := random.IntN(items)
				w.reveal(c, item, height)
				if shown := w.visible(c, height); !showsItem(c, shown, item, height) {
					t.Fatalf("%d items: item %d is not in %v", items, item, shown)
				}
			default:
				height = 1 + random.IntN(12)
				w.clamp(c, height)
			}
			at := w.offset(c)
			for i, l := range w.visible(c, height) {
				if l != all[at+i] {
					t.Fatalf("%d items: line %d of the window is %v, want %v", items, i, l, all[at+i])
				}
			}
			if n := len(w.visible(c, height)); n != min(height, len(all)) {
				t.Fatalf("%d items: %d lines in a window of %d", items, n, height)
			}
			if w.atEnd(c, height) != (at == max(0, len(all)-height)) {
				t.Fatalf("%d items: at %d of %d, height %d: atEnd is %v", items, at, len(all), height, w.atEnd(c, height))
			}
		}
	}
}

// showsItem reports whether a window shows all lines of an item, or its first ones.
func showsItem(c body, shown []shownLine, item, height int) bool {
	n := 0
	for _, l := range shown {
		if l.item == item {
			n++
		}
	}
	want := len(c.lines(item))
	if want >= height {
		return n == height && shown[0].text == c.lines(item)[0]
	}
	return n == want
}

// TestWindowCost: a step anywhere in a long body makes the lines of few items.
func TestWindowCost(t *testing.T) {
	const items, height, most = 10_000, 20, 300
	made := 0
	c := body{items, func(int) []string {
		made++
		return []string{"one", "two"}
	}}
	var w window
	for name, step := range map[string]func(){
		"far": func() { w.reveal(c, 9000, height) }, "back": func() { w.reveal(c, 3, height) },
		"page": func() { w.scroll(c, height, height) }, "show": func() { w.visible(c, height) },
	} {
		made = 0
		step()
		if made > most {
			t.Errorf("%s makes the lines of %d items", name, made)
		}
	}
}
