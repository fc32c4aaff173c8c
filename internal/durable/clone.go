package durable

import (
	"io"
	"os"
	"sync/atomic"
)

// A clone shares blocks of the disk between two files. The file system copies a block
// when one of the files changes it.

// maxBlock is the maximum size of a block in bytes.
const maxBlock = 64 << 10

// assumed, if not 0, is the result of BlockSize, see [AssumeBlockSize].
var assumed atomic.Int64

// AssumeBlockSize makes [BlockSize] return size until restore is called. It is for tests
// on file systems that cannot clone, where [Writer.Clone] copies.
func AssumeBlockSize(size int) (restore func()) {
	was := assumed.Swap(int64(size))
	return func() { assumed.Store(was) }
}

// BlockSize returns the size in bytes of the blocks that files in the folder dir can
// share, a power of two. It is 0 if they cannot share any.
func BlockSize(root *os.Root, dir string) int {
	if size := int(assumed.Load()); size != 0 {
		return size
	}
	size := cloneBlock(root, dir)
	if size <= 0 || size > maxBlock || size&(size-1) != 0 {
		return 0
	}
	return size
}

// Clone writes n bytes of in, from an offset. If in is an [os.File] whose file system can
// clone, and both offsets and n are multiples of the block size, the two files share these
// blocks. Otherwise the bytes are copied. The error is [io.ErrUnexpectedEOF] if in has
// fewer bytes.
func (w *Writer) Clone(in io.ReaderAt, from, n int64) error {
	if err := w.Flush(); err != nil || n <= 0 { // the kernel clones to the end of the file if n is 0
		return err
	}
	// Observers of steps see the bytes.
	if source, ok := in.(*os.File); ok && seam.Load() == nil && cloneRange(w.file.os, source, w.file.at, from, n) == nil {
		w.file.at += n
		_, err := w.file.os.Seek(w.file.at, io.SeekStart)
		return err
	}
	copied, err := io.Copy(w, io.NewSectionReader(in, from, n))
	if err == nil && copied < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}
