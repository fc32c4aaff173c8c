package stream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace/fault"
)

// Packs reads items of packs. It keeps packs as they are stored in a cache, and the last one in
// memory. It is safe for concurrent use.
type Packs struct {
	remote *Remote
	cache  *os.Root
	max    int64

	mu     sync.Mutex
	name   string // of the last pack
	frames []byte // its content, compressed
	last   frame  // of it, that was read last
}

// OpenPacks returns the packs of a remote, with a cache of at most max bytes in a folder of its own.
func (r *Remote) OpenPacks(cache *os.Root, max int64) *Packs {
	return &Packs{remote: r, cache: cache, max: max}
}

// Items yields the items of a body. After an error there is none. The error has the code
// [fault.NotFound] if the store does not have the pack, and [fault.Damaged] if its bytes are not
// those of its name or the items are not those of the body.
func (p *Packs) Items(ctx context.Context, b *record.Body) iter.Seq2[*record.Item, error] {
	return func(yield func(*record.Item, error) bool) {
		for i := range b.Items {
			if !yield(&b.Items[i], nil) {
				return
			}
		}
		if b.Pack == "" {
			return
		}
		frames, known, err := p.load(ctx, b.Pack)
		if err != nil {
			yield(nil, err)
			return
		}
		last, err := eachItem(frames, known, b, func(it *record.Item) bool { return yield(it, nil) })
		p.remember(b.Pack, last)
		if err != nil {
			yield(nil, &fault.Error{Code: fault.Damaged, Message: fmt.Sprintf("%s%s in the remote is damaged: %v", packs, b.Pack, err), Err: err})
		}
	}
}

// eachItem decodes the items of a body until each returns false. It returns the frame that was read
// last.
func eachItem(frames []byte, known frame, b *record.Body, each func(*record.Item) bool) (last frame, err error) {
	fr, err := newFrameReader(frames, b.At, known)
	if err != nil {
		return last, err
	}
	r := bufio.NewReader(io.LimitReader(fr, b.Size))
	for i := range b.Count {
		it, err := readItem(r)
		if err != nil {
			return fr.last, fmt.Errorf("item %d from byte %d: %w", i, b.At, err)
		}
		if !each(it) {
			return fr.last, nil
		}
	}
	if _, err := r.ReadByte(); err != io.EOF {
		return fr.last, fmt.Errorf("there are more than %d items from byte %d", b.Count, b.At)
	}
	return fr.last, nil
}

func readItem(r *bufio.Reader) (*record.Item, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	it := new(record.Item)
	if err := json.Unmarshal(line, it); err != nil {
		return nil, err
	}
	return it, seal.CheckItem(it)
}

// readLine reads a line of at most maxItem bytes.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); err != bufio.ErrBufferFull {
			return line, err
		}
		if len(line) > maxItem {
			return nil, fmt.Errorf("an item has more than %d bytes", maxItem)
		}
	}
}

// remember keeps a frame of a pack, because runs are read one after the other.
func (p *Packs) remember(pack string, last frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == pack {
		p.last = last
	}
}

// load returns the content of a pack, compressed, and a frame of it.
func (p *Packs) load(ctx context.Context, name string) (frames []byte, known frame, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == name {
		return p.frames, p.last, nil
	}
	stored, ok := p.cached(name)
	if !ok {
		if stored, err = p.remote.pack(ctx, name); err != nil {
			return nil, known, err
		}
		p.keep(name, stored)
	}
	frames, err = p.remote.Key.Decrypt(stored)
	if err != nil {
		return nil, known, damagedPack(name, err)
	}
	p.name, p.frames, p.last = name, frames, frame{}
	return frames, known, nil
}

// pack returns a pack as it is stored.
func (r *Remote) pack(ctx context.Context, name string) ([]byte, error) {
	stored, err := r.Store.Get(ctx, packs+name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Code: fault.NotFound, Message: packs + name + " is not in the remote", Err: err}
	case err != nil:
		return nil, err
	case len(stored) > bucket.MaxObject || hashOf(stored) != name:
		return nil, damagedPack(name, errors.New("its bytes are not those that its name says"))
	}
	return stored, nil
}

// CheckPack reads a pack of the store. The errors are those of [Packs.Items].
func (r *Remote) CheckPack(ctx context.Context, name string) error {
	stored, err := r.pack(ctx, name)
	if err != nil {
		return err
	}
	if _, err = r.Key.Decrypt(stored); err != nil {
		return damagedPack(name, err)
	}
	return nil
}

func damagedPack(name string, err error) error {
	return &fault.Error{Code: fault.Damaged, Message: packs + name + " in the remote is damaged: " + err.Error(), Err: err}
}

// cached returns a pack that is in the cache.
func (p *Packs) cached(name string) ([]byte, bool) {
	f, err := durable.OpenCache(p.cache, name, bucket.MaxObject)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	stored, err := io.ReadAll(f)
	if err != nil || hashOf(stored) != name {
		return nil, false
	}
	_ = durable.Touch(p.cache, name, time.Now()) // decides only which pack the cache drops first
	return stored, true
}

// Forget removes a pack from the cache.
func (p *Packs) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == name {
		p.name, p.frames, p.last = "", nil, frame{}
	}
	_ = p.cache.Remove(name) // it may not be there
}

// keep adds a pack to the cache, and removes those that were not used for longest if it is too
// large. Without a cache everything works, so errors are ignored.
func (p *Packs) keep(name string, stored []byte) {
	if int64(len(stored)) > p.max || durable.Cache(p.cache, ".", name, stored) != nil {
		return
	}
	entries, err := durable.ReadDir(p.cache, ".")
	if err != nil {
		return
	}
	var files []fs.FileInfo
	var total int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && seal.IsHash(e.Name()) {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= p.max {
			return
		}
		if f.Name() != name && p.cache.Remove(f.Name()) == nil {
			total -= f.Size()
		}
	}
}
