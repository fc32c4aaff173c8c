package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMergeExample: the example of docs/merge.md prints what the page shows, but for ids and times.
func TestMergeExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "merge.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "## Compare and merge: an example")
	example, _, _ = strings.Cut(example, "\n## bough compare")
	dir := filepath.Join(t.TempDir(), "w")
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```\n(.*?)^```").FindAllStringSubmatch(example, -1) {
		for step := range strings.SplitSeq("\n"+block[1], "\n$ ") {
			if strings.TrimSpace(step) == "" {
				continue
			}
			ran++
			command, want, _ := strings.Cut(step, "\n")
			args, ok := strings.CutPrefix(command, "bough ")
			if !ok {
				t.Fatalf("the page has the command %q", command)
			}
			var out, talk bytes.Buffer
			if code := run(append([]string{"-w", dir}, wordsIn(args)...), strings.NewReader(""), &out, &talk); code != 0 {
				t.Fatalf("%s: exit code %d, %s", command, code, talk.String())
			}
			got := strings.TrimSpace(out.String() + talk.String())
			if want = strings.TrimSpace(want); want != "" && !strings.HasSuffix(withoutIDs(got), withoutIDs(want)) {
				t.Errorf("%s prints\n%s\nthe page shows\n%s", command, withoutIDs(got), withoutIDs(want))
			}
		}
	}
	if ran < 12 {
		t.Errorf("the page has %d commands", ran)
	}
}

// withoutIDs replaces what differs each time.
func withoutIDs(text string) string {
	text = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.+]+`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`\b[0-9a-f]{8}\b`).ReplaceAllString(text, "ID")
}
