package hook

import (
	"io"
	"sync"
	"time"
)

// ReadUntil reads to the end, or what arrives until stop: a tool may leave its end of the
// input open, and waits for the hook.
func ReadUntil(in io.Reader, stop <-chan time.Time) ([]byte, error) {
	read := &lockedBuffer{}
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(read, in)
		done <- err
	}()
	select {
	case err := <-done:
		return read.bytes(), err
	case <-stop:
		return read.bytes(), nil
	}
}

// A lockedBuffer is a buffer that is read while another goroutine writes to it.
type lockedBuffer struct {
	lock sync.Mutex
	data []byte
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *lockedBuffer) bytes() []byte {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.data[:len(b.data):len(b.data)]
}
