package index

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// A watch detects changes of the folder of the sessions.
type watch struct {
	seen durable.Identity // without the size, at the time of the listing
	safe bool             // every later change will be detected
}

// folderOf returns the identity of the folder without its size, which does not
// depend on its content.
func folderOf(root *os.Root) durable.Identity {
	id := identify(root, session.Dir)
	id.Size = 0
	return id
}

// begin records the folder's identity before its sessions are listed. A later
// change shows in the modification time if that was settled, see [durable.Settled].
func (w *watch) begin(root *os.Root) {
	at := time.Now()
	seen := folderOf(root)
	w.safe = durable.Settled(seen.ModTime, at)
	w.seen = seen
}

// Change calls f, which changes files in conversations, and returns its error. The
// caller must hold the lock of the workspace. Changes outside of Change count as
// those of another program: the next command examines every session.
func (x *Index) Change(f func() error) error {
	if !x.large() {
		x.folder.safe = false
		return f()
	}
	w := &x.folder
	w.safe = w.safe && w.seen == folderOf(x.root)
	err := f()
	w.stamp(x.root)
	return err
}

// stamp sets the folder's modification time to a random time shortly before now,
// which no clock produces again, so that every later change is detected, however
// soon it comes.
func (w *watch) stamp(root *os.Root) {
	at := time.Now().Add(-time.Second - time.Duration(rand.Int64N(int64(time.Second))))
	err := durable.Touch(root, session.Dir, at)
	w.seen = folderOf(root)
	const fine = int64(time.Microsecond)
	w.safe = w.safe && err == nil && w.seen.ModTime/fine == at.UnixNano()/fine
}

// Remember caches the result in x, so that the next [Open] need not examine every
// session. It does so only if the index is large and later changes of the folder
// will be detected. It is called at the end of a command, even if that failed.
// Errors are ignored, as this is only a cache. If there are temporary files,
// nothing is cached: an Index opened from a look does not list them, and the next
// writer must remove them.
func (x *Index) Remember() {
	x.recipes.save(x.root, func(id string) bool { return x.entries[id] != nil }) // not what x removed
	if len(x.Temporary) > 0 || x.failed != nil || x.claimed || !x.large() || !x.folder.safe || x.folder.seen != folderOf(x.root) {
		return
	}
	for _, own := range x.changed {
		if own {
			return // not saved
		}
	}
	l := look{folder: x.folder.seen, files: x.files, count: x.count}
	if x.Stale() {
		l.stale, l.torn, l.old, l.trouble = true, x.Torn, x.Old, x.found
	}
	said := &x.before
	if x.last != nil {
		said = x.last.look
	}
	switch {
	case l.stale && x.last != nil, !l.stale && l.folder == said.folder && l.files == said.files:
		return
	case x.last != nil:
		l.layout, l.recent = said.layout, said.recent
	default:
		var data, sums []byte
		l.layout, data, sums = buildTable(x.byPlace())
		if durable.Cache(x.root, session.CacheDir, tablePath, data, sums) != nil {
			return
		}
	}
	durable.Cache(x.root, session.CacheDir, lookPath, l.encode())
}
