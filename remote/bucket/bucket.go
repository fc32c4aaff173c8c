// Package bucket stores the objects of a remote: byte strings with names, which are created once,
// read, listed and deleted. They never change.
package bucket

import (
	"context"
	"errors"
)

// ErrExists is the error of Put for a name that has an object already.
var ErrExists = errors.New("exists already")

// MaxObject is the maximum size of an object in bytes.
const MaxObject = 32 << 20

// A Store is a place for objects. Names are relative paths with slashes, of letters, digits, "-" and
// ".". All methods may be called concurrently.
//
// An error that is neither ErrExists nor fs.ErrNotExist means that the outcome is unknown: a Put
// may have happened.
type Store interface {
	// Put creates an object, atomically. The error is ErrExists if the name has one.
	Put(ctx context.Context, name string, data []byte) error
	// Get returns an object. The error is fs.ErrNotExist if there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the objects whose names begin with prefix, without the part of the name that
	// follows the first slash after it if shallow; ascending by name, after the name after.
	List(ctx context.Context, o ListOptions) ([]Object, error)
	// Delete removes an object. There need not be one.
	Delete(ctx context.Context, name string) error
}

// ListOptions say which objects are listed.
type ListOptions struct {
	Prefix  string
	After   string // only names greater than this one
	Shallow bool   // list what lies below "PREFIX.../" as one object with that name and no size
}

// An Object is an object in a list.
type Object struct {
	Name string
	Size int64 // in bytes
}
