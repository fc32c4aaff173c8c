package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/manual"
)

// writeManPages writes the man pages of this program into a new folder, and returns their
// files.
func writeManPages(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for _, page := range (&program{}).manualPages() {
		var b bytes.Buffer
		if err := page.WriteRoff(&b, manual.Stamp{Version: version, Date: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, manual.File(page.Name))
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if len(files) < 100 {
		t.Fatalf("there are %d pages", len(files))
	}
	return files
}

// TestManFormatters: neither groff nor mandoc warns about a page.
func TestManFormatters(t *testing.T) {
	files := writeManPages(t)
	for _, formatter := range [][]string{{"groff", "-man", "-Tutf8", "-ww", "-z"}, {"mandoc", "-Tlint", "-Wwarning"}} {
		t.Run(formatter[0], func(t *testing.T) {
			if _, err := exec.LookPath(formatter[0]); err != nil {
				t.Skipf("%s is not installed: apt-get install %[1]s", formatter[0])
			}
			out, err := exec.Command(formatter[0], slices.Concat(formatter[1:], files)...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%s: %v\n%s", formatter[0], err, out)
			}
		})
	}
	t.Run("finds", func(t *testing.T) {
		if _, err := exec.LookPath("mandoc"); err != nil {
			t.Skip("mandoc is not installed: apt-get install mandoc")
		}
		wrong := filepath.Join(t.TempDir(), "wrong.1")
		if err := os.WriteFile(wrong, []byte(".TH WRONG 1 2026-11-28\n.SH NAME\n.PP\n.XY\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mandoc", "-Tlint", "-Wwarning", wrong).CombinedOutput(); err == nil {
			t.Errorf("mandoc accepts a wrong page: %s", out)
		}
	})
}

// TestManText: a formatted page has the words of the help, in their order, and each page that it
// refers to exists.
func TestManText(t *testing.T) {
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed: apt-get install mandoc")
	}
	p := &program{}
	files := writeManPages(t)
	known := map[string]bool{}
	for _, file := range files {
		known[strings.TrimSuffix(filepath.Base(file), ".1")] = true
	}
	if len(known) != len(files) {
		t.Errorf("%d pages have %d names", len(files), len(known))
	}
	reference := regexp.MustCompile(`([a-z0-9-]+)\(1\)`)
	for i, page := range p.manualPages() {
		out, err := exec.Command("mandoc", "-Tutf8", "-Owidth=1000", files[i]).Output()
		if err != nil {
			t.Fatal(err)
		}
		shown := plainText(string(out))
		for _, m := range reference.FindAllStringSubmatch(shown, -1) {
			if !known[m[1]] {
				t.Errorf("%s refers to %s", page.Name, m[1])
			}
		}
		v, err := p.findVerb(strings.Fields(page.Name)[1:])
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{v.short, v.long}
		for _, row := range flagRows(v.flags) {
			texts = append(texts, row.Term, row.Text)
		}
		texts = append(texts, v.example)
		if v.name == "" {
			texts = []string{helpFlags, helpNames, helpFirst, helpExit}
		}
		rest := strings.Join(strings.Fields(shown), " ")
		for _, text := range texts {
			for paragraph := range strings.SplitSeq(text, "\n\n") {
				words := strings.Join(strings.Fields(paragraph), " ")
				_, after, found := strings.Cut(rest, words)
				if !found {
					t.Errorf("the man page of %s lacks, after what comes before it, %q", page.Name, words)
					break
				}
				rest = after
			}
		}
	}
}

// plainText removes overstriking, by which a formatter marks bold and underlined text.
func plainText(s string) string { return regexp.MustCompile(".\b").ReplaceAllString(s, "") }
