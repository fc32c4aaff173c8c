package session

import (
	"bytes"
	"os"
	"sync"
)

// A Memory pools buffers for reading and writing files: allocating new ones takes
// longer than reading. The zero Memory is ready to use. It is safe for concurrent
// use.
type Memory struct {
	scratches sync.Pool // of *scratch
	buffers   sync.Pool // of []byte in *[]byte, for a pipe
}

// scratch returns pooled memory for reading files.
func (m *Memory) scratch() *scratch {
	if s, ok := m.scratches.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

// buffer returns a buffer of size bytes.
func (m *Memory) buffer(size int) []byte {
	if b, ok := m.buffers.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:size]
	}
	return make([]byte, size)
}

// A scratch is reusable memory for reading one file at a time.
type scratch struct {
	data     []byte
	messages messages
	known    *idTable
}

// read reads all of a file. The result is valid until the next read.
func (s *scratch) read(in *os.File) ([]byte, error) {
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if need := info.Size() + bytes.MinRead; int64(cap(s.data)) < need {
		s.data = make([]byte, 0, need+need/8)
	}
	buf := bytes.NewBuffer(s.data[:0])
	_, err = buf.ReadFrom(in)
	s.data = buf.Bytes()
	return s.data, err
}
