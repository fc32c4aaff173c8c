package states

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/bough-dev/bough/internal/scan"
)

// Look returns the state that Take would take, and what it does not hold. It writes the
// objects that the store does not have to w, as a pack, and nothing to the store.
func (s *Store) Look(ctx context.Context, r Request, w io.Writer) (*State, []scan.Left, error) {
	t := &taking{Store: s, Request: r, state: r.State}
	if err := cmp.Or(s.loadRefused(), t.openCache()); err != nil {
		return nil, nil, err
	}
	t.Scan.Refused = s.isRefused
	found, err := scan.Look(ctx, r.Dir, t.cache, t.Scan)
	if err != nil {
		return nil, nil, err
	}
	if found.Same() {
		if t.result, err = found.Store(ctx, nil, nil); err != nil {
			return nil, nil, err
		}
	}
	if err := t.write(ctx, found, w); err != nil && !errors.Is(err, errNothing) {
		return nil, nil, err
	}
	return &t.state, t.result.Left, nil
}

// IdentityOfRoot returns the identity of an open directory.
func IdentityOfRoot(root *os.Root) (Identity, error) {
	dir, err := root.Open(".")
	if err != nil {
		return Identity{}, err
	}
	defer dir.Close()
	return identifyOpen(dir)
}

// identify returns the identity of a directory.
func identify(dir string) (Identity, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Identity{}, err
	}
	defer root.Close()
	return IdentityOfRoot(root)
}

// IdentityOf returns the path of a directory without symbolic links, and its identity.
func IdentityOf(dir string) (real string, id Identity, err error) {
	if real, err = realPath(dir); err == nil {
		id, err = identify(real)
	}
	return real, id, err
}
