package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// tables prints what was measured, in Markdown.
func (r *runner) tables(to io.Writer) {
	if len(r.times) > 0 {
		fmt.Fprint(to, "Times the raw limit:\n\n")
		r.header(to)
		r.row(to, "raw limit, ms", func(j job) string { return figure(milliseconds(median(r.times["raw"][j]))) })
		r.row(to, "least and most, ms", func(j job) string {
			list := r.times["raw"][j]
			return figure(milliseconds(slices.Min(list))) + ", " + figure(milliseconds(slices.Max(list)))
		})
		for _, c := range r.candidates {
			if c.key != "raw" {
				r.row(to, c.name, func(j job) string { return r.times.ratio(j, c.key, "raw") })
			}
		}
		fmt.Fprint(to, "\nTimes bough, a library against the library and a process against the process:\n\n")
		r.header(to)
		for _, c := range r.candidates {
			if c.peer != "" {
				r.row(to, c.name, func(j job) string { return r.times.ratio(j, c.key, c.peer) })
			}
		}
	}
	if len(r.footprints) > 0 {
		fmt.Fprint(to, "\nFifty checkpoints of one chat on disk, and the mean time of one:\n\n| | MB | ms |\n|---|---:|---:|\n")
		for _, f := range r.footprints {
			fmt.Fprintf(to, "| %s | %s | %s |\n", f.how, figure(float64(f.bytes)/1e6), figure(milliseconds(f.each)))
		}
	}
}

func (r *runner) header(to io.Writer) {
	top, rule := "| |", "|---|"
	for _, j := range r.times.columns() {
		top += " " + jobNames[j] + " |"
		rule += "---:|"
	}
	fmt.Fprintf(to, "%s\n%s\n", top, rule)
}

// row prints a line of the table, if there is anything in it.
func (r *runner) row(to io.Writer, name string, cell func(job) string) {
	line, empty := "| "+name+" |", true
	for _, j := range r.times.columns() {
		text := cell(j)
		empty = empty && text == ""
		line += " " + cmp.Or(text, "–") + " |"
	}
	if !empty {
		fmt.Fprintln(to, line)
	}
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// figure prints three digits, and never fewer than those before the point.
func figure(v float64) string {
	switch {
	case v < 0.005:
		return "< 0.01"
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
