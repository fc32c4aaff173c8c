package task

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// A Log is the combination of all records. The zero Log is empty.
type Log struct {
	messages map[string]*State
	versions map[string][]version // by their anchors
	orders   map[string]int       // the highest one, by line
	count    int                  // of all versions
}

// A version is a version of a task; a higher number is newer.
type version struct {
	Task
	number int
}

// A State is the processing state of a message.
type State struct {
	Done     bool // processed successfully
	Failures int  // number of failures, if not done
	Error    string
	At       time.Time // time of the record
}

// Open reports whether the message must be processed if it is tracked.
func (s State) Open() bool { return !s.Done && s.Failures < Attempts }

// Status returns the status of a tracked message; running means that it is being
// processed.
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

// Add adds a record, which must be newer than all others.
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

// State returns the state of a message.
func (l *Log) State(message string) State {
	if s := l.messages[message]; s != nil {
		return *s
	}
	return State{}
}

// Order returns the highest order of a task in a line.
func (l *Log) Order(line string) int { return l.orders[line] }

// Visible returns the tasks of a path, given its messages from the root, in order.
// Each has the version that is anchored last on the path.
func (l *Log) Visible(path iter.Seq[string]) []Task {
	newest := map[string]version{}
	for id := range path {
		for _, v := range l.versions[id] {
			newest[v.ID] = v
		}
	}
	return sorted(newest)
}

// All returns the tasks that are anchored at any of the messages, in order. Each
// has its newest version.
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
