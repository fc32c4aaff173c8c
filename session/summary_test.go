package session_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// describe writes a summary so that two can be compared: members as text.
func describe(s session.Summary) string {
	metadata := ""
	for _, p := range s.Metadata {
		metadata += fmt.Sprintf("%q=%s ", p.Key, p.Value)
	}
	s.Metadata = nil
	return fmt.Sprintf("%+v kind %s: %s", s, s.Meta.Kind(), metadata)
}

// TestSummary: what is said of a file before it is written is what is read from
// it afterwards.
func TestSummary(t *testing.T) {
	value := func(v any) []byte { return rawjson.Value(v, 2) }
	message := session.NewMessage{ID: "m1", Role: "user", Content: "x", Time: "2026-05-25T15:32:00.000000+00:00"}.Encode()
	d := &session.Document{
		ID:         "q",
		CreatedAt:  "2026-05-25T15:32:00.000000+00:00",
		LastActive: "2026-05-25T15:32:01.000000+00:00",
		Metadata: []rawjson.Pair{
			{Key: "title", Value: value("A \"title\" é")},
			{Key: "continued_from", Value: value([]string{"p"})},
			{Key: "bough", Value: value(map[string]string{"kind": "root"})},
		},
		Messages: [][]byte{session.Marker("m0", "p", "a", "2026-05-25T15:32:00.000000+00:00"), message},
		Count:    2,
		Header:   1,
	}
	s, err := session.Decode("q", slices.Concat(d.Pieces()...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := describe(d.Summary()), describe(s.Summary()); got != want {
		t.Errorf("the document says\n%s\nthe file\n%s", got, want)
	}

	for name, change := range map[string]func(*session.Edit){
		"nothing":  func(*session.Edit) {},
		"title":    func(e *session.Edit) { e.SetMeta("title", "Other") },
		"links":    func(e *session.Edit) { e.SetMeta("continued_to", []string{"r"}); e.DeleteMeta("title") },
		"messages": func(e *session.Edit) { e.Append([]byte(`{"id":"n"}`)); e.Append([]byte(`{"id":"o"}`)) },
		"time":     func(e *session.Edit) { e.SetActive("2027-01-01T00:00:00.000000+00:00") },
	} {
		edit := s.Edit()
		change(edit)
		edited, err := session.Decode("q", slices.Concat(edit.Pieces()...))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := describe(edit.Summary()), describe(edited.Summary()); got != want {
			t.Errorf("%s: the edit says\n%s\nthe file\n%s", name, got, want)
		}
	}
}
