package session

import (
	"io"
	"sync"
	"sync/atomic"
)

// A pipe writes buffers in a goroutine while the caller reads more. The caller gets
// an empty buffer, fills it and sends it.
type pipe struct {
	out    io.Writer
	free   chan []byte
	full   chan work
	done   chan struct{}
	failed atomic.Pointer[error]
}

// chunk returns the size of the buffers for a file of size bytes: small enough for
// the processor's cache, and for a small file a fraction of it, so that reads and
// writes overlap.
func chunk(size int) int { return min(256<<10, max(32<<10, size/16)) }

// A work is a buffer to write, or a function to call after the buffers before it are
// written.
type work struct {
	buffer []byte
	call   func(failed error) error
}

var buffers sync.Pool // of []byte in *[]byte

// newBuffer returns a buffer of size bytes: allocating takes longer than writing.
func newBuffer(size int) []byte {
	if b, ok := buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:size]
	}
	return make([]byte, size)
}

// newPipe starts a pipe that will write size bytes to out.
func newPipe(out io.Writer, size int) *pipe {
	const buffers = 3 // one to read into, one to write from, one in between
	p := &pipe{out, make(chan []byte, buffers), make(chan work, buffers), make(chan struct{}), atomic.Pointer[error]{}}
	for range buffers {
		p.free <- newBuffer(chunk(size))
	}
	go p.run()
	return p
}

func (p *pipe) run() {
	for w := range p.full {
		err := p.err()
		if w.call != nil {
			err = w.call(err)
		} else if err == nil {
			_, err = p.out.Write(w.buffer)
		}
		if err != nil {
			p.failed.Store(&err)
		}
		if w.call == nil {
			p.free <- w.buffer[:cap(w.buffer)]
		}
	}
	close(p.done)
}

func (p *pipe) err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// buffer returns an empty buffer.
func (p *pipe) buffer() []byte { return <-p.free }

// send passes a buffer to the writer. The error is that of an earlier write.
func (p *pipe) send(buffer []byte) error {
	p.full <- work{buffer: buffer}
	return p.err()
}

// do calls f after all buffers were written, unless writing failed, and returns its error
// or that of writing.
func (p *pipe) do(f func() error) error {
	done := make(chan error, 1)
	p.full <- work{call: func(failed error) error {
		err := failed
		if err == nil {
			err = f()
		}
		done <- err
		return err
	}}
	return <-done
}

// copy sends a copy of b.
func (p *pipe) copy(b []byte) error {
	for len(b) > 0 {
		buffer := p.buffer()
		n := copy(buffer, b)
		if err := p.send(buffer[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// close waits until all buffers are written.
func (p *pipe) close() error {
	close(p.full)
	<-p.done
	for len(p.free) > 0 {
		buffer := <-p.free
		buffers.Put(&buffer)
	}
	return p.err()
}
