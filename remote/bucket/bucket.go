// Package bucket stores the objects of a remote: byte strings with names, which are created once,
// read, listed and deleted. They never change.
//
// A [Folder] stores them as files, a [Memory] in memory, and package s3 in a bucket of S3 or a
// compatible service. [Probe] checks that a store creates an object only once.
package bucket

import (
	"context"
	"errors"
	"fmt"

	"github.com/bough-dev/bough/workspace/fault"
)

// ErrExists is the error of Put for a name that has an object already.
var ErrExists = errors.New("the object exists already")

// MaxObject is the maximum size of an object in bytes.
const MaxObject = 32 << 20

// MaxList is the maximum number of objects that a store looks at for a list. A remote has far fewer,
// so another program filled a store that has more.
const MaxList = 1 << 20

// A TooManyError is the error of List for more than MaxList objects.
type TooManyError struct{}

func (TooManyError) Error() string {
	return fmt.Sprintf("the store lists more than %d objects", MaxList)
}

// Is reports whether target is [fault.Refused].
func (TooManyError) Is(target error) bool { return target == fault.Refused }

// A Store is a place for objects. CheckName says which names they have. No name begins with another
// name and a slash. All methods may be called concurrently.
//
// An error that is neither ErrExists nor fs.ErrNotExist means that the outcome is unknown: a Put or
// a Delete may have happened, or may happen later. For an invalid name or an object of more than
// MaxObject bytes, a method returns a fault.Error and does nothing.
type Store interface {
	// Put creates an object, atomically: no Get returns a part of it. If it returns nil or
	// ErrExists, the object survives a crash. The error is ErrExists if the name has an object,
	// which may have been created by an earlier Put that returned an error.
	Put(ctx context.Context, name string, data []byte) error

	// Get returns an object. The error is fs.ErrNotExist if there is none.
	Get(ctx context.Context, name string) ([]byte, error)

	// List returns the objects that o selects, ascending by the bytes of their names. It ignores
	// what has no valid name.
	List(ctx context.Context, o ListOptions) ([]Object, error)

	// Delete removes an object. It returns nil if there is none.
	Delete(ctx context.Context, name string) error
}

// ListOptions select objects.
type ListOptions struct {
	Prefix  string // only names that begin with it
	After   string // only names greater than it
	Shallow bool   // instead of all names with the same part up to the first slash after Prefix, list this part once, with its slash
}

// An Object is an element of a list.
type Object struct {
	Name string
	Size int64 // in bytes; 0 for a name that ends in a slash
}

// A NoCreateOnlyError reports a store that does not create an object only if there is none. Only a
// remote with a single writer can use it.
type NoCreateOnlyError struct {
	Winners, Writers int   // in a probe: how many writers were told that they created the object, and how many there were
	Err              error // the answer of a store that rejects such a request; nil in a probe
}

func (e *NoCreateOnlyError) Error() string {
	if e.Err != nil {
		return "the store rejects requests that create an object only if there is none"
	}
	return fmt.Sprintf("the store overwrites objects: %d of %d concurrent writers created the same one", e.Winners, e.Writers)
}

// Is reports whether target is [fault.Refused].
func (e *NoCreateOnlyError) Is(target error) bool { return target == fault.Refused }

// Unwrap returns the answer of the store, or nil.
func (e *NoCreateOnlyError) Unwrap() error { return e.Err }
