// Package cast reads and writes recordings of a terminal, and draws them.
//
// A recording is a file in the format asciicast v2: a line of JSON about the terminal, and a line
// for each piece of output, with its time. Here each piece is a whole screen: it clears the
// terminal, and has the lines from the top, with sequences for colours and attributes only.
package cast

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Cast is a recording.
type Cast struct {
	Width, Height int // of the terminal, in cells
	Title         string
	Frames        []Frame
}

// A Frame is a screen.
type Frame struct {
	At     time.Duration // since the beginning
	Screen string        // lines that end with a line feed, with sequences ESC [ … m
}

// header is the first line.
type header struct {
	Version int    `json:"version"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Title   string `json:"title,omitempty"`
}

// clear moves the cursor home and clears the terminal.
const clear = "\x1b[H\x1b[2J"

// Encode returns the recording as a file.
func (c *Cast) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	encode := func(v any) {
		if err := e.Encode(v); err != nil {
			panic("cast: " + err.Error()) // every value can be encoded
		}
	}
	encode(header{2, c.Width, c.Height, c.Title})
	for _, f := range c.Frames {
		lines := strings.TrimRight(f.Screen, "\n")
		encode([]any{f.At.Seconds(), "o", clear + strings.ReplaceAll(lines, "\n", "\r\n") + "\x1b[0m"})
	}
	return b.Bytes()
}

// Parse parses a file that Encode wrote.
func Parse(data []byte) (*Cast, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	var h header
	if err := d.Decode(&h); err != nil || h.Version != 2 {
		return nil, fmt.Errorf("not a recording in the format asciicast v2: version %d, %v", h.Version, err)
	}
	c := &Cast{Width: h.Width, Height: h.Height, Title: h.Title}
	for d.More() {
		var at float64
		var kind, output string
		if err := d.Decode(&[]any{&at, &kind, &output}); err != nil {
			return nil, fmt.Errorf("frame %d: %v", len(c.Frames)+1, err)
		}
		screen, whole := strings.CutPrefix(output, clear)
		if kind != "o" || !whole {
			return nil, fmt.Errorf("frame %d is not a whole screen", len(c.Frames)+1)
		}
		screen = strings.ReplaceAll(strings.TrimSuffix(screen, "\x1b[0m"), "\r\n", "\n") + "\n"
		c.Frames = append(c.Frames, Frame{time.Duration(at * float64(time.Second)).Round(time.Millisecond), screen})
	}
	return c, nil
}

// Text returns the screen without colours.
func (f Frame) Text() string {
	var b strings.Builder
	for _, runs := range parse(f.Screen) {
		column := 0
		for _, r := range runs {
			b.WriteString(strings.Repeat(" ", r.column-column) + r.text)
			column = r.column + r.width
		}
		b.WriteByte('\n')
	}
	return b.String()
}
