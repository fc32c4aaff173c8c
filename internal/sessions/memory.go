package sessions

import (
	"bytes"
	"os"
	"sync"

	"github.com/bough-dev/bough/session"
)

// A Memory pools buffers for reading files, because allocating new ones takes
// longer than reading. It also records which outlines are in the cache. The
// zero Memory is ready to use. It is safe for concurrent use.
type Memory struct {
	buffers sync.Pool // of *[]byte
	cached  sync.Map  // from ids to the Stats of the files whose outlines are in the cache
}

func (m *Memory) buffer() *[]byte {
	if b, ok := m.buffers.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

// isCached reports whether the outline of the file st is known to be in the cache.
func (m *Memory) isCached(st session.Stat) bool {
	was, ok := m.cached.Load(st.ID)
	return ok && was == st
}

// readAll reads all of a file into *buffer, whose memory it reuses.
func readAll(in *os.File, buffer *[]byte) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if need := info.Size() + bytes.MinRead; int64(cap(*buffer)) < need {
		*buffer = make([]byte, 0, need+need/8)
	}
	b := bytes.NewBuffer((*buffer)[:0])
	_, err = b.ReadFrom(in)
	*buffer = b.Bytes()
	return err
}
