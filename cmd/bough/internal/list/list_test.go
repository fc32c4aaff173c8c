package list

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

func texts(l *List) (list []string) {
	items, _ := l.Window(100)
	for _, i := range items {
		list = append(list, l.items[i].Text)
	}
	return list
}

func TestFilter(t *testing.T) {
	l := New([]Item{
		{Text: "Fix the parser", Detail: "2 days ago"},
		{Text: "Plan a weekend in Lisbon"},
		{Text: "fix hooks in pre-commit"},
		{Text: "Other", Detail: "parser"},
	})
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"", []string{"Fix the parser", "Plan a weekend in Lisbon", "fix hooks in pre-commit", "Other"}},
		{"parser", []string{"Fix the parser", "Other"}},
		{"FIX hook", []string{"fix hooks in pre-commit"}},
		{"hook fix", []string{"fix hooks in pre-commit"}},
		{"lsbn", []string{"Plan a weekend in Lisbon"}},
		{"zzz", nil},
	} {
		l.Filter(c.query)
		got := texts(l)
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.query, got, want)
		}
	}
	if l.Selected() != -1 {
		t.Error("a row is selected without a match")
	}
	l.Filter("pre")
	if got := texts(l); got[0] != "fix hooks in pre-commit" {
		t.Errorf("the complete word is not first: %q", got)
	}
}

// TestWindow: the window follows the cursor over 10,000 rows, and each row is visible once.
func TestWindow(t *testing.T) {
	var items []Item
	for i := range 10000 {
		items = append(items, Item{Text: fmt.Sprint(i)})
	}
	l := New(items)
	seen := map[int]bool{}
	for i := range items {
		rows, cursor := l.Window(7)
		if len(rows) != 7 || rows[cursor] != i || l.Selected() != i {
			t.Fatalf("at %d: window %v, cursor %d", i, rows, cursor)
		}
		seen[rows[cursor]] = true
		l.Move(1)
	}
	if len(seen) != len(items) {
		t.Errorf("saw %d rows", len(seen))
	}
	l.Move(-len(items))
	if rows, cursor := l.Window(7); rows[0] != 0 || cursor != 0 {
		t.Errorf("back at the top: %v, %d", rows, cursor)
	}
}

// TestView: a screen of any size has as many lines as the terminal, and none is wider.
func TestView(t *testing.T) {
	items := []Item{{Text: "漢字 title", Detail: "yesterday"}, {Text: strings.Repeat("long ", 60)}, {Text: "short"}}
	for _, size := range [][2]int{{80, 24}, {200, 50}, {20, 4}, {1, 1}, {70, 3}} {
		m := &chooser{NewPicker(t.Context(), Options{Prompt: "Which?", Items: items, Color: true})}
		m.previews[0] = "one\ntwo " + strings.Repeat("漢", 300)
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		lines := strings.Split(m.View().Content, "\n")
		if len(lines) > max(size[1], 3) {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for _, l := range lines {
			if w := lipgloss.Width(l); w > size[0] {
				t.Errorf("%v: a line is %d wide: %q", size, w, l)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	items := []Item{{Text: "alpha"}, {Text: "beta"}, {Text: "gamma"}}
	m := &chooser{NewPicker(t.Context(), Options{Items: items})}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	for _, r := range "betax" {
		m.Update(tea.KeyPressMsg{Text: string(r), Code: r})
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if m.chosen != -1 {
		t.Fatal("selected a row that does not match")
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	if _, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}); m.chosen != 1 || cmd == nil {
		t.Errorf("chose %d", m.chosen)
	}
	m.Update(tea.KeyPressMsg{Code: tea.KeyUp})
	m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if m.chosen != 1 {
		t.Error("a key after the end changed the selection")
	}
}

// TestFind: the items are those of the newest query, an error is shown, and results of an
// older query or of another list are ignored.
func TestFind(t *testing.T) {
	p := NewPicker(t.Context(), Options{Find: func(_ context.Context, query string) ([]Item, error) {
		if query == "bad" {
			return nil, errors.New("malformed")
		}
		return []Item{{Text: "first " + query}, {Text: "second " + query}}, nil
	}})
	p.Update(tea.WindowSizeMsg{Width: 60, Height: 10})
	typed := func(text string) tea.Msg { return p.Update(tea.PasteMsg{Content: text})() }
	screen := func() string { content, _ := p.View(); return content }
	if !strings.Contains(screen(), "type the words") {
		t.Errorf("without a query it shows\n%s", screen())
	}
	old := typed("ol")
	newer := typed("d")
	if !strings.Contains(screen(), "searching") {
		t.Errorf("while it searches it shows\n%s", screen())
	}
	p.Update(newer)
	p.Update(old)
	NewPicker(t.Context(), Options{}).Update(newer)
	if !strings.Contains(screen(), "> first old") {
		t.Errorf("it shows\n%s", screen())
	}
	p.Update(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	p.Update(typed("bad"))
	if !strings.Contains(screen(), "malformed") {
		t.Errorf("after an error it shows\n%s", screen())
	}
	p.Update(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	p.Update(typed("new"))
	p.Update(tea.MouseClickMsg{X: 3, Y: 2})
	p.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	if item, done := p.Done(); item != 1 || !done {
		t.Errorf("chose %d, %v", item, done)
	}
}
