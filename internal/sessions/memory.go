package sessions

import (
	"bytes"
	"io"
	"sync"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// A Memory pools buffers for reading files, because allocating new ones takes
// longer than reading. It also records which outlines are in the cache, and keeps
// those that were decoded. The zero Memory is ready to use. It is safe for
// concurrent use.
type Memory struct {
	buffers sync.Pool // of *[]byte
	cached  sync.Map  // from ids to the Stats of the files whose outlines are in the cache
	probe   sync.Once
	block   int // see Folder.blockSize, after probe

	mu      sync.Mutex
	decoded map[string]decoded // by id
	size    int64              // of their cache files in bytes
}

// A decoded is an outline of the cache. It must not be modified.
type decoded struct {
	file    durable.Identity // of its cache file
	outline *session.Outline
}

// maxDecoded is the maximum size in bytes of the cache files whose outlines are
// kept.
const maxDecoded = 16 << 20

// keep keeps the outline of a cache file. If there are too many, it forgets the
// others.
func (m *Memory) keep(file durable.Identity, o *session.Outline) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size += file.Size - m.decoded[o.ID].file.Size
	if m.decoded == nil || m.size > maxDecoded {
		m.decoded, m.size = map[string]decoded{}, file.Size
	}
	m.decoded[o.ID] = decoded{file, o}
}

// kept returns the outline of a cache file for the session file st, or nil.
func (m *Memory) kept(file durable.Identity, st session.Stat) *session.Outline {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.decoded[st.ID]; d.outline != nil && d.file == file && d.outline.Stat == st {
		return d.outline
	}
	return nil
}

// forget drops the cached facts of a session.
func (m *Memory) forget(id string) {
	m.cached.Delete(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size -= m.decoded[id].file.Size
	delete(m.decoded, id)
}

func (m *Memory) buffer() *[]byte {
	if b, ok := m.buffers.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// blockSize returns the size of the blocks that session files can share, 0 if they cannot.
// It examines the file system once.
func (f Folder) blockSize() int {
	m := f.memory
	m.probe.Do(func() { m.block = durable.BlockSize(f.root, session.Dir) })
	return m.block
}

// isCached reports whether the outline of the file st is known to be in the cache.
func (m *Memory) isCached(st session.Stat) bool {
	was, ok := m.cached.Load(st.ID)
	return ok && was == st
}

// readAll reads the rest of in, of about size bytes, into *buffer, whose memory it
// reuses.
func readAll(in io.Reader, size int64, buffer *[]byte) error {
	if need := size + bytes.MinRead; int64(cap(*buffer)) < need {
		*buffer = make([]byte, 0, need+need/8)
	}
	b := bytes.NewBuffer((*buffer)[:0])
	_, err := b.ReadFrom(in)
	*buffer = b.Bytes()
	return err
}
