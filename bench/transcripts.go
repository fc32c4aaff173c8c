package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// writeTranscripts writes conversations with an assistant that edits code, as session files of bough,
// and returns their size. They compress to about a fifth, as real ones do: their words have the
// frequencies of a language, and results of tools repeat what was shown before.
func (w *work) writeTranscripts(dir string) (size int64, err error) {
	folder := filepath.Join(dir, "conversations")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return 0, err
	}
	g := newTalk()
	for n := range w.transcripts {
		at := time.Date(2026, 5, 1+n%28, 9, n/28, 0, 0, time.UTC)
		id := fmt.Sprintf("session_%s_%08x", at.Format("20060102_150405"), g.random.Uint32())
		data, err := g.session(at, w.turns)
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(folder, id+".json"), data, 0o600); err != nil {
			return 0, err
		}
		size += int64(len(data))
		w.transcript = id
	}
	return size, nil
}

// A talk makes up what is said.
type talk struct {
	random *rand.Rand
	words  []string
	often  *rand.Zipf
	seen   []string // results of tools
}

func newTalk() *talk {
	g := &talk{random: rand.New(rand.NewPCG(20260501, 1))}
	g.often = rand.NewZipf(g.random, 1.25, 3, 11_999)
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	for range 12_000 {
		var word strings.Builder
		for range 1 + g.random.IntN(4) {
			word.WriteByte(consonants[g.random.IntN(len(consonants))])
			word.WriteByte(vowels[g.random.IntN(len(vowels))])
		}
		g.words = append(g.words, word.String())
	}
	return g
}

func (g *talk) word() string { return g.words[g.often.Uint64()] }

func (g *talk) prose(words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(g.word())
		if g.random.IntN(12) == 0 {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// code returns lines as those of a program, some of which were shown before.
func (g *talk) code(lines int) string {
	if len(g.seen) > 0 && g.random.IntN(3) == 0 {
		return g.seen[len(g.seen)-1-g.random.IntN(min(len(g.seen), 30))]
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%5d\t%s%s := %s.%s(%s, %d)\n", i+1, strings.Repeat("\t", 1+g.random.IntN(3)), g.word(), g.word(), g.word(), g.word(), g.random.IntN(100))
	}
	g.seen = append(g.seen, b.String())
	return b.String()
}

func (g *talk) id() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", g.random.Uint32(), g.random.IntN(1<<16), g.random.IntN(1<<12), g.random.IntN(1<<12), g.random.Uint64N(1<<48))
}

// session returns a session file.
func (g *talk) session(at time.Time, turns int) ([]byte, error) {
	type message struct {
		ID        string         `json:"id"`
		Role      string         `json:"role"`
		Content   string         `json:"content"`
		Category  string         `json:"category"`
		Timestamp string         `json:"timestamp"`
		Metadata  map[string]any `json:"metadata"`
	}
	var messages []message
	clock := at
	add := func(role, category, content string) {
		clock = clock.Add(time.Duration(1+g.random.IntN(60_000)) * time.Millisecond)
		messages = append(messages, message{g.id(), role, content, category, clock.Format("2006-01-02T15:04:05.000000+00:00"), map[string]any{}})
	}
	for range turns {
		add("user", "DIALOG", g.prose(10+g.random.IntN(40)))
		for range 1 + g.random.IntN(4) {
			add("assistant", "DIALOG", g.prose(20+g.random.IntN(80)))
			add("user", "SYSTEM_OUTPUT", g.code(20+g.random.IntN(80)))
		}
	}
	stamp := at.Format("2006-01-02T15:04:05.000000+00:00")
	return json.Marshal(map[string]any{
		"created_at": stamp, "last_active": messages[len(messages)-1].Timestamp, "messages": messages,
		"metadata":               map[string]any{"title": g.prose(5), "continued_from": []string{}, "continued_to": []string{}},
		"llm_request_lifecycles": []any{}, "tool_call_records": []any{}, "tool_result_records": []any{},
	})
}
