package restore

import (
	"context"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
)

// ApplyUnchecked is [Apply] with every file taken for the expected one.
func ApplyUnchecked(ctx context.Context, folder *os.Root, j Journal, store Store, plan *Plan, note []byte) (*Report, error) {
	a := newApplying(folder)
	a.compare = func(d *durable.Dir, name string, _ filetree.Entry) (finding, error) {
		if _, err := d.Lstat(name); err != nil {
			return absent, nil
		}
		return equal, nil
	}
	return a.apply(ctx, j, store, plan, note)
}
