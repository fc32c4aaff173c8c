package claude

import (
	"bytes"
	"errors"
	"os"
)

// maxMemory is how many bytes of records of chains are kept in memory.
const maxMemory = 16 << 20

// kept are the records of chains until the end of the main conversation: in memory or, beyond most
// bytes, in a temporary file.
type kept struct {
	most int // 0 for no limit
	size int // in memory
	temp *os.File
	buf  []byte // to be written to temp
	at   int    // where that will be
}

// add keeps the record of s, which is valid until the next one.
func (k *kept) add(s *said) (err error) {
	if k.most == 0 || k.size+len(s.Raw) <= k.most {
		k.size += len(s.Raw)
		s.Raw = bytes.Clone(s.Raw)
		return nil
	}
	if k.temp == nil {
		if k.temp, err = os.CreateTemp("", "bough-"); err != nil {
			return err
		}
		os.Remove(k.temp.Name()) // if the system allows it, so that nothing remains if bough is killed
	}
	s.at, s.size = k.at+len(k.buf), len(s.Raw)
	k.buf = append(k.buf, s.Raw...)
	s.Raw = nil
	if len(k.buf) < 1<<20 {
		return nil
	}
	return k.write()
}

func (k *kept) write() error {
	n, err := k.temp.Write(k.buf)
	k.at, k.buf = k.at+n, k.buf[:0]
	return err
}

// load reads the record of s if it is not in memory.
func (k *kept) load(s *said) error {
	if s.size == 0 {
		return nil
	}
	if len(k.buf) > 0 {
		if err := k.write(); err != nil {
			return err
		}
	}
	s.Raw = make([]byte, s.size)
	_, err := k.temp.ReadAt(s.Raw, int64(s.at))
	return err
}

// drop removes the temporary file.
func (k *kept) drop() {
	if k.temp != nil {
		k.temp.Close()
		os.Remove(k.temp.Name())
	}
}

var errKept = errors.New("records are in a temporary file")
