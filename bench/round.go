package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// A job is one column of the table.
type job int

const (
	first job = iota
	again
	later
	branch
	load
	add
)

var (
	jobs     = []job{first, again, later, branch, load, add}
	jobNames = []string{"checkpoint, never seen before", "checkpoint, nothing new", "checkpoint, one message later",
		"branch at 5,000", "load", "add to an index of 100,000"}
)

// A task is a job as one candidate does it. Only do is timed.
type task struct {
	before func() error // may be nil
	do     func() error
	verify func() error
}

// A running candidate is ready for its tasks. Those of a chat follow each other
// in the order of the jobs.
type running struct {
	tasks map[job]task
	close func() error // checks what only shows at the end
}

// An opener makes a candidate ready in the folder dir, which is there and empty.
type opener func(ctx context.Context, w *work, dir string) (*running, error)

// A footprint is what the growing checkpoints take on disk, and the mean time of each.
type footprint struct {
	how   string
	bytes int64
	each  time.Duration
}

// laps are the times of the growing checkpoints, and of upkeep.
type laps struct {
	sum time.Duration
	n   int // number of checkpoints
}

// do adds the time of f.
func (l *laps) do(f func() error) error {
	start := time.Now()
	err := f()
	l.sum += time.Since(start)
	return err
}

// checkpoint adds the time of f, which makes a checkpoint.
func (l *laps) checkpoint(f func() error) error {
	l.n++
	return l.do(f)
}

func (l *laps) each() time.Duration { return l.sum / time.Duration(l.n) }

type times map[string]map[job][]time.Duration // by key of the candidate

type runner struct {
	*work
	candidates []candidate
	rounds     int
	log        io.Writer
	times      times
	footprints []footprint
}

func (r *runner) run(ctx context.Context, in map[string]bool) error {
	if in["chat"] {
		for round := range r.rounds {
			fmt.Fprintf(r.log, "chat: round %d of %d\n", round+1, r.rounds)
			chats := func(c candidate) opener { return c.chat }
			err := r.opened(ctx, chats, func(open map[string]*running) error { return r.round(ctx, open, round) })
			if err != nil {
				return err
			}
		}
	}
	if in["index"] {
		fmt.Fprintf(r.log, "index: %d sessions\n", r.sessions)
		indexes := func(c candidate) opener { return c.index }
		err := r.opened(ctx, indexes, func(open map[string]*running) error {
			for round := range r.rounds * r.adds {
				if err := r.round(ctx, open, round); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if in["fifty"] {
		return r.fifty(ctx)
	}
	return nil
}

// opened calls f with the candidates that have an opener, each in a folder of
// its own.
func (r *runner) opened(ctx context.Context, of func(candidate) opener, f func(map[string]*running) error) (err error) {
	open := map[string]*running{}
	dir := filepath.Join(r.dir, "run")
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, c := range r.candidates {
		if of(c) == nil {
			continue
		}
		own := filepath.Join(dir, c.key)
		if err := os.MkdirAll(own, 0o700); err != nil {
			return err
		}
		one, openErr := of(c)(ctx, r.work, own)
		if openErr != nil {
			return fmt.Errorf("%s: %w", c.name, openErr)
		}
		open[c.key] = one
		defer func() {
			if closeErr := one.close(); err == nil && closeErr != nil {
				err = fmt.Errorf("%s: %w", c.name, closeErr)
			}
		}()
	}
	return f(open)
}

// columns are the jobs that were done.
func (t times) columns() []job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j job) bool { return len(t["raw"][j]) == 0 })
}

// round does each job once with each candidate, in an order that differs
// between rounds and jobs, but not between runs.
func (r *runner) round(ctx context.Context, open map[string]*running, round int) error {
	for _, j := range jobs {
		for _, i := range rand.New(rand.NewPCG(uint64(round), uint64(j))).Perm(len(r.candidates)) {
			c := r.candidates[i]
			run := open[c.key]
			if run == nil {
				continue
			}
			t, ok := run.tasks[j]
			if !ok {
				continue
			}
			took, err := t.measure()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s: %s: %w", c.name, jobNames[j], err)
			}
			if r.times[c.key] == nil {
				r.times[c.key] = map[job][]time.Duration{}
			}
			r.times[c.key][j] = append(r.times[c.key][j], took)
		}
	}
	return nil
}

// measure does a task, beginning with an empty write cache and no garbage.
func (t task) measure() (time.Duration, error) {
	if t.before != nil {
		if err := t.before(); err != nil {
			return 0, err
		}
	}
	settle()
	runtime.GC()
	start := time.Now()
	err := t.do()
	took := time.Since(start)
	if err != nil {
		return 0, err
	}
	return took, t.verify()
}

// ratio returns the ratio of the times of a and b, the median of the rounds, ""
// if one of them did not do the job.
func (t times) ratio(j job, a, b string) string {
	of, to := t[a][j], t[b][j]
	if len(of) == 0 || len(of) != len(to) {
		return ""
	}
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = float64(of[i]) / float64(to[i])
	}
	return figure(median(ratios))
}

func median[T float64 | time.Duration](list []T) T {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

func (r *runner) fifty(ctx context.Context) error {
	for _, c := range r.candidates {
		if c.fifty == nil {
			continue
		}
		fmt.Fprintf(r.log, "growing checkpoints: %s\n", c.name)
		dir := filepath.Join(r.dir, "fifty")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		list, err := c.fifty(ctx, r.work, dir)
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("%s: growing checkpoints: %w", c.name, err)
		}
		for _, f := range list {
			r.footprints = append(r.footprints, footprint{c.name + ", " + f.how, f.bytes, f.each})
		}
	}
	return nil
}

// bytesIn returns the bytes of all files in and below dir, by their names.
func bytesIn(dir string, counts func(name string) bool) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !counts(d.Name()) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

func anyName(string) bool { return true }
