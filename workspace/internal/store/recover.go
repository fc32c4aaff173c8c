package store

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/task"
)

// recovered opens a workspace under the lock, and completes or reverts
// interrupted operations.
func (w *Store) recovered(ctx context.Context, root *os.Root, m Mode) (*Tx, error) {
	tx, err := w.LoadTx(ctx, root, m)
	if err != nil {
		return nil, err
	}
	if m.Every {
		if err := tx.View.Index.Whole(); err != nil {
			tx.Finish()
			return nil, err
		}
	}
	changed, err := tx.recover()
	if err == nil && changed {
		highest := tx.highest
		tx.Finish()
		if tx, err = w.LoadTx(ctx, root, m); err == nil {
			if _, err = tx.LastOperations(); tx.View.Every {
				err = nil
			}
			tx.Seq = max(tx.Seq, highest)
		}
	}
	if err != nil && tx != nil {
		tx.Finish()
		return nil, err
	}
	return tx, err
}

// LoadTx begins a transaction, which must be finished.
func (w *Store) LoadTx(ctx context.Context, root *os.Root, m Mode) (*Tx, error) {
	v, err := w.load(ctx, root, m)
	if v == nil {
		return nil, err
	}
	return NewTx(v), err
}

// Finish discards uncommitted changes, and closes the transaction.
func (tx *Tx) Finish() {
	tx.Batch.Discard()
	tx.View.done()
}

// recover completes the interrupted operations whose first change was written,
// removes the log lines of the others, and removes temporary files. It reports
// whether the workspace must be read again.
func (tx *Tx) recover() (changed bool, err error) {
	broken, err := tx.mendBrokenLog()
	if err != nil && !tx.View.Every {
		return false, err
	}
	last, err := tx.LastOperations()
	if err != nil && !tx.View.Every { // doctor reports it
		return false, err
	}
	if broken { // doctor repairs it first
		last = nil
	}
	tx.Seq = max(tx.Seq, tx.highest)
	var happened, not []operation.Line
	for _, line := range last {
		if tx.View.happened(line.Operation) {
			happened = append(happened, line)
		} else {
			not = append(not, line)
		}
	}
	if err := tx.View.CheckPresent(); err != nil {
		return false, err
	}
	if err := tx.sweep(len(last) > 0, happened); err != nil {
		return false, err
	}
	if err := tx.decide(happened, not); err != nil {
		return false, err
	}
	if tx.Batch.Len() > 0 || tx.completed || tx.View.OnlyOwn() {
		changed = true
		tx.Op.Changes = nil
		later, err := tx.CommitAll()
		if err = cmp.Or(err, later); err != nil {
			tx.View.Warn("completing an interrupted operation failed", err)
			return true, tx.View.Ctx.Err()
		}
	}
	if tx.View.IsThere(ForgetPath) {
		if changed = true; err == nil {
			tx.View.Warn("completing a forget failed", tx.View.Store.completeForget(tx))
		}
	}
	if len(happened) == 0 {
		return changed, nil
	}
	_, err = durable.AppendCache(tx.View.Root, operation.Path, []byte("\n")) // the operation is complete
	return changed, err
}

// decide completes interrupted operations that took effect, and removes the log
// lines of the others.
func (tx *Tx) decide(happened, not []operation.Line) error {
	for _, line := range slices.Concat(happened, not) {
		for _, id := range line.Sessions {
			tx.View.own[id] = true // even if the index has it
		}
	}
	if len(not) > 0 {
		if err := tx.takeOut(not); err != nil {
			return err
		}
		if tx.Seq = not[0].Seq - 1; len(happened) > 0 {
			tx.Seq = max(tx.Seq, happened[len(happened)-1].Seq)
		}
	}
	for _, line := range happened {
		o, err := tx.View.WithTexts(line.Operation)
		if err == nil {
			err = tx.complete(o.Changes[1:])
		}
		tx.View.Warn("completing an interrupted operation failed", err)
	}
	return nil
}

// takeOut removes lines from the log: it truncates the log if they are the last
// ones, and replaces it otherwise.
func (tx *Tx) takeOut(lines []operation.Line) error {
	log, err := operation.Open(tx.View.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	end := log.Size()
	for _, line := range slices.Backward(lines) {
		if line.End() != end {
			return tx.rewriteLog(lines, log.Size())
		}
		end = line.At
	}
	return durable.CutLog(tx.View.Root, operation.Path, end)
}

// rewriteLog replaces the first size bytes of the log, without some lines.
func (tx *Tx) rewriteLog(without []operation.Line, size int64) error {
	in, err := durable.OpenRegular(tx.View.Root, operation.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = durable.Replace(tx.View.Root, operation.Path, func(w *durable.Writer) error {
		at := int64(0)
		for _, line := range without {
			if _, err := io.Copy(w, io.NewSectionReader(in, at, line.At-at)); err != nil {
				return err
			}
			at = line.End()
		}
		_, err := io.Copy(w, io.NewSectionReader(in, at, size-at))
		return err
	})
	return err
}

// LastOperations returns the lines of the log, oldest first, whose operations
// may have been interrupted.
func (tx *Tx) LastOperations() ([]operation.Line, error) {
	log, err := operation.Open(tx.View.Root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	for line, err := range log.Newest() {
		var damage *operation.DamageError
		switch {
		case errors.As(err, &damage):
			continue // doctor reports it
		case err != nil:
			return nil, err
		}
		tx.Seq = line.Seq
		break
	}
	return slices.DeleteFunc(log.Unsettled(), func(line operation.Line) bool { return len(line.Changes) == 0 }), nil
}

// hidePending hides from a reader's index the sessions that an operation in
// progress, or an interrupted one, moves: some of its files may be in the trash
// already. If the operation is a removal, its sessions count as removed; if it
// restores, they become visible when all files are restored.
func (v *View) hidePending() error {
	plan, err := v.BeingForgotten()
	if err != nil {
		return err
	}
	if plan != nil {
		for _, id := range plan.Sessions {
			v.Index.Remove(id)
			v.own[id] = true
		}
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, line := range log.Unsettled() {
		if len(line.Changes) < 2 || !slices.ContainsFunc(line.Changes, v.unmoved) || !v.happened(line.Operation) {
			continue
		}
		for _, c := range line.Changes {
			if id := SessionOf(c.File); id != "" && c.Moved != "" && v.IsThere(c.File) && !hasOther(line.Changes, c) {
				v.Index.Remove(id)
			}
		}
	}
	return nil
}

// hasOther reports whether changes have the other file of the session whose file c moves,
// its recipe or its plain file. Then the session is visible all the time.
func hasOther(changes []operation.Change, c operation.Change) bool {
	return slices.ContainsFunc(changes, func(d operation.Change) bool {
		return d.File != c.File && SessionOf(d.File) == SessionOf(c.File)
	})
}

// sweep removes the temporary files of interrupted commands. A temporary file
// may be another program's version of a file, which was being put back. It is
// then kept in the trash. This is only possible if one of the last operations
// took effect.
func (tx *Tx) sweep(interrupted bool, happened []operation.Line) error {
	names := tx.View.Index.Temporary
	if interrupted {
		names = tx.View.Folder.Temporary() // the index may not have read the folder
	}
	var made []operation.Change
	for _, line := range happened {
		made = append(made, line.Changes...)
	}
	for _, name := range []string{tempOf(HeadFile), tempOf(bookmark.Path), tempOf(operation.Path), incoming, tempOf(incoming), tempOf(ForgetPath), tempOf(ImportsPath), tempOf(ExportsPath), tempOf(LearningsPath), tempOf(ProjectsPath), tempOf(task.Path)} {
		if tx.View.IsThere(name) {
			names = append(names, name)
		}
	}
	names = append(append(names, tx.View.tempsIn(agent.Dir)...), tx.View.tempsIn(ExplorationsDir)...)
	if interrupted {
		names = append(names, tx.View.tempsIn(sessions.PackedDir)...)
	}
	tx.View.Folder.SweepCache()
	if len(names) == 0 {
		return nil
	}
	err := tx.View.Index.Change(func() error {
		for _, name := range names {
			if err := tx.keepOther(name, made); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err := durable.Remove(tx.View.Root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	if err == nil {
		tx.View.Index.Temporary = nil
	}
	return err
}

// keepOther copies a temporary file to the trash if it is neither the old nor
// the new content of one of changes: an exchange of two names was interrupted.
func (tx *Tx) keepOther(temp string, changes []operation.Change) error {
	i := slices.IndexFunc(changes, func(c operation.Change) bool { return tempOf(c.File) == temp })
	if i < 0 || changes[i].Was == nil || !tx.View.Made(changes[i]) {
		return nil
	}
	is, err := tx.View.StateNow(temp)
	if err != nil || is.Same(changes[i].Was) || is.Same(changes[i].Is) {
		return err
	}
	return tx.KeepCopy(temp)
}

// complete stages the missing changes of an operation that took effect.
func (tx *Tx) complete(changes []operation.Change) error {
	for _, c := range changes {
		unmade, err := tx.View.unmade(c)
		if err != nil {
			return err
		}
		if unmade {
			if err := tx.completeOne(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (tx *Tx) completeOne(c operation.Change) error {
	switch {
	case c.Moved != "" && c.Is == nil:
		return tx.completeMove(c)
	case c.Moved != "":
		return tx.BringBack(c)
	case c.After != "":
		_, err := tx.Batch.Replace(c.File, durable.Bytes([]byte(c.After)))
		return err
	case c.Link:
		o, err := tx.View.Outline(SessionOf(c.File))
		if err != nil {
			return nil // doctor reports it
		}
		return tx.SetContinuedTo(o)
	}
	return nil
}

// completeMove stages the move of a file to the trash. If the file has both
// names, because the file system kept both, completeMove stages the removal of
// the old one.
func (tx *Tx) completeMove(c operation.Change) error {
	if id := SessionOf(c.File); id != "" && tx.View.File(id) == c.File {
		tx.Forget(id)
	}
	if !tx.View.IsThere(c.Moved) {
		if err := durable.MakeDir(tx.View.Root, path.Dir(c.Moved)); err != nil { // an empty folder may have been removed
			return err
		}
		return tx.Batch.Move(c.File, c.Moved)
	}
	old, err := tx.View.StateNow(c.File)
	if err != nil {
		return err
	}
	if moved, err := tx.View.StateNow(tx.View.HeldBy(c)); err != nil || !moved.Same(old) {
		return err // there are two different files; keep both
	}
	tx.completed = true
	return tx.View.Index.Change(func() error { return durable.Remove(tx.View.Root, c.File) })
}
