package workspace

import (
	"context"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// SetSpool sets how many bytes of a conversation an import keeps in memory.
func (w *Workspace) SetSpool(bytes int64) { w.store.Spool = bytes }

// SetTidy sets how many bytes of messages a prune rewrites in packs.
func (w *Workspace) SetTidy(bytes int64) { w.store.Tidy = bytes }

// MaxOperations is the maximum number of operations in one flush.
const MaxOperations = store.MaxOperations

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
	out, err := store.CreateGroup(ctx, w.store, "import", group, func(tx *store.Tx) (prepared int, err error) {
		for _, part := range parts {
			tx.Begin(operation.Operation{Verb: "import", Args: store.Args{"path": part.Title}})
			if err := prepare(tx, part); err != nil {
				return prepared, err
			}
			prepared++
		}
		return prepared, nil
	})
	flush := Flush{Group: out.Group}
	for _, op := range out.Made {
		flush.Made = append(flush.Made, *op)
	}
	return flush, err
}

func prepare(tx *store.Tx, part Part) error {
	if part.Session == "" {
		_, err := tx.NewSession("", part.Title)
		return err
	}
	l, err := tx.View.LineNamed(part.Session, false)
	if err != nil {
		return err
	}
	node, err := tx.View.End(l, false)
	if err != nil {
		return err
	}
	id, err := sessionid.NewMessage(tx.View.Store.Opts.Random)
	if err != nil {
		return err
	}
	_, err = tx.AppendTo(&store.Place{Line: l, Node: node}, &store.Message{ID: id, Role: "user", Content: rawjson.Compact(part.Text)})
	return err
}

// WrittenWith returns the options that e was written with, for a test that continues the
// export as its program does.
func (e *Export) WrittenWith() transcript.Options { return e.o }
