package agent

import (
	"fmt"
	"slices"
)

// A DeliveryMode says when a message of the user comes to the agent.
type DeliveryMode string

const (
	Normal   DeliveryMode = "normal"    // nothing runs
	Steer    DeliveryMode = "steer"     // now: after the call that runs, or the message that comes in
	FollowUp DeliveryMode = "follow_up" // when the turn is over
)

// An EntryState says whether an entry may be delivered.
type EntryState string

const (
	Waiting EntryState = "waiting" // for its time
	Held    EntryState = "held"    // until the user resumes the queue
)

// An Entry is a message of the user that is not delivered yet. When it is, it becomes
// the message with its id, so it is delivered once however often that is tried.
type Entry struct {
	ID      string       `json:"id"` // of the message that it will be
	Mode    DeliveryMode `json:"delivery_mode"`
	Content string       `json:"content"`
	State   EntryState   `json:"state"`
	Cut     bool         `json:"cut,omitempty"` // of a steer: does not wait for the end of a message
}

// A Queue is the entries of an agent, oldest first: the member queue of its file. Two
// entries may say the same and are still two.
//
// A steer goes before all others; among steers, and among the others, the oldest goes
// first, one at a time. All are held when a turn is over for any other reason than that
// the agent is done, and after a restart; then nothing goes before [Queue.Resume].
type Queue []Entry

// Add puts an entry at the end, waiting, unless one with its id is there.
func (q *Queue) Add(e Entry) {
	if q.at(e.ID) < 0 {
		e.State = Waiting
		*q = append(*q, e)
	}
}

// Drop takes an entry out and reports whether it was there.
func (q *Queue) Drop(id string) bool {
	i := q.at(id)
	if i < 0 {
		return false
	}
	*q = slices.Delete(*q, i, i+1)
	return true
}

// Hold has all entries wait until [Queue.Resume].
func (q Queue) Hold() { q.set(Held) }

// Resume lets entries that are held be delivered. Tell the turn: [OnQueue].
func (q Queue) Resume() { q.set(Waiting) }

func (q Queue) set(s EntryState) {
	for i := range q {
		q[i].State = s
	}
}

func (q Queue) at(id string) int {
	return slices.IndexFunc(q, func(e Entry) bool { return e.ID == id })
}

// steer returns the steer whose turn it is, nil if none waits.
func (q Queue) steer() *Entry {
	return q.first(func(e Entry) bool { return e.Mode == Steer })
}

// next returns the entry whose turn it is when nothing runs, nil if none waits.
func (q Queue) next() *Entry {
	if e := q.steer(); e != nil {
		return e
	}
	return q.first(func(Entry) bool { return true })
}

// cut reports whether a steer waits that does not wait for the end of a message.
func (q Queue) cut() bool {
	return q.first(func(e Entry) bool { return e.Mode == Steer && e.Cut }) != nil
}

// spendCut has the steers that wait not cut the answer to one that went before.
func (q Queue) spendCut() {
	for i := range q {
		if q[i].State == Waiting {
			q[i].Cut = false
		}
	}
}

func (q Queue) first(is func(Entry) bool) *Entry {
	i := slices.IndexFunc(q, func(e Entry) bool { return e.State == Waiting && is(e) })
	if i < 0 {
		return nil
	}
	e := q[i]
	return &e
}

// problem says why q is none that a queue can be, "" if it is one.
func (q Queue) problem() string {
	for i, e := range q {
		switch {
		case e.ID == "":
			return "a queued message has no id"
		case q.at(e.ID) != i:
			return fmt.Sprintf("the queued message %q stands twice", e.ID)
		case !slices.Contains([]DeliveryMode{Normal, Steer, FollowUp}, e.Mode):
			return fmt.Sprintf("no message is delivered %q", e.Mode)
		case e.State != Waiting && e.State != Held:
			return fmt.Sprintf("no queued message is %q", e.State)
		}
	}
	return ""
}
