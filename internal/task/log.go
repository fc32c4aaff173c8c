package task

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// A Log is what records say, taken together. The zero Log is empty.
type Log struct {
	messages map[string]*State
	versions map[string][]version // by their anchors
	orders   map[string]int       // the highest, by line
	count    int                  // of all versions
}

// A version is a version of a task; a higher number is newer.
type version struct {
	Task
	number int
}

// A State is what is known of a message that was looked at.
type State struct {
	Done     bool // looked at with success
	Failures int  // how often it failed, if it is not done
	Error    string
	At       time.Time // when that was recorded
}

// Open reports whether the message is to be looked at, if it is tracked.
func (s State) Open() bool { return !s.Done && s.Failures < Attempts }

// Status returns what s says of a message that is tracked, and that somebody is
// looking at if running is true.
func (s State) Status(running bool) Status {
	switch {
	case s.Done:
		return Success
	case running:
		return Running
	case s.Open():
		return Pending
	}
	return Failed
}

// Add takes a record in, which comes after all the others.
func (l *Log) Add(r *Record) {
	if l.messages == nil {
		*l = Log{messages: map[string]*State{}, versions: map[string][]version{}, orders: map[string]int{}}
	}
	for _, id := range r.Messages {
		s := l.messages[id]
		if s == nil {
			s = &State{}
			l.messages[id] = s
		}
		switch {
		case r.Status == Success:
			*s = State{Done: true, At: r.Time}
		case !s.Done:
			*s = State{Failures: s.Failures + 1, Error: r.Error, At: r.Time}
		}
	}
	for _, t := range r.Tasks {
		l.count++
		l.versions[t.Message] = append(l.versions[t.Message], version{t, l.count})
		l.orders[r.Session] = max(l.orders[r.Session], t.Order)
	}
}

// State returns what is known of a message.
func (l *Log) State(message string) State {
	if s := l.messages[message]; s != nil {
		return *s
	}
	return State{}
}

// Order returns the highest order of the tasks that were found in a line.
func (l *Log) Order(line string) int { return l.orders[line] }

// Visible returns the tasks of a path, given its messages from the root, in their
// order: of each the version that is anchored last.
func (l *Log) Visible(path iter.Seq[string]) []Task {
	newest := map[string]version{}
	for id := range path {
		for _, v := range l.versions[id] {
			newest[v.ID] = v
		}
	}
	return sorted(newest)
}

// All returns the tasks that are anchored at any of the messages, in their order: of
// each the version that came last.
func (l *Log) All(messages iter.Seq[string]) []Task {
	newest := map[string]version{}
	for id := range messages {
		for _, v := range l.versions[id] {
			if v.number > newest[v.ID].number {
				newest[v.ID] = v
			}
		}
	}
	return sorted(newest)
}

func sorted(newest map[string]version) []Task {
	list := make([]Task, 0, len(newest))
	for _, v := range newest {
		list = append(list, v.Task)
	}
	slices.SortFunc(list, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}
