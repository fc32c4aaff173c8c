// Package tables reads the tables of a program's database for a reader of its conversations, and
// reports what of them is damaged.
package tables

import (
	"errors"
	"fmt"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
)

// A Reader reads tables for a sink.
type Reader struct {
	DB *database.DB
	To transcript.Sink
}

// Each calls f for the rows of a query. Rows that are damaged or too large are a problem at where;
// any other error is returned.
func (r *Reader) Each(where string, q database.Query, f func(database.Row) error) error {
	err := r.DB.Each(q, f)
	if damage := Damage(err); damage != nil {
		r.Problem("%s: %v", where, damage)
		return nil
	}
	return err
}

// Damage returns the error of a query if it says that rows are damaged or too large, nil if it says
// something else.
func Damage(err error) *database.QueryError {
	var failed *database.QueryError
	if errors.As(err, &failed) && failed.Damage() {
		return failed
	}
	return nil
}

// Problem reports what could not be read.
func (r *Reader) Problem(format string, args ...any) {
	r.To.Problem(transcript.Problem{What: fmt.Sprintf(format, args...)})
}

// A blob is the key of an id that is stored as bytes.
type blob string

// Key returns a comparable value for a stored id. Ids of several types, such as 1 and "1", have
// different keys although their texts are the same.
func Key(id any) any {
	if b, ok := id.([]byte); ok {
		return blob(b)
	}
	return id
}

// Stored returns the stored id of which [Key] made a key.
func Stored(key any) any {
	if b, ok := key.(blob); ok {
		return []byte(b)
	}
	return key
}
