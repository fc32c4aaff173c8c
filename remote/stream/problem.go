package stream

import (
	"fmt"

	"github.com/bough-dev/bough/remote/record"
)

// A Kind is a kind of Problem.
type Kind string

// The kinds of problems. Unreadable and Withheld may go away by themselves, and Newer goes away
// when bough is updated; the others mean that a program changed the store, or that a machine is
// defective.
const (
	Unreadable Kind = "unreadable"  // the store did not return the object
	Withheld   Kind = "withheld"    // a record is not there, but another one says or shows that it was
	RolledBack Kind = "rolled_back" // the last records that were seen before are gone
	Swapped    Kind = "swapped"     // a record is not the one that follows the record before it
	Forged     Kind = "forged"      // not encrypted with the key of the remote, or not signed by its machine
	Malformed  Kind = "malformed"   // what no version of bough writes
	Lost       Kind = "lost"        // records of a retired machine are not there; what has seen them is read without them
	Newer      Kind = "newer"       // a newer version of bough wrote it in a format of its own
)

// A Problem is why a stream is not read on, at an object. Other streams are.
type Problem struct {
	Kind    Kind           `json:"kind"`
	Machine record.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`
	Object  string         `json:"object"`
	Detail  string         `json:"detail"`

	err error
}

// stays reports whether the object is there, and no later answer of the store is better, unless it is being copied.
func (p *Problem) stays() bool { return p.Kind != Unreadable && p.Kind != Newer }

func (p *Problem) Error() string { return fmt.Sprintf("%s: %s", p.Object, p.Detail) }

// Unwrap returns the cause, which may be nil.
func (p *Problem) Unwrap() error { return p.err }

// A CopiedError reports that a program with another copy of this machine's key wrote to its stream.
type CopiedError struct {
	Machine record.Machine
	Seq     uint64 // of the first record that is not that of this copy
}

func (e *CopiedError) Error() string {
	return fmt.Sprintf("another copy of this workspace wrote record %d of the machine %s", e.Seq, e.Machine)
}
