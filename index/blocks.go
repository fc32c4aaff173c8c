package index

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
)

// blockSize is the number of bytes that are read and verified together.
const blockSize = 4096

// errCache is the error for a damaged cache. The caller ignores the cache then.
var errCache = errors.New("a damaged cache")

// blocks is a file that is read in blocks on demand, each verified against its
// checksum.
type blocks struct {
	file *os.File
	size int64
	sums []byte // CRC-32C of each block, little-endian
	seen map[int64][]byte
}

// sumsOf returns the checksums of the blocks of data.
func sumsOf(data []byte) []byte {
	var sums []byte
	for len(data) > 0 {
		n := min(len(data), blockSize)
		sums = binary.LittleEndian.AppendUint32(sums, crc32c.Of(data[:n]))
		data = data[n:]
	}
	return sums
}

// openBlocks opens the file name. It holds size bytes followed by their checksums,
// and sum is the CRC-32C of these checksums.
func openBlocks(root *os.Root, name string, size int64, sum uint32) (*blocks, error) {
	f, err := durable.OpenCache(root, name, size+size/blockSize*4+4)
	if err != nil {
		return nil, err
	}
	b := &blocks{file: f, size: size, seen: map[int64][]byte{}}
	if err := b.readSums(sum); err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

func (b *blocks) readSums(sum uint32) error {
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	n := (b.size + blockSize - 1) / blockSize * 4
	if b.size < 0 || info.Size() != b.size+n {
		return errCache
	}
	b.sums = make([]byte, n)
	if _, err := b.file.ReadAt(b.sums, b.size); err != nil {
		return err
	}
	if crc32c.Of(b.sums) != sum {
		return errCache
	}
	return nil
}

// read returns the n bytes at the offset at. They must not be modified.
func (b *blocks) read(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > b.size || n > b.size-at {
		return nil, errCache
	}
	first := at / blockSize
	start, end := first*blockSize, min((at+n+blockSize-1)/blockSize*blockSize, b.size)
	data := b.seen[first]
	if data == nil || int64(len(data)) < end-start {
		data = make([]byte, end-start)
		if _, err := b.file.ReadAt(data, start); err != nil && err != io.EOF {
			return nil, err
		}
		for i := int64(0); i < end-start; i += blockSize {
			sum := binary.LittleEndian.Uint32(b.sums[(start+i)/blockSize*4:])
			if crc32c.Of(data[i:min(i+blockSize, end-start)]) != sum {
				return nil, errCache
			}
		}
		b.seen[first] = data
	}
	return data[at-start : at-start+n : at-start+n], nil
}
