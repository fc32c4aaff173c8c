package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/task"
)

// recovered opens a workspace under the lock, and completes or reverts
// interrupted operations.
func (w *base) recovered(ctx context.Context, root *os.Root, m mode) (*Tx, error) {
	tx, err := w.loadTx(ctx, root, m)
	if err != nil {
		return nil, err
	}
	if m.every {
		if err := tx.View.index.Whole(); err != nil {
			tx.finish()
			return nil, err
		}
	}
	changed, err := tx.recover()
	if err == nil && changed {
		highest := tx.highest
		tx.finish()
		if tx, err = w.loadTx(ctx, root, m); err == nil {
			if _, err = tx.lastOperations(); tx.View.every {
				err = nil
			}
			tx.seq = max(tx.seq, highest)
		}
	}
	if err != nil && tx != nil {
		tx.finish()
		return nil, err
	}
	return tx, err
}

// loadTx begins a transaction, which must be finished.
func (w *base) loadTx(ctx context.Context, root *os.Root, m mode) (*Tx, error) {
	v, err := w.load(ctx, root, m)
	if v == nil {
		return nil, err
	}
	return newTx(v), err
}

// finish discards uncommitted changes, and closes the transaction.
func (tx *Tx) finish() {
	tx.batch.Discard()
	tx.View.done()
}

// recover completes the interrupted operations whose first change was written,
// removes the log lines of the others, and removes temporary files. It reports
// whether the workspace must be read again.
func (tx *Tx) recover() (changed bool, err error) {
	broken, err := tx.mendBrokenLog()
	if err != nil && !tx.View.every {
		return false, err
	}
	last, err := tx.lastOperations()
	if err != nil && !tx.View.every { // doctor reports it
		return false, err
	}
	if broken { // doctor repairs it first
		last = nil
	}
	tx.seq = max(tx.seq, tx.highest)
	var happened, not []operation.Line
	for _, line := range last {
		if tx.View.happened(line.Operation) {
			happened = append(happened, line)
		} else {
			not = append(not, line)
		}
	}
	if err := tx.View.checkPresent(); err != nil {
		return false, err
	}
	if err := tx.sweep(len(last) > 0, happened); err != nil {
		return false, err
	}
	if err := tx.decide(happened, not); err != nil {
		return false, err
	}
	if tx.batch.Len() > 0 || tx.completed || tx.View.onlyOwn() {
		changed = true
		tx.op.Changes = nil
		later, err := tx.commitAll()
		if err = cmp.Or(err, later); err != nil {
			tx.View.follow("completing an interrupted operation failed", err)
			return true, tx.View.ctx.Err()
		}
	}
	if tx.View.isThere(forgetPath) {
		if changed = true; err == nil {
			tx.View.follow("completing a forget failed", tx.View.store.completeForget(tx))
		}
	}
	if len(happened) == 0 {
		return changed, nil
	}
	_, err = durable.AppendCache(tx.View.root, operation.Path, []byte("\n")) // the operation is complete
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
		if tx.seq = not[0].Seq - 1; len(happened) > 0 {
			tx.seq = max(tx.seq, happened[len(happened)-1].Seq)
		}
	}
	for _, line := range happened {
		o, err := tx.View.withTexts(line.Operation)
		if err == nil {
			err = tx.complete(o.Changes[1:])
		}
		tx.View.follow("completing an interrupted operation failed", err)
	}
	return nil
}

// takeOut removes lines from the log: it truncates the log if they are the last
// ones, and replaces it otherwise.
func (tx *Tx) takeOut(lines []operation.Line) error {
	log, err := operation.Open(tx.View.root)
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
	return durable.CutLog(tx.View.root, operation.Path, end)
}

// rewriteLog replaces the first size bytes of the log, without some lines.
func (tx *Tx) rewriteLog(without []operation.Line, size int64) error {
	in, err := durable.OpenRegular(tx.View.root, operation.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = durable.Replace(tx.View.root, operation.Path, func(w *durable.Writer) error {
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

// lastOperations returns the lines of the log, oldest first, whose operations
// may have been interrupted.
func (tx *Tx) lastOperations() ([]operation.Line, error) {
	log, err := operation.Open(tx.View.root)
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
		tx.seq = line.Seq
		break
	}
	return slices.DeleteFunc(log.Unsettled(), func(line operation.Line) bool { return len(line.Changes) == 0 }), nil
}

// hidePending hides from a reader's index the sessions that an operation in
// progress, or an interrupted one, moves: some of its files may be in the trash
// already. If the operation is a removal, its sessions count as removed; if it
// restores, they become visible when all files are restored.
func (v *View) hidePending() error {
	plan, err := v.beingForgotten()
	if err != nil {
		return err
	}
	if plan != nil {
		for _, id := range plan.Sessions {
			v.index.Remove(id)
			v.own[id] = true
		}
	}
	log, err := operation.Open(v.root)
	if err != nil {
		return err
	}
	defer log.Close()
	for _, line := range log.Unsettled() {
		if len(line.Changes) < 2 || !slices.ContainsFunc(line.Changes, v.unmoved) || !v.happened(line.Operation) {
			continue
		}
		for _, c := range line.Changes {
			if id := sessionOf(c.File); id != "" && c.Moved != "" && v.isThere(c.File) {
				v.index.Remove(id)
			}
		}
	}
	return nil
}

// unmoved reports whether c moves a file to or from the trash and was not
// carried out.
func (v *View) unmoved(c operation.Change) bool { return c.Moved != "" && !v.made(c) }

// sweep removes the temporary files of interrupted commands. A temporary file
// may be another program's version of a file, which was being put back. It is
// then kept in the trash. This is only possible if one of the last operations
// took effect.
func (tx *Tx) sweep(interrupted bool, happened []operation.Line) error {
	names := tx.View.index.Temporary
	if interrupted {
		names = tx.View.folder.Temporary() // the index may not have read the folder
	}
	var made []operation.Change
	for _, line := range happened {
		made = append(made, line.Changes...)
	}
	for _, name := range []string{tempOf(headFile), tempOf(bookmark.Path), tempOf(operation.Path), incoming, tempOf(incoming), tempOf(forgetPath), tempOf(importsPath), tempOf(exportsPath), tempOf(learningsPath), tempOf(task.Path)} {
		if tx.View.isThere(name) {
			names = append(names, name)
		}
	}
	names = append(append(names, tx.View.tempsIn(agent.Dir)...), tx.View.tempsIn(explorationsDir)...)
	tx.View.folder.SweepCache()
	if len(names) == 0 {
		return nil
	}
	err := tx.View.index.Change(func() error {
		for _, name := range names {
			if err := tx.keepOther(name, made); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err := durable.Remove(tx.View.root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
	if err == nil {
		tx.View.index.Temporary = nil
	}
	return err
}

// keepOther copies a temporary file to the trash if it is neither the old nor
// the new content of one of changes: an exchange of two names was interrupted.
func (tx *Tx) keepOther(temp string, changes []operation.Change) error {
	i := slices.IndexFunc(changes, func(c operation.Change) bool { return tempOf(c.File) == temp })
	if i < 0 || changes[i].Was == nil || !tx.View.made(changes[i]) {
		return nil
	}
	is, err := tx.View.stateNow(temp)
	if err != nil || is.Same(changes[i].Was) || is.Same(changes[i].Is) {
		return err
	}
	return tx.keepCopy(temp)
}

// tempOf returns the temporary name of a file.
func tempOf(name string) string {
	return path.Join(path.Dir(name), "."+path.Base(name)+durable.TempSuffix)
}

func (v *View) isThere(name string) bool {
	_, err := v.root.Lstat(name)
	return err == nil
}

// happened reports whether an operation, which may have been interrupted, took
// effect: its first change was made.
func (v *View) happened(o *operation.Operation) bool {
	c := o.Changes[0]
	if v.made(c) {
		return true
	}
	if c.Is == nil || c.Was == nil { // it was not moved, or does not exist
		return false
	}
	if temp, err := v.stateNow(tempOf(c.File)); err == nil && temp.Same(c.Is) {
		return false // its target was not renamed
	}
	data, err := durable.ReadFile(v.root, c.File)
	if err != nil || stateOfBytes(data, nil).Same(c.Was) {
		return false
	}
	message, added := o.Args["message"].(string)
	return !added || bytes.Contains(data, []byte(message)) // changed since
}

// made reports whether a file is in the state after c.
func (v *View) made(c operation.Change) bool {
	info, err := v.root.Lstat(c.File)
	if err == nil && c.Is != nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = v.root.Stat(c.File)
	}
	switch {
	case c.Is == nil:
		return errors.Is(err, fs.ErrNotExist)
	case err != nil:
		return false
	case c.Was == nil:
		return true
	case c.Is.Size == info.Size() && c.Is.MTime == mtimeOf(info.ModTime()):
		return true
	case c.Is.CRC32C == "" || c.Is.Size != info.Size():
		return false
	}
	is, err := v.stateNow(c.File)
	return err == nil && is.Same(c.Is)
}

// stillAs is like made, but if c created a file, it only has to exist.
func (v *View) stillAs(c operation.Change) bool {
	if c.Is != nil {
		c.Was = c.Is
	}
	return v.made(c)
}

// holdsAsLeft reports whether a file has the content after c, as far as the log
// has it: another program may have changed it without changing size and time.
func (v *View) holdsAsLeft(c operation.Change) bool {
	if c.Is == nil || c.Is.CRC32C == "" {
		return true
	}
	is, err := v.stateNow(c.File)
	return err == nil && is.Same(c.Is)
}

// stateNow returns the current state of a file.
func (v *View) stateNow(name string) (*operation.State, error) {
	data, err := durable.ReadFile(v.root, name)
	if err != nil {
		return nil, err
	}
	return &operation.State{Size: int64(len(data)), CRC32C: hex32(crc32c.Of(data))}, nil
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

// unmade reports whether a file is in the state before c.
func (v *View) unmade(c operation.Change) (bool, error) {
	switch there := v.isThere(c.File); {
	case c.Was == nil:
		return !there && (c.Moved == "" || v.isThere(c.Moved)), nil
	case !there:
		return false, nil
	case c.Is == nil:
		return true, nil
	case v.made(c):
		return false, nil
	}
	is, err := v.stateNow(c.File)
	return err == nil && is.Same(c.Was), err
}

func (tx *Tx) completeOne(c operation.Change) error {
	switch {
	case c.Moved != "" && c.Is == nil:
		return tx.completeMove(c)
	case c.Moved != "":
		return tx.bringBack(c)
	case c.After != "":
		_, err := tx.batch.Replace(c.File, durable.Bytes([]byte(c.After)))
		return err
	case c.Link:
		o, err := tx.View.outline(sessionOf(c.File))
		if err != nil {
			return nil // doctor reports it
		}
		return tx.setContinuedTo(o)
	}
	return nil
}

// completeMove stages the move of a file to the trash. If the file has both
// names, because the file system kept both, completeMove stages the removal of
// the old one.
func (tx *Tx) completeMove(c operation.Change) error {
	if id := sessionOf(c.File); id != "" {
		tx.forget(id)
	}
	if !tx.View.isThere(c.Moved) {
		if err := durable.MakeDir(tx.View.root, path.Dir(c.Moved)); err != nil { // an empty folder may have been removed
			return err
		}
		return tx.batch.Move(c.File, c.Moved)
	}
	old, err := tx.View.stateNow(c.File)
	if err != nil {
		return err
	}
	if moved, err := tx.View.stateNow(tx.View.heldBy(c)); err != nil || !moved.Same(old) {
		return err // there are two different files; keep both
	}
	tx.completed = true
	return tx.View.index.Change(func() error { return durable.Remove(tx.View.root, c.File) })
}
