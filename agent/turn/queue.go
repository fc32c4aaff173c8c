package turn

import (
	"errors"
	"fmt"
	"slices"
)

// A DeliveryMode is the time at which a message of the user is delivered to the
// agent.
type DeliveryMode string

const (
	Normal   DeliveryMode = "normal"    // immediately; no turn is running
	Steer    DeliveryMode = "steer"     // now: after the running call, or after the message that is streaming
	FollowUp DeliveryMode = "follow_up" // after the turn
)

// An EntryState reports whether an entry may be delivered.
type EntryState string

const (
	Waiting EntryState = "waiting" // to be delivered
	Held    EntryState = "held"    // until the user resumes the queue
)

// An Entry is an undelivered message of the user. It is delivered as the
// message with its id, so it is delivered only once even if the delivery is
// repeated.
type Entry struct {
	ID      string       `json:"id"` // of the message that it will become
	Mode    DeliveryMode `json:"delivery_mode"`
	Content string       `json:"content"`
	State   EntryState   `json:"state"`
	Cut     bool         `json:"cut,omitempty"` // of a steer: interrupt a streaming message
}

// A Queue is the list of an agent's entries, oldest first, stored as the member
// queue of its file. Entries with the same content are distinct.
//
// Entries are delivered one at a time: steers first, then the others, each
// oldest first. All are held when a turn ends for any reason other than
// Finished, and after a restart; held entries are delivered only after
// [Queue.Resume].
type Queue []Entry

// Add appends a waiting entry, unless the queue has an entry with its id.
func (q *Queue) Add(e Entry) {
	if !q.Has(e.ID) {
		e.State = Waiting
		*q = append(*q, e)
	}
}

// Drop removes an entry and reports whether it existed.
func (q *Queue) Drop(id string) bool {
	i := q.at(id)
	if i < 0 {
		return false
	}
	*q = slices.Delete(*q, i, i+1)
	return true
}

// Restore puts back the entries of was that q no longer has and that become one
// of the messages in unwritten. An entry leaves the stored queue in the same
// change that writes its message, not before.
func (q *Queue) Restore(was Queue, unwritten []Node) {
	for i, e := range was {
		becomes := func(n Node) bool { return n.ID == e.ID }
		if !q.Has(e.ID) && slices.ContainsFunc(unwritten, becomes) {
			*q = slices.Insert(*q, min(i, len(*q)), e)
		}
	}
}

// Hold marks all entries as held until [Queue.Resume].
func (q Queue) Hold() { q.set(Held) }

// Resume marks all entries as waiting. The caller must then pass [OnQueue] to the
// turn.
func (q Queue) Resume() { q.set(Waiting) }

func (q Queue) set(s EntryState) {
	for i := range q {
		q[i].State = s
	}
}

// Has reports whether q has an entry with an id.
func (q Queue) Has(id string) bool { return q.at(id) >= 0 }

func (q Queue) at(id string) int {
	return slices.IndexFunc(q, func(e Entry) bool { return e.ID == id })
}

// steer returns the next steer, or nil if none is waiting.
func (q Queue) steer() *Entry {
	return q.first(func(e Entry) bool { return e.Mode == Steer })
}

// next returns the next entry to deliver to an idle agent, or nil if none is
// waiting.
func (q Queue) next() *Entry {
	if e := q.steer(); e != nil {
		return e
	}
	return q.first(func(Entry) bool { return true })
}

// cut reports whether a waiting steer may interrupt a message.
func (q Queue) cut() bool {
	return q.first(func(e Entry) bool { return e.Mode == Steer && e.Cut }) != nil
}

// spendCut removes the permission to interrupt from all waiting steers, so that
// they do not interrupt the answer to the steer just delivered.
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

// Check returns an error if q is not a valid queue.
func (q Queue) Check() error {
	for i, e := range q {
		switch {
		case e.ID == "":
			return errors.New("a queued message has no id")
		case q.at(e.ID) != i:
			return fmt.Errorf("duplicate queued message %q", e.ID)
		case !slices.Contains([]DeliveryMode{Normal, Steer, FollowUp}, e.Mode):
			return fmt.Errorf("unknown delivery_mode %q", e.Mode)
		case e.State != Waiting && e.State != Held:
			return fmt.Errorf("unknown state %q of a queued message", e.State)
		}
	}
	return nil
}
