package workspace

import (
	"context"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
)

// MostOperations is the maximum number of operations in one flush.
const MostOperations = mostOperations

// A Part is an operation of a group: a new session with a title, or a message added to a
// session.
type Part struct {
	Title         string
	Session, Text string
}

// A Flush is the result of WriteGroup.
type Flush struct {
	Group operation.Seq
	Made  []operation.Operation
}

// WriteGroup writes the parts as the operations of one group.
func (w *Workspace) WriteGroup(ctx context.Context, group operation.Seq, parts ...Part) (Flush, error) {
	out, err := createGroup(ctx, w.store, "import", group, func(tx *Tx) (prepared int, err error) {
		for _, part := range parts {
			tx.begin(operation.Operation{Verb: "import", Args: args{"path": part.Title}})
			if err := tx.prepare(part); err != nil {
				return prepared, err
			}
			prepared++
		}
		return prepared, nil
	})
	flush := Flush{Group: out.group}
	for _, op := range out.made {
		flush.Made = append(flush.Made, *op)
	}
	return flush, err
}

func (tx *Tx) prepare(part Part) error {
	if part.Session == "" {
		_, err := tx.newSession("", part.Title)
		return err
	}
	l, err := tx.View.lineNamed(part.Session, false)
	if err != nil {
		return err
	}
	node, err := tx.View.end(l, false)
	if err != nil {
		return err
	}
	id, err := sessionid.NewMessage(tx.View.store.opts.Random)
	if err != nil {
		return err
	}
	_, err = tx.appendTo(&place{line: l, node: node}, &message{id: id, role: "user", content: rawjson.Compact(part.Text)})
	return err
}

// WrittenWith returns the options that e was written with, for a test that continues the
// export as its program does.
func (e *Export) WrittenWith() transcript.Options { return e.o }
