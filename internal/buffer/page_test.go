package buffer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/workspace/task"
)

// TestPage verifies docs/tasks.md: its first JSON block is a complete Context, its
// second a Result, without unknown members.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tasks.md"))
	if err != nil {
		t.Fatal(err)
	}
	var pieces []string
	for _, piece := range strings.Split(string(page), "```json\n")[1:] {
		text, _, _ := strings.Cut(piece, "```")
		pieces = append(pieces, text)
	}
	if len(pieces) != 2 {
		t.Fatalf("the page has %d pieces of JSON", len(pieces))
	}
	strict := func(text string, v any) {
		t.Helper()
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	var c buffer.Context
	strict(pieces[0], &c)
	again, err := json.Marshal(c)
	var said, known any
	if err != nil || json.Unmarshal(again, &known) != nil || json.Unmarshal([]byte(pieces[0]), &said) != nil || !reflect.DeepEqual(said, known) {
		t.Errorf("a context is %s, %v", again, err)
	}
	var r buffer.Result
	strict(pieces[1], &r)
	for _, f := range r.Tasks {
		if f.ID == "" && f.Description == "" {
			t.Errorf("a task says nothing: %+v", f)
		}
	}
	for _, known := range c.Tasks {
		if err := task.CheckData(known.Data); err != nil {
			t.Error(err)
		}
	}
}
