package stream

import "sync"

// A memory limits what a fetch holds of what it read: objects as they are stored, and the records and bases
// that it keeps. Only the next object of each run that is being read is held beyond the limit, and the first
// one that is kept.
type memory struct {
	decoding sync.Mutex // one object is decompressed at a time

	mu   sync.Mutex
	left int64 // bytes that may still be held
	kept bool  // something is kept
}

// isFull reports whether nothing more can be kept.
func (m *memory) isFull() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.left <= 0 && m.kept
}

// room returns how many records of a run, at least one, probably can be kept: as far as the sizes of those that it has say.
func (m *memory) room(r *run) int {
	const first = 2
	size := 0
	for _, v := range r.records {
		size += v.size
	}
	if size == 0 {
		return first
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(max(1, m.left*int64(len(r.records))/int64(size)))
}

// hold notes that an object of a size is held, until free. It returns false, and notes nothing, if there is no room
// for one that need not be.
func (m *memory) hold(size int, must bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !must && m.left < int64(size) {
		return false
	}
	m.left -= int64(size)
	return true
}

func (m *memory) free(size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left += int64(size)
}

// keep calls decode, which returns how many bytes are kept, and returns true; or returns false if it is full.
func (m *memory) keep(decode func() int) bool {
	m.decoding.Lock()
	defer m.decoding.Unlock()
	if m.isFull() {
		return false
	}
	size := decode()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left -= int64(size)
	m.kept = m.kept || size > 0
	return true
}
