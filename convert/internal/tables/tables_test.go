package tables

import (
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/testdatabase"
)

// TestFailure: an error that says nothing about the rows ends the reading, instead of being a problem of the
// rows.
func TestFailure(t *testing.T) {
	db, err := database.Open(t.Context(), testdatabase.Make(t, "CREATE TABLE messages (id)"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := Reader{DB: db, To: none{t}}
	if err := r.Each("a row", database.Query{Table: "messages", Columns: []string{"id"}, Rest: "WHERE missing = 1"}, nil); err == nil {
		t.Error("there is no error")
	}
}

// none is a sink that receives nothing.
type none struct{ *testing.T }

func (n none) Message(m *transcript.Message) error  { n.Errorf("the message %+v", m); return nil }
func (n none) End(c *transcript.Conversation) error { n.Errorf("the conversation %+v", c); return nil }
func (n none) Problem(p transcript.Problem)         { n.Errorf("the problem %+v", p) }
