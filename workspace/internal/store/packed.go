package store

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// IsPacked reports whether a session is a packed checkpoint.
func (v *View) IsPacked(id string) bool {
	e := v.Index.Entry(id)
	return e != nil && e.Packed != nil
}

// File returns the path of the file of a session, of a packed checkpoint that of its
// recipe.
func (v *View) File(id string) string {
	if v.IsPacked(id) {
		return sessions.RecipeFile(id)
	}
	return session.FileName(id)
}

// isRecipe reports whether a file is the recipe of a packed checkpoint.
func isRecipe(name string) bool { return RecipeOf(name) != "" }

// RecipeOf returns the id of the packed checkpoint whose recipe a file is, "" if it is none.
func RecipeOf(name string) string {
	id, ok := strings.CutSuffix(path.Base(name), ".json")
	if !ok || sessions.RecipeFile(id) != name || !sessionid.Valid(id) {
		return ""
	}
	return id
}

// CreatePacked stages a packed checkpoint of a line, whose first session is line.
func (tx *Tx) CreatePacked(d *session.Document, line string, lineage []string) (*sessions.Packed, error) {
	tx.View.rememberMeanwhile()
	p, err := tx.View.Folder.Pack(tx.Batch, d, tx.packedLines(line, lineage), tx.View.watch)
	if err != nil {
		return nil, err
	}
	tx.Changes(d.ID, operation.Change{File: sessions.RecipeFile(d.ID), Is: StateOfBytes(p.Content, p.Info)})
	tx.putPacked(p.Recipe, p.Info)
	return p, nil
}

// putPacked adds a packed checkpoint to the index, with the FileInfo of its recipe.
func (tx *Tx) putPacked(r *sessions.Recipe, info fs.FileInfo) {
	s := r.Summary()
	tx.View.Index.PutPacked(s, index.Packed{Bytes: r.Bytes, Items: r.Items()}, sessions.StatOf(s.ID, info))
}

// editPacked stages a change of the metadata of a packed checkpoint.
func (tx *Tx) editPacked(edit *session.Edit) error {
	id := edit.Of().ID
	before, _, err := tx.View.Folder.Recipe(id)
	if err != nil {
		return err
	}
	r, err := before.Edited(edit)
	if err != nil {
		return err
	}
	name := sessions.RecipeFile(id)
	was, err := durable.ReadFile(tx.View.Root, name)
	if err != nil {
		return err
	}
	content := r.Encode()
	info, err := tx.Batch.Replace(name, durable.Bytes(content))
	if err != nil {
		return err
	}
	c := operation.Change{File: name, Was: StateOfBytes(was, nil), Is: StateOfBytes(content, info), Before: string(was), After: string(content)}
	if err := tx.View.logDifference(&c); err != nil {
		return err
	}
	tx.Changes(id, c)
	delete(tx.View.Opened, id)
	delete(tx.View.Outlines, id)
	if o := edit.Outline(); o != nil { // the recipe is not renamed yet
		o.Stat = sessions.StatOf(id, info)
		tx.View.Outlines[id] = o
	}
	tx.putPacked(r, info)
	return nil
}

// ErrHidden is the error for a session file that hides a recipe.
var ErrHidden = errors.New("its recipe exists")

// Pack stages the replacement of the file of a plain checkpoint by a recipe. The file is
// moved to the trash. It returns the number of bytes that the recipe and new messages take.
// The error is [ErrHidden] if the file hides a recipe.
func (tx *Tx) Pack(id string) (stored int64, err error) {
	if name := sessions.RecipeFile(id); tx.View.IsThere(name) {
		return 0, &fault.Error{Code: fault.Refused, Message: id + " cannot be packed: " + name + " exists", Hint: "a repair moves it to the trash if both files have the same bytes", Err: ErrHidden}
	}
	o, err := tx.View.Outline(id)
	if err != nil {
		return 0, err
	}
	lineage, _ := tx.View.Lineage(id)
	line := lineage[0]
	if ids, _ := tx.View.LineIDs(tx.View.Index.Origin(id)); len(ids) > 0 {
		line = ids[0]
	}
	p, err := tx.View.Folder.PackFile(tx.Batch, o, tx.packedLines(line, lineage), tx.View.watch)
	if errors.Is(err, sessions.ErrLayout) {
		return 0, &fault.Error{Code: fault.Refused, Message: id + " cannot be packed: " + err.Error(), Err: err}
	}
	if err != nil {
		return 0, err
	}
	tx.Changes(id, operation.Change{File: sessions.RecipeFile(id), Is: StateOfBytes(p.Content, p.Info)})
	if err := tx.Remove(id); err != nil {
		return 0, err
	}
	tx.putPacked(p.Recipe, p.Info)
	return p.Stored, nil
}

// Unpack stages the replacement of the recipe of a packed checkpoint by its plain file. The
// recipe is moved to the trash.
func (tx *Tx) Unpack(id string) error {
	r, _, err := tx.View.Folder.Recipe(id)
	if err != nil {
		return err
	}
	o, err := tx.View.Outline(id)
	if err != nil {
		return err
	}
	info, err := tx.View.Folder.WritePlain(tx.Batch, r)
	if err != nil {
		return err
	}
	plain := *o
	plain.Stat = sessions.StatOf(id, info)
	tx.Changes(id, operation.Change{File: session.FileName(id), Is: StateOf(&plain)})
	tx.RecordWrite(&plain)
	return tx.Discard(sessions.RecipeFile(id))
}

// packedLines returns the lines whose packs may have messages of a packed checkpoint, the
// one that new messages are added to first: that of the root of the lineage, if it is known.
func (tx *Tx) packedLines(line string, lineage []string) []sessions.PackedLine {
	var ids []string
	for _, id := range append([]string{line}, lineage...) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	lines := make([]sessions.PackedLine, len(ids))
	for i, id := range ids {
		lines[i] = sessions.PackedLine{ID: id, InUse: tx.View.Index.InUse(id)}
	}
	return lines
}
