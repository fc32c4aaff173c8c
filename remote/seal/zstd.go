package seal

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/bough-dev/bough/internal/bounded"
)

// maxWindow is how much memory the header of a Zstandard frame can ask for.
const maxWindow = 8 << 20

// A lazyEncoder is made by its first user: nothing is allocated before main begins.
type lazyEncoder struct {
	sync.Once
	*zstd.Encoder
}

// smallEncoder is for data of less than 256 bytes. Only frames of a single segment have the size of so
// little (RFC 8878, 3.1.1.1.4); a larger one would need a window of its size.
var commonEncoder, smallEncoder lazyEncoder

const small = 256

func encoder(size int) *zstd.Encoder {
	e := &commonEncoder
	if size < small {
		e = &smallEncoder
	}
	e.Do(func() { e.Encoder = newEncoder(size < small) })
	return e.Encoder
}

func newEncoder(single bool) *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(maxWindow),
		zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithSingleSegment(single))
	if err != nil {
		panic(err) // an invalid option
	}
	return w
}

var decoders = sync.Pool{New: newDecoder}

func newDecoder() any {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		panic(err) // an invalid option
	}
	return r
}

// Compress returns data as one frame of Zstandard, whose header has the size of data.
func Compress(data []byte) []byte { return encoder(len(data)).EncodeAll(data, nil) }

// Seal returns data compressed and encrypted.
func (k *Key) Seal(data []byte) ([]byte, error) { return k.Encrypt(Compress(data)) }

// Open returns what Seal stored, up to limit bytes. The error is ErrKey if another key sealed it. If
// it has more bytes, Open allocates no more than about limit, and the error is a
// *bounded.TooLongError.
func (k *Key) Open(stored []byte, limit int64) ([]byte, error) {
	in, err := k.decrypter(stored)
	if err != nil {
		return nil, err
	}
	r := decoders.Get().(*zstd.Decoder)
	defer decoders.Put(r)
	defer r.Reset(nil) // it must not keep what it read
	if err := r.Reset(in); err != nil {
		return nil, err
	}
	data, err := bounded.ReadAll(r, limit)
	if err != nil {
		return nil, fmt.Errorf("it cannot be decompressed: %w", err)
	}
	return data, nil
}
