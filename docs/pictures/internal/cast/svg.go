package cast

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// The size of a cell, and the space around the screen, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	baseline   = 13
	margin     = 14
)

// colors are the sixteen colours, and the last two those of the text and of the background.
var colors = [...]string{
	"#45475a", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#bac2de",
	"#585b70", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#a6adc8",
	"#cdd6f4", "#1e1e2e",
}

const (
	foreground = 16
	background = 17
)

// pause is how long the last frame stays.
const pause = 4 * time.Second

// SVG draws the recording: one picture or, of several frames, an animation that repeats. For a
// person who prefers no motion, it is the last frame. Equal lines are in the file once.
func (c *Cast) SVG() []byte {
	d := &drawing{Cast: c, ids: map[string]int{}}
	return d.draw()
}

// A drawing is a recording that is being drawn.
type drawing struct {
	*Cast
	lines bytes.Buffer // the different lines
	ids   map[string]int
}

func (d *drawing) draw() []byte {
	var frames, rules bytes.Buffer
	total := d.Frames[len(d.Frames)-1].At + pause
	for i, f := range d.Frames {
		name := fmt.Sprintf("f%d", i)
		fmt.Fprintf(&frames, "<g class=\"f %s\">", name)
		for row, runs := range parse(f.Screen) {
			if id := d.line(runs); id >= 0 {
				fmt.Fprintf(&frames, `<use href="#l%d" y="%d"/>`, id, row*cellHeight)
			}
		}
		frames.WriteString("</g>\n")
		if len(d.Frames) > 1 {
			end := total
			if i+1 < len(d.Frames) {
				end = d.Frames[i+1].At
			}
			fmt.Fprintf(&rules, ".%s{animation:%s %.2fs step-end infinite}@keyframes %s{0%%{visibility:hidden}%s{visibility:visible}%s{visibility:hidden}}\n",
				name, name, total.Seconds(), name, percent(f.At, total), percent(end, total))
		}
	}
	if n := len(d.Frames); n > 1 {
		fmt.Fprintf(&rules, ".f{visibility:hidden}\n@media (prefers-reduced-motion:reduce){.f{animation:none}.f%d{visibility:visible}}\n", n-1)
	}
	width, height := float64(d.Width)*cellWidth+2*margin, d.Height*cellHeight+2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>\n", escape(d.Title))
	fmt.Fprintf(&b, "text{font:14px ui-monospace,'JetBrains Mono','DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}\n.b{font-weight:700}.d{opacity:.6}\n")
	b.Write(rules.Bytes())
	fmt.Fprintf(&b, "</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n<defs>\n", colors[background])
	b.Write(d.lines.Bytes())
	fmt.Fprintf(&b, "</defs>\n<g transform=\"translate(%d %d)\" fill=\"%s\">\n", margin, margin, colors[foreground])
	b.Write(frames.Bytes())
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// percent returns a part of a time for a keyframe.
func percent(part, whole time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", 100*part.Seconds()/whole.Seconds()), "0"), ".") + "%"
}

// line returns the number of a line, and draws it if no other frame has it. It is -1 for an empty
// line.
func (d *drawing) line(runs []run) int {
	if len(runs) == 0 {
		return -1
	}
	key := fmt.Sprint(runs)
	if id, ok := d.ids[key]; ok {
		return id
	}
	id := len(d.ids)
	d.ids[key] = id
	fmt.Fprintf(&d.lines, `<g id="l%d">`, id)
	for _, r := range runs {
		d.run(r)
	}
	d.lines.WriteString("</g>\n")
	return id
}

func (d *drawing) run(r run) {
	x, width := float64(r.column)*cellWidth, float64(r.width)*cellWidth
	color := r.color
	if r.reverse {
		fill := foreground
		if color >= 0 {
			fill = color
		}
		color = background
		fmt.Fprintf(&d.lines, `<rect x="%.1f" width="%.1f" height="%d" fill="%s"/>`, x, width, cellHeight, colors[fill])
	}
	text := strings.TrimRight(r.text, " ")
	if text == "" {
		return
	}
	width -= float64(len(r.text)-len(text)) * cellWidth
	var classes []string
	if r.bold {
		classes = append(classes, "b")
	}
	if r.faint {
		classes = append(classes, "d")
	}
	fmt.Fprintf(&d.lines, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs"`, x, baseline, width)
	if len(classes) > 0 {
		fmt.Fprintf(&d.lines, ` class="%s"`, strings.Join(classes, " "))
	}
	if color >= 0 {
		fmt.Fprintf(&d.lines, ` fill="%s"`, colors[color])
	}
	fmt.Fprintf(&d.lines, `>%s</text>`, escape(text))
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer accepts everything
	return b.String()
}
