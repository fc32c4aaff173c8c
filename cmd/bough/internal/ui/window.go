package ui

// A body is a list of items of text, each of which has at least one line.
type body struct {
	count int
	lines func(item int) []string
}

// A window shows some consecutive lines of a body. Only the lines of the items in it are
// made, so it takes the same time for any number of items.
type window struct {
	top  int // the first item
	skip int // how many of its lines are above the window
}

// A shownLine is a line in a window.
type shownLine struct {
	item int
	text string
}

// visible returns the lines in a window of this height.
func (w window) visible(c body, height int) (shown []shownLine) {
	skip := w.skip
	for item := w.top; item < c.count && len(shown) < height; item++ {
		lines := c.lines(item)
		for _, text := range lines[min(skip, len(lines)):] {
			if len(shown) < height {
				shown = append(shown, shownLine{item, text})
			}
		}
		skip = 0
	}
	return shown
}

// scroll moves the window by n lines, and stops at the ends.
func (w *window) scroll(c body, n, height int) {
	w.skip += n
	for w.skip < 0 && w.top > 0 {
		w.top--
		w.skip += len(c.lines(w.top))
	}
	w.skip = max(w.skip, 0)
	for w.top < c.count-1 && w.skip >= len(c.lines(w.top)) {
		w.skip -= len(c.lines(w.top))
		w.top++
	}
	w.clamp(c, height)
}

// clamp moves the window up if it begins after the last full one.
func (w *window) clamp(c body, height int) {
	if end := lastWindow(c, c.count-1, height); w.top > end.top || w.top == end.top && w.skip > end.skip {
		*w = end
	}
}

// atEnd reports whether the window shows the last line.
func (w window) atEnd(c body, height int) bool { return w == lastWindow(c, c.count-1, height) }

// lastWindow returns the window that ends with the last line of an item.
func lastWindow(c body, item, height int) window {
	for ; item >= 0; item-- {
		if height -= len(c.lines(item)); height <= 0 {
			return window{item, -height}
		}
	}
	return window{}
}

// reveal moves the window as little as possible so that it shows an item, or its first lines if
// it is higher than the window.
func (w *window) reveal(c body, item, height int) {
	if item < 0 || item >= c.count {
		return
	}
	first := window{top: item}
	defer w.clamp(c, height)
	if item < w.top || item == w.top && w.skip > 0 || len(c.lines(item)) >= height {
		*w = first
		return
	}
	used := -w.skip
	for i := w.top; i <= item && used <= height; i++ {
		used += len(c.lines(i))
	}
	if used > height {
		*w = lastWindow(c, item, height)
	}
}
