package index

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// A watch says whether the folder of the sessions is still what it was.
type watch struct {
	seen durable.Identity // without the size, when the sessions were listed
	safe bool             // whatever happened there since shows
}

// folderOf returns the identity of the folder, without its size, which says
// nothing of what is in it.
func folderOf(root *os.Root) durable.Identity {
	id := identify(root, session.Dir)
	id.Size = 0
	return id
}

// begin looks at the folder before its sessions are listed. What happens after
// that shows in its modification time if that was settled, see [durable.Settled].
func (w *watch) begin(root *os.Root) {
	at := time.Now()
	seen := folderOf(root)
	w.safe = durable.Settled(seen.ModTime, at)
	w.seen = seen
}

// Change calls f, which changes files in conversations, and returns its error.
// The caller holds the lock of the workspace. Changes made outside of it are
// seen as those of another program: the next command looks at every session.
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

// stamp gives the folder a modification time of a moment ago, which no clock
// gives it again, so that every later change shows, however soon it comes.
func (w *watch) stamp(root *os.Root) {
	at := time.Now().Add(-time.Second - time.Duration(rand.Int64N(int64(time.Second))))
	err := durable.Touch(root, session.Dir, at)
	w.seen = folderOf(root)
	const fine = int64(time.Microsecond)
	w.safe = w.safe && err == nil && w.seen.ModTime/fine == at.UnixNano()/fine
}

// Remember writes down what x found, so that the next [Open] need not look at
// every session, if it is worth it and if a change of the folder after that will
// show. It is called when a command is done, also when it failed. What cannot be
// written is left: it is only remembered. While there are temporary files x is not
// remembered: an Index that was opened from a look does not list them, and the next
// writer removes them.
func (x *Index) Remember() {
	if len(x.Temporary) > 0 || x.failed != nil || x.claimed || !x.large() || !x.folder.safe || x.folder.seen != folderOf(x.root) {
		return
	}
	for _, own := range x.changed {
		if own {
			return // not even saved
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
