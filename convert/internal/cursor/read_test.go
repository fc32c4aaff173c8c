package cursor

import (
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/testdatabase"
)

// TestFailure: an error that says nothing about the rows ends the reading, instead of being a problem of the
// rows.
func TestFailure(t *testing.T) {
	db, err := database.Open(t.Context(), testdatabase.Make(t, "CREATE TABLE cursorDiskKV (key, value)"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := &rows{db: db, to: none{t}}
	if err := d.each("a row", database.Query{Table: values, Columns: []string{"key"}, Rest: "WHERE missing = 1"}, nil); err == nil {
		t.Error("there is no error")
	}
}

// none is a sink that receives nothing.
type none struct{ *testing.T }

func (n none) Message(m *transcript.Message) error  { n.Errorf("the message %+v", m); return nil }
func (n none) End(c *transcript.Conversation) error { n.Errorf("the conversation %+v", c); return nil }
func (n none) Problem(p transcript.Problem)         { n.Errorf("the problem %+v", p) }

// TestManyCopies: a hostile list that has one message many times is read in time that is linear in their number.
func TestManyCopies(t *testing.T) {
	s, seen := &said{}, map[string]bool{}
	for range 20_000 {
		s.model([]byte(`{"role":"system","content":"You are an agent."}`))
		last := s.list[len(s.list)-1].ID
		if seen[last] {
			t.Fatal("two messages have one id")
		}
		seen[last] = true
	}
}
