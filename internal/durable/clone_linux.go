package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// cloneBlock returns the size of the blocks that files in the folder dir can share, 0 if
// they cannot. On XFS and btrfs, which may lack it, it clones a block of a file without a
// name; on other file systems it changes nothing.
func cloneBlock(root *os.Root, dir string) int {
	folder, err := root.Open(dir)
	if err != nil {
		return 0
	}
	defer folder.Close()
	var st unix.Statfs_t
	if unix.Fstatfs(int(folder.Fd()), &st) != nil {
		return 0
	}
	if kind := uint32(st.Type); kind != unix.XFS_SUPER_MAGIC && kind != unix.BTRFS_SUPER_MAGIC { // its type depends on the processor
		return 0
	}
	size := int64(st.Bsize)
	if size <= 0 || size > maxBlock {
		return 0
	}
	f, err := root.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, Mode)
	if err != nil {
		return 0
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil || cloneRange(f, f, size, 0, size) != nil {
		return 0
	}
	return int(size)
}

// cloneRange makes n bytes of dst, from the offset to, share the blocks of src from the
// offset from.
func cloneRange(dst, src *os.File, to, from, n int64) error {
	return unix.IoctlFileCloneRange(int(dst.Fd()), &unix.FileCloneRange{
		Src_fd: int64(src.Fd()), Src_offset: uint64(from), Src_length: uint64(n), Dest_offset: uint64(to),
	})
}
