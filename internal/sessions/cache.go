package sessions

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

const outlineDir = session.CacheDir + "/sessions"

// minCachedSize is the size in bytes from which a file's outline is cached: parsing
// smaller ones takes no longer than reading the cache.
const minCachedSize = 128 << 10

func outlineFile(id string) string { return outlineDir + "/" + id }

// Remember caches outlines, so that unchanged files need not be parsed again.
// It does not cache the outline of a small file, which is parsed as fast as a cache
// is read, nor of a file that changed a moment ago, nor of one on a system that does not
// report when a file changed, whatever its modification time. Errors are ignored.
func (f Folder) Remember(list ...*session.Outline) {
	var dir *durable.CacheDir
	for _, o := range list {
		if !worthCaching(o) || !settled(o.Stat, time.Now()) || f.memory.isCached(o.Stat) {
			continue
		}
		if dir == nil {
			var err error
			if dir, err = durable.OpenCacheDir(f.root, outlineDir); err != nil {
				return
			}
			defer dir.Close()
		}
		f.cache(dir, o, Encode(o))
	}
}

// RememberWritten caches the outline of a file that bough itself wrote, however recently.
// encoded is the result of [Folder.EncodeWritten].
func (f Folder) RememberWritten(o *session.Outline, encoded []byte) {
	if encoded == nil {
		return
	}
	if dir, err := durable.OpenCacheDir(f.root, outlineDir); err == nil {
		defer dir.Close()
		f.cache(dir, o, encoded)
	}
}

// EncodeWritten encodes the outline of a file that bough itself wrote. It returns nil for a
// checkpoint that shares its blocks with other files: the outlines of many checkpoints would
// be larger than these. That of a checkpoint that is read is cached by [Folder.Remember].
func (f Folder) EncodeWritten(o *session.Outline) []byte {
	if o.Meta.Kind() == session.Checkpoint && o.Size() >= minShared && f.blockSize() > 0 {
		return nil
	}
	return Encode(o)
}

// Encode encodes an outline for the cache. It returns nil if the outline is not to be
// cached.
func Encode(o *session.Outline) []byte {
	if !worthCaching(o) {
		return nil
	}
	data, err := o.MarshalBinary()
	if err != nil {
		return nil
	}
	return data
}

func (f Folder) cache(dir *durable.CacheDir, o *session.Outline, encoded []byte) {
	if encoded == nil || o.Stat.Changed <= 0 {
		return
	}
	info, err := dir.Write(o.ID, encoded, encodeStat(o.Stat, encoded))
	if err != nil {
		return
	}
	f.memory.cached.Store(o.ID, o.Stat)
	if o.Bytes() == nil {
		f.memory.keep(durable.Identify(info), o)
	}
}

// SweepCache removes temporary files that an interrupted [Folder.Remember] left. A
// concurrent Remember may then cache nothing.
func (f Folder) SweepCache() {
	entries, _ := durable.ReadDir(f.root, session.CacheDir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) {
			_ = f.root.Remove(session.CacheDir + "/" + e.Name())
		}
	}
}

// ForgetOthers removes the cached outlines of all sessions for which known returns
// false.
func (f Folder) ForgetOthers(known func(id string) bool) {
	entries, _ := durable.ReadDir(f.root, outlineDir)
	for _, e := range entries {
		if !known(e.Name()) {
			f.Forget(e.Name())
		}
	}
}

// CacheDiffers reports whether the cached outline of o's file differs from o
// although the file's Stat is the same: the file or the cache is corrupt.
func (f Folder) CacheDiffers(o *session.Outline) bool {
	was := f.recall(o.Stat)
	return was != nil && worthCaching(o) && !bytes.Equal(Encode(was), Encode(o))
}

// settled reports whether the file's last change is so old that the next one must
// get another time stamp.
func settled(st session.Stat, now time.Time) bool {
	return durable.Settled(st.ModTime.UnixNano(), now) && durable.Settled(st.Changed, now)
}

// worthCaching reports whether parsing the file takes longer than reading its
// cached outline. Those of packed checkpoints are not cached: together they would be
// larger than the packs.
func worthCaching(o *session.Outline) bool {
	return o.Size() >= minCachedSize && int64(o.Size()) == o.Stat.Size
}

// Forget removes the cached outline of a session that no longer exists.
func (f Folder) Forget(id string) {
	f.memory.forget(id)
	_ = f.root.Remove(outlineFile(id))
}

// recall returns the cached outline of the file st, or nil. The outline must not be
// modified.
func (f Folder) recall(st session.Stat) *session.Outline {
	if !sessionid.Valid(st.ID) || st.Size < minCachedSize {
		return nil
	}
	o := f.readCache(st)
	if o == nil {
		f.memory.forget(st.ID)
		return nil
	}
	f.memory.cached.Store(st.ID, st)
	return o
}

func (f Folder) readCache(st session.Stat) *session.Outline {
	info, err := f.root.Lstat(outlineFile(st.ID))
	if err != nil {
		return nil
	}
	if o := f.memory.kept(durable.Identify(info), st); o != nil {
		return o
	}
	in, err := durable.OpenCache(f.root, outlineFile(st.ID), 2*st.Size+1<<16)
	if err != nil {
		return nil
	}
	defer in.Close()
	if info, err = in.Stat(); err != nil {
		return nil
	}
	buffer := f.memory.buffer()
	defer f.memory.buffers.Put(buffer)
	if err := readAll(in, info.Size(), buffer); err != nil {
		return nil
	}
	if o := decodeCached(*buffer); o != nil && o.Stat == st {
		if file := durable.Identify(info); durable.Settled(file.Changed, time.Now()) {
			f.memory.keep(file, o)
		}
		return o
	}
	return nil
}

// decodeCached decodes a cached outline. It returns nil if data is not valid.
func decodeCached(data []byte) *session.Outline {
	st, ok := decodeStat(data)
	if !ok {
		return nil
	}
	o := new(session.Outline)
	if o.UnmarshalBinary(data[:len(data)-statSize]) != nil || int64(o.Size()) != st.Size {
		return nil
	}
	st.ID = o.ID
	o.Stat = st
	return o
}

// statSize is the size in bytes of the end of a cached outline: the file's Stat and
// a checksum.
const statSize = 4*8 + 4

// encodeStat returns the end of a cached outline: st as integers of eight bytes, and
// the CRC-32C of before and of these integers.
func encodeStat(st session.Stat, before []byte) []byte {
	data := make([]byte, 0, statSize)
	for _, n := range []int64{st.Size, st.ModTime.UnixNano(), st.Changed, int64(st.Inode)} {
		data = binary.LittleEndian.AppendUint64(data, uint64(n))
	}
	all := crc32c.Sum{}
	all.Add(before)
	all.Add(data)
	return binary.LittleEndian.AppendUint32(data, all.CRC)
}

// decodeStat decodes the end of a cached outline and reports whether the checksum
// matches.
func decodeStat(data []byte) (st session.Stat, ok bool) {
	end := len(data) - statSize
	if end < 0 || crc32c.Of(data[:len(data)-4]) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		return st, false
	}
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(data[end+8*i:])) }
	return session.Stat{Size: number(0), ModTime: time.Unix(0, number(1)), Changed: number(2), Inode: uint64(number(3))}, true
}
