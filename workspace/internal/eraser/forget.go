package eraser

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// Forget permanently deletes a conversation.
func Forget(ctx context.Context, w *store.Store, name string, o forget.Options) (*forget.Result, error) {
	plan := func(v *store.View) (*forget.Result, *store.ForgetPlan, error) {
		ids, err := forgettable(v, name)
		if err != nil {
			return nil, nil, err
		}
		return planForget(v, ids, o)
	}
	if o.DryRun {
		return store.Read(ctx, w, func(v *store.View) (*forget.Result, error) {
			f, _, err := plan(v)
			return f, err
		})
	}
	op := operation.Operation{Verb: "forget", Auto: true} // undo skips it
	return store.Locked(ctx, w, op, store.Mode{}, func(tx *store.Tx) (*forget.Result, error) {
		f, p, err := plan(tx.View)
		if err != nil {
			return f, err
		}
		if err := tx.Conclude(keepPlan(tx, f.Session, p)); err != nil {
			return f, err
		}
		return f, CompleteForget(tx)
	})
}

// keepPlan stages the file of a plan to forget a session.
func keepPlan(tx *store.Tx, id string, p *store.ForgetPlan) error {
	data := append(rawjson.Compact(p), '\n')
	info, err := tx.Batch.Create(store.ForgetPath, durable.Bytes(data))
	if err != nil {
		return err
	}
	tx.Op.Args = store.Args{"session": id}
	tx.Op.Sessions = p.Sessions
	tx.Changes("", operation.Change{File: store.ForgetPath, Is: store.StateOfBytes(data, info)})
	return nil
}

// CompleteForget executes the stored plan of a forget and removes it. Each step
// can be repeated.
func CompleteForget(tx *store.Tx) error {
	plan, err := tx.View.BeingForgotten()
	if err != nil || plan == nil {
		return err
	}
	e := newErasure(plan.Sessions, plan.Messages, plan.Titles)
	steps := []func() error{
		func() error { return keepSourcesOut(tx, plan) },
		func() error { return erase(tx, e) },
		func() error { return eraseAgents(tx, e) },
		func() error { return removeForgotten(tx, plan, e) },
		func() error {
			return rewriteLines(tx, store.ExportsPath, func(line []byte) []byte {
				if e.sessions[gjson.GetBytes(line, "session_id").Str] {
					return nil
				}
				return line
			})
		},
		func() error { return tx.EraseFromPacks(e.hasItem) },
		func() error { return removeThere(tx.View.Root, store.HandoverDir) },
		func() error { return removeThere(tx.View.Root, session.CacheDir) },
		func() error {
			sums := map[string]bool{}
			for _, sum := range plan.Files {
				sums[sum] = true
			}
			_, err := purgeAttachments(tx, sums)
			return err
		},
		func() error { // the operation takes effect although its file is deleted
			_, err := durable.Append(tx.View.Root, operation.Path, []byte("\n"))
			return err
		},
		func() error { return durable.Remove(tx.View.Root, store.ForgetPath) },
	}
	for _, step := range steps {
		if err := cmp.Or(tx.View.Ctx.Err(), step()); err != nil {
			return err
		}
	}
	return nil
}

// removeThere deletes a folder, which need not exist.
func removeThere(root *os.Root, dir string) error {
	if _, err := root.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return durable.RemoveAll(root, dir)
}

// keepSourcesOut records that imports skip the sources of forgotten
// conversations.
func keepSourcesOut(tx *store.Tx, plan *store.ForgetPlan) error {
	ledger, err := importer.ReadLedger(tx.View.Root)
	if err != nil {
		return err
	}
	var lines []byte
	for _, s := range plan.Sources {
		was := ledger.Ends[s.Last]
		if s.ID != "" {
			was = ledger.Said[importer.SourceKey(s.Format, s.ID)]
		}
		if was != nil && was.Conversation.Out {
			continue
		}
		row := &importer.ConvRow{}
		row.Conversation.Format, row.Conversation.ID, row.Conversation.Last = s.Format, s.ID, s.Last
		row.Conversation.Session, row.Conversation.Out = plan.Sessions[0], true
		lines = append(append(lines, rawjson.Compact(row)...), '\n')
	}
	if len(lines) == 0 {
		return nil
	}
	_, err = durable.Append(tx.View.Root, store.ImportsPath, lines)
	return err
}

// removeForgotten deletes the files of sessions, also in the trash, other
// references to them in the trash, and a head in one of them, and rebuilds the
// index. It also deletes damaged packs that were moved to the trash.
func removeForgotten(tx *store.Tx, plan *store.ForgetPlan, e *erasure) error {
	var names []string
	for _, id := range plan.Sessions {
		names = append(names, session.FileName(id), session.FileName(id)+store.BackupSuffix, sessions.RecipeFile(id))
	}
	if h, ok := tx.View.Head(); ok && e.sessions[h.Session] {
		names = append(names, store.HeadFile)
	}
	list, err := tx.View.InTheTrash()
	if err != nil {
		return err
	}
	for _, f := range list.Files {
		id := store.SessionOf(strings.TrimSuffix(f.File, store.BackupSuffix))
		if e.sessions[id] || store.PackOf(f.File) != "" || id == "" && mentions(tx.View, tx.View.NameOf(f), plan.Sessions) {
			names = append(names, tx.View.NameOf(f))
		}
	}
	err = tx.View.Index.Change(func() error {
		for _, name := range names {
			if !tx.View.IsThere(name) {
				continue
			}
			if err := durable.Remove(tx.View.Root, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range plan.Sessions {
		tx.Forget(id)
	}
	tx.View.Index.Rewrite()
	return tx.View.Index.Save()
}

// mentions reports whether the content of a file has the id of one of the
// sessions.
func mentions(v *store.View, file string, ids []string) bool {
	data, err := durable.ReadFile(v.Root, file)
	return err == nil && slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(string(data), id) })
}
