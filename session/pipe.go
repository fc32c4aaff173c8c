package session

import (
	"io"
	"sync/atomic"
)

// A pipe writes what it is given while more is being read. Whoever reads takes a
// buffer, fills it and hands it on.
type pipe struct {
	out    io.Writer
	memory *Memory
	free   chan []byte
	full   chan []byte
	done   chan struct{}
	failed atomic.Pointer[error]
}

// chunk returns how much of so many bytes is copied at once: what stays in the
// processor's cache, and of a small file a part, so that reading and writing take
// turns.
func chunk(size int) int { return min(256<<10, max(32<<10, size/16)) }

// newPipe begins to write to out what will be size bytes in all.
func newPipe(out io.Writer, size int, memory *Memory) *pipe {
	const buffers = 3 // one is read into, one is written from, one is on the way
	p := &pipe{out, memory, make(chan []byte, buffers), make(chan []byte, buffers), make(chan struct{}), atomic.Pointer[error]{}}
	for range buffers {
		p.free <- memory.buffer(chunk(size))
	}
	go p.run()
	return p
}

func (p *pipe) run() {
	for b := range p.full {
		if p.err() == nil {
			if _, err := p.out.Write(b); err != nil {
				p.failed.Store(&err)
			}
		}
		p.free <- b[:cap(b)]
	}
	close(p.done)
}

func (p *pipe) err() error {
	if err := p.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// buffer returns a buffer to fill.
func (p *pipe) buffer() []byte { return <-p.free }

// send hands on a buffer that came from the pipe. The error is that of an
// earlier write.
func (p *pipe) send(buffer []byte) error {
	p.full <- buffer
	return p.err()
}

// copy sends bytes that stay with the caller.
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

// close waits until all is written.
func (p *pipe) close() error {
	close(p.full)
	<-p.done
	for len(p.free) > 0 {
		buffer := <-p.free
		p.memory.buffers.Put(&buffer)
	}
	return p.err()
}
