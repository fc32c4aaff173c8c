package pack

import (
	"encoding/binary"
	"runtime"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/bough-dev/bough/internal/crc32c"
)

const blockSize = 128 << 10 // maximum size of a Zstandard block

// maxStored returns an upper limit for the size of a Zstandard frame with size bytes of
// content: as blocks that are not compressed, with the largest header and a checksum.
func maxStored(size int64) int64 { return size + 3*(size/1024+1) + 32 }

// maxContent returns an upper limit for the content of a Zstandard frame: a block of four
// bytes, which repeats one byte, is the smallest.
func maxContent(stored int64) int64 { return (stored/4 + 1) * blockSize }

// coders are created at the first use: their tables take a megabyte.
var coders struct {
	small, fast, decoder sync.Once
	encSmall, encFast    *zstd.Encoder
	dec                  *zstd.Decoder
}

// cores returns the number of frames that are encoded or decoded at a time. Each takes some
// megabytes.
func cores() int { return min(runtime.GOMAXPROCS(0), 8) }

func must(err error) {
	if err != nil {
		panic(err) // an invalid option
	}
}

// compress appends content as a Zstandard frame to dst: as fast as possible, or smaller. It
// is safe for concurrent use.
func compress(dst, content []byte, fast bool) []byte {
	once, enc, level := &coders.small, &coders.encSmall, zstd.SpeedDefault
	if fast {
		once, enc, level = &coders.fast, &coders.encFast, zstd.SpeedFastest
	}
	once.Do(func() {
		var err error
		*enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(level),
			zstd.WithEncoderConcurrency(cores()), zstd.WithZeroFrames(true))
		must(err)
	})
	return (*enc).EncodeAll(content, dst)
}

// decompress decodes the Zstandard frame into content, all of which it must fill. It is
// safe for concurrent use. The caller verifies the content, so the frame's own checksum is
// ignored.
func decompress(content, stored []byte) error {
	coders.decoder.Do(func() {
		var err error
		coders.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(cores()), zstd.WithDecoderMaxMemory(maxItem),
			zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(true))
		must(err)
	})
	got, err := coders.dec.DecodeAll(stored, content[:0:len(content)])
	if err == nil && len(got) != len(content) {
		err = zstd.ErrDecoderSizeExceeded
	}
	return err
}

// appendRaw appends content as a Zstandard frame of uncompressed blocks to dst, and returns
// the checksums of content and frame.
func appendRaw(dst, content []byte) (all []byte, sum, frameSum crc32c.Sum) {
	// A content size of four bytes, no checksum, and a window of 1 MiB.
	begin := len(dst)
	dst = slices.Grow(dst, int(maxStored(int64(len(content)))))
	dst = append(dst, "\x28\xb5\x2f\xfd\x80\x50"...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(content)))
	for {
		block := content[:min(len(content), blockSize)]
		content = content[len(block):]
		header := uint32(len(block)) << 3 // the bits 1 and 2 are the type, 0 for uncompressed
		if len(content) == 0 {
			header |= 1 // the last block
		}
		dst = append(dst, byte(header), byte(header>>8), byte(header>>16))
		frameSum.Add(dst[begin:])
		dst = append(dst, block...)
		begin = len(dst)
		blockSum := crc32c.Sum{CRC: crc32c.Of(block), N: len(block)}
		sum.Join(blockSum)
		frameSum.Join(blockSum)
		if len(content) == 0 {
			return dst, sum, frameSum
		}
	}
}
