package stream

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var errFrame = errors.New("its frames are damaged")

// frameAt returns the size of the first frame in data, and that of its content. The header of a
// frame has both in effect: the size of the content, and that of each block before the block.
func frameAt(data []byte) (size int, content int64, err error) {
	var h zstd.Header
	if err := h.Decode(data[:min(len(data), zstd.HeaderMaxSize)]); err != nil || h.Skippable || !h.HasFCS {
		return 0, 0, errFrame
	}
	if h.FrameContentSize > maxItem {
		return 0, 0, fmt.Errorf("a frame has %d bytes, and %d are possible", h.FrameContentSize, maxItem)
	}
	size = h.HeaderSize
	for last := false; !last; {
		if len(data)-size < 3 {
			return 0, 0, errFrame
		}
		b := uint(data[size]) | uint(data[size+1])<<8 | uint(data[size+2])<<16
		last = b&1 == 1
		n := int(b >> 3)
		if b>>1&3 == 1 {
			n = 1 // a byte that is repeated
		}
		size += 3 + n
	}
	if h.HasCheckSum {
		size += 4
	}
	if size > len(data) {
		return 0, 0, errFrame
	}
	return size, int64(h.FrameContentSize), nil
}

// lazyDecoder is made by its first user: nothing is allocated before main begins.
var lazyDecoder struct {
	sync.Once
	*zstd.Decoder
}

func decoder() *zstd.Decoder {
	lazyDecoder.Do(func() { lazyDecoder.Decoder = newDecoder() })
	return lazyDecoder.Decoder
}

func newDecoder() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxItem), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // an invalid option
	}
	return d
}

// A frame is the content of a frame of a pack.
type frame struct {
	at      int64 // in the content of the pack
	content []byte
}

// A frameReader reads the content of frames, one frame at a time.
type frameReader struct {
	frames []byte // that are not read
	last   frame  // that was read last
	rest   []byte // of its content
}

// newFrameReader returns a reader of the content of frames from an offset. It does not decompress
// the frame known, which may be the zero frame, if the offset is in that.
func newFrameReader(frames []byte, at int64, known frame) (*frameReader, error) {
	r := &frameReader{frames: frames}
	for {
		size, content, err := frameAt(r.frames)
		if err != nil {
			return nil, err
		}
		if at-r.last.at < content {
			break
		}
		r.frames, r.last.at = r.frames[size:], r.last.at+content
	}
	if err := r.next(known); err != nil {
		return nil, err
	}
	r.rest = r.rest[at-r.last.at:]
	return r, nil
}

// next decompresses the next frame.
func (r *frameReader) next(known frame) error {
	if len(r.frames) == 0 {
		return io.ErrUnexpectedEOF
	}
	size, n, err := frameAt(r.frames)
	if err != nil {
		return err
	}
	r.last.at += int64(len(r.last.content))
	if known.at == r.last.at && int64(len(known.content)) == n {
		r.last.content = known.content
	} else {
		r.last.content, err = decoder().DecodeAll(r.frames[:size], make([]byte, 0, n))
		if err != nil || int64(len(r.last.content)) != n {
			return errFrame
		}
	}
	r.frames, r.rest = r.frames[size:], r.last.content
	return nil
}

func (r *frameReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.next(frame{}); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
