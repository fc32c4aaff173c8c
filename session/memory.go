package session

import (
	"bytes"
	"os"
	"sync"
)

// A Memory is what files are read into and written from, to be used again for
// others: new memory costs more than reading. The zero Memory is ready, and may be
// used by several goroutines.
type Memory struct {
	scratches sync.Pool // of *scratch
	buffers   sync.Pool // of []byte in *[]byte, for a pipe
}

// scratch returns memory for reading files, one after the other.
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

// A scratch is memory for reading files.
type scratch struct {
	data     []byte
	messages messages
	known    *idTable
}

// read reads all of a file. What it returns holds until the next read.
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
