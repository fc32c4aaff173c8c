package store

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/sessions"
)

// Options are those of workspace.Options, which documents them. The store and the engines
// above it use them.
type Options struct {
	Limit          int
	Wait           time.Duration
	Settle         time.Duration
	Existing       bool
	Retention      checkpoint.Retention
	Packing        checkpoint.Packing
	FilesLimit     int64
	UserConfig     string
	UserState      string
	UndoAge        time.Duration
	UndoOperations int
	CompactEvery   int
	Now            func() time.Time
	Random         io.Reader
	Elsewhere      func(ctx context.Context, name string) (session, message string, err error)
	Progress       func(doing string, done, total int64)
	Note           func(string)
}

// A Store accesses the files of a workspace. Its methods are safe for
// concurrent use.
type Store struct {
	Dir    string
	Opts   Options
	Memory *sessions.Memory
	packed *index.PackedCache
	uuids  *uuids
	tasks  *taskLog
	tree   *lastTree
	Live   *live
	Spool  int64         // how many bytes of a conversation an import keeps in memory
	Tidy   int64         // how many bytes of messages one [Tx.TidyPacks] rewrites
	turn   chan struct{} // is full while a goroutine writes

	// Confined lets only the registered folders of the machine be used.
	Confined bool

	together *group // of the operations of Update, nil for none

	completeForget   func(*Tx) error // executes the plan of an interrupted forget
	completeRestores func(ctx context.Context, w *Store, verb string) error
}

const (
	StateDir = ".bough"
	TrashDir = StateDir + "/trash"
	HeadFile = "head.json"
)

// A Recovery completes what only engines above the store can complete.
type Recovery struct {
	// Forget is called by the recovery if a forget was interrupted.
	Forget func(*Tx) error
	// Restores is called by a writer, without the lock, if a restore of files was interrupted.
	// It notes those that it cannot complete. An error is that of ctx.
	Restores func(ctx context.Context, w *Store, verb string) error
}

// Restoring returns w for a caller that completes interrupted restores itself, because it holds
// the lock of a folder.
func (w *Store) Restoring() *Store {
	s := *w
	s.completeRestores = nil
	return &s
}

// New returns the store of the workspace in dir, an absolute path.
func New(dir string, o Options, r Recovery) *Store {
	if o.Limit <= 0 {
		o.Limit = 1000
	}
	if o.Wait == 0 {
		o.Wait = 30 * time.Second
	}
	if o.Settle == 0 {
		o.Settle = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	return &Store{
		Dir: dir, Opts: o, Memory: &sessions.Memory{}, packed: &index.PackedCache{}, uuids: &uuids{}, tasks: &taskLog{},
		tree: &lastTree{}, Live: &live{}, Spool: 8 << 20, Tidy: tidyBytes,
		turn: make(chan struct{}, 1), completeForget: r.Forget, completeRestores: r.Restores,
	}
}
