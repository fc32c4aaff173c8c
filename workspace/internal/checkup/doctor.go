package checkup

import (
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// dialectOf returns the dialect to write links in, and whether to rewrite them.
func dialectOf(o doctor.Options) (d session.Dialect, rewrite bool, err error) {
	if o.Dialect == "" {
		return 0, false, nil
	}
	if d, err = store.ParseDialect(o.Dialect); err != nil {
		return 0, false, err
	}
	if !o.Fix {
		return 0, false, &fault.Error{Code: fault.Usage, Message: "only a repair writes another dialect"}
	}
	return d, true, nil
}

// Run checks every file of a workspace and, if o.Fix is set, repairs what
// can be repaired.
func Run(ctx context.Context, w *store.Store, o doctor.Options) (*doctor.Report, error) {
	w = w.Quiet()
	dialect, rewrite, err := dialectOf(o)
	if err != nil {
		return &doctor.Report{}, err
	}
	examine := func(v *store.View, tx *store.Tx) (e examination, err error) {
		v.Forgetful = !o.Fix
		d, err := newCheckup(v, tx)
		if err != nil {
			return e, err
		}
		d.rewrite, d.dialect = rewrite, dialect
		err = d.run()
		return examination{problems: d.problems, onlyOwn: v.OnlyOwn()}, err
	}
	if o.Fix {
		return fix(ctx, w, examine)
	}
	e, err := examineAtRest(ctx, w, examine)
	for i, p := range e.problems {
		if p.Kind == doctor.PendingForget {
			continue // reported by a note, or as damage
		}
		if p.Kind == doctor.LeftOver || e.interrupted && passes(p) || e.onlyOwn && p.Kind == doctor.StaleIndex {
			e.problems[i].Note = true
			e.problems[i].Detail += "; the next command that changes something completes or discards the write"
		}
	}
	return newReport(e.problems), err
}

func newReport(problems []doctor.Problem) *doctor.Report {
	wrong := func(p doctor.Problem) bool { return !p.Fixed && !p.Note }
	return &doctor.Report{OK: !slices.ContainsFunc(problems, wrong), Problems: problems}
}

// An examination is the result of an examiner.
type examination struct {
	problems    []doctor.Problem
	onlyOwn     bool // see [store.View.OnlyOwn]
	interrupted bool // an earlier writer was interrupted
}

// An examiner checks every file of a workspace; if tx is not nil, it repairs
// problems.
type examiner func(v *store.View, tx *store.Tx) (examination, error)

// fix repairs session files, and then, under the lock, calls examine, which
// repairs the rest.
func fix(ctx context.Context, w *store.Store, examine examiner) (*doctor.Report, error) {
	op := operation.Operation{Verb: "doctor --fix"}
	completed, err := completeRestores(ctx, w)
	if err != nil {
		return &doctor.Report{Problems: completed}, err
	}
	w = w.Restoring()
	mended, err := store.Locked(ctx, w, op, store.Mode{Every: true}, func(tx *store.Tx) ([]doctor.Problem, error) { return mendSessions(tx) })
	mended = append(completed, mended...)
	if err != nil {
		return &doctor.Report{Problems: mended}, err
	}
	e, err := store.Locked(ctx, w, op, store.Mode{Every: true}, func(tx *store.Tx) (examination, error) { return examine(tx.View, tx) })
	report := newReport(e.problems)
	report.Problems = slices.Insert(report.Problems, 0, mended...)
	return report, err
}

// examineAtRest calls examine, which writes nothing, while no writer is active.
// If writers stay active, it omits the problems that a write in progress may
// cause.
func examineAtRest(ctx context.Context, w *store.Store, examine examiner) (e examination, err error) {
	root, err := w.Open(ctx)
	if err != nil {
		return e, err
	}
	defer root.Close()
	end := time.Now().Add(min(w.Opts.Wait, time.Second))
	for {
		before := store.Logged(root)
		e, err = store.Read(ctx, w, func(v *store.View) (examination, error) { return examine(v, nil) })
		if err != nil || !slices.ContainsFunc(e.problems, passes) {
			return e, err
		}
		if !writelock.Held(root, store.StateDir) && store.Logged(root) == before {
			break
		}
		if time.Now().After(end) {
			e.problems = slices.DeleteFunc(e.problems, passes)
			return e, nil
		}
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	log, err := operation.Open(root)
	if err != nil {
		return e, nil // the report has it
	}
	defer log.Close()
	e.interrupted = slices.ContainsFunc(log.Unsettled(), func(l operation.Line) bool { return len(l.Changes) > 0 })
	return e, nil
}

// passes reports whether a write in progress may cause p.
func passes(p doctor.Problem) bool {
	return slices.Contains([]string{doctor.LeftOver, doctor.StaleIndex, doctor.OneSidedLink, doctor.LostHead, doctor.LostBookmark, doctor.LostTree, doctor.LostAgentHead, doctor.PendingForget, doctor.DamagedPack, doctor.UnusedPack, doctor.UnfinishedRestore}, p.Kind)
}
