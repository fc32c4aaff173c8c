package durable

import (
	"io/fs"
	"syscall"
)

func (id *Identity) system(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		id.Changed, id.Inode = st.Ctim.Nano(), st.Ino
	}
}
