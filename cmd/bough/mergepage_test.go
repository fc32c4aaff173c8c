package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// trainStory is the conversation of the examples in docs/merge.md, with a branch.
const trainStory = `{"id": %q, "created_at": "2026-03-14T09:30:03.000000+00:00", "metadata": {"title": %q%s}, "messages": [%s]}`

var trainTexts = map[string]string{
	"u1": "Where shall we go?", "a2": "To Lisbon.", "u3": "Is there a train?", "a4": "Yes, via Madrid.", "u5": "How long does it take?",
	"a6": "Twenty hours.", "u7": "And where do we sleep?", "a8": "In Alfama.",
}

func writeTrainStory(t *testing.T, dir, id, title, metadata string, messages ...string) {
	t.Helper()
	var list []string
	for i, m := range messages {
		role := "user"
		if m[0] == 'a' {
			role = "assistant"
		}
		list = append(list, fmt.Sprintf(`{"role": %q, "content": %q, "id": %q, "timestamp": "2026-03-14T09:30:%02d.000000+00:00", "metadata": {}}`, role, trainTexts[m], m, i+len(id)))
	}
	file := filepath.Join(dir, "conversations", id+".json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, trainStory, id, title, metadata, strings.Join(list, ", ")), 0o600); err != nil {
		t.Fatal(err)
	}
}

var generated = regexp.MustCompile(`session_\d{8}_\d{6}_[0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\b[0-9a-f]{8}\b|\b\d{4}-\d\d-\d\d\b`)

// TestMergePage: the examples of docs/merge.md, one after the other, print what the page shows,
// but for ids and dates.
func TestMergePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "merge.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeTrainStory(t, dir, "trip", "Trip", `, "continued_from": []`, "u1", "a2", "u7", "a8")
	writeTrainStory(t, dir, "train", "Train", `, "continued_from": ["trip"], "branched_from": "trip", "branch_point": "a2", "flattened_snapshot": true`, "u1", "a2", "u3", "a4", "u5", "a6")
	t.Chdir(t.TempDir())
	for _, s := range []struct{ plan, command string }{
		{"Lisbon\n", "rewind Trip"}, {"Lisbon\n", "files snap Train@u3"}, {"Lisbon\nvia Madrid\n", "files snap Train@a4"}, {"Lisbon\nvia Madrid\n20 hours\n", "files snap Train@a6"},
	} {
		if err := os.WriteFile("plan.txt", []byte(s.plan), 0o600); err != nil {
			t.Fatal(err)
		}
		var talk bytes.Buffer
		if code := run(append([]string{"-w", dir}, wordsIn(s.command)...), strings.NewReader(""), io.Discard, &talk); code != 0 {
			t.Fatalf("bough %s: %s", s.command, &talk)
		}
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for _, example := range strings.Split("\n"+block[1], "\n$ bough ")[1:] {
			command, want, _ := strings.Cut(example, "\n")
			var out bytes.Buffer
			code := run(append([]string{"-w", dir}, wordsIn(command)...), strings.NewReader(""), &out, &out)
			if code != 0 {
				t.Fatalf("bough %s exits with %d:\n%s", command, code, &out)
			}
			got := generated.ReplaceAllString(strings.TrimSpace(out.String()), "ID")
			if want = generated.ReplaceAllString(strings.TrimSpace(want), "ID"); got != want {
				t.Errorf("bough %s prints\n%s\nthe page has\n%s", command, &out, want)
			}
			ran++
		}
	}
	if ran < 5 {
		t.Errorf("the page has only %d examples", ran)
	}
}

// wordsIn splits a command line with double quotes into words.
func wordsIn(command string) (words []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|\S+`).FindAllStringSubmatch(command, -1) {
		if m[1] == "" {
			m[1] = m[0]
		}
		words = append(words, m[1])
	}
	return words
}
