package session

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
)

// CacheDir is the workspace folder of the caches of session files. All of it may be
// deleted.
const CacheDir = ".bough/cache"

const (
	outlineDir = CacheDir + "/sessions"

	// outlineMagic is the start of a cached outline. It changes with the format.
	outlineMagic = "bough outline 3\n"

	// minCachedSize is the size in bytes from which a file's outline is cached.
	minCachedSize = 128 << 10
)

func outlineFile(id string) string { return outlineDir + "/" + id }

// Remember caches an outline, so that an unchanged file need not be parsed again.
// It does not cache the outline of a small file, which is parsed as fast as a cache
// is read, nor of a file on a system that does not report when a file changed,
// whatever its modification time. Errors are ignored.
func (f Folder) Remember(o *Outline) {
	if !o.worthCaching() || o.opening.lost {
		return
	}
	if o.remembered || o.Stat.Changed <= 0 || !o.ours && !o.Stat.settled(time.Now()) {
		return
	}
	o.Encode()
	pieces := [][]byte{o.encoded, o.Stat.encode(o.encoded)}
	o.encoded = nil
	o.remembered = durable.Cache(f.root, CacheDir, outlineFile(o.ID), pieces...) == nil
}

// SweepCache removes temporary files that an interrupted [Folder.Remember] left. A
// concurrent Remember may then cache nothing.
func (f Folder) SweepCache() {
	entries, _ := durable.ReadDir(f.root, CacheDir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) {
			_ = f.root.Remove(CacheDir + "/" + e.Name())
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
func (f Folder) CacheDiffers(o *Outline) bool {
	if !o.worthCaching() {
		return false
	}
	was := f.recall(o.Stat, &scratch{})
	return was != nil && !bytes.Equal(was.encode(), o.encode())
}

// settled reports whether the file's last change is so old that the next one must
// get another time stamp.
func (st Stat) settled(now time.Time) bool {
	return durable.Settled(st.ModTime.UnixNano(), now) && durable.Settled(st.Changed, now)
}

// worthCaching reports whether parsing the file takes longer than reading its
// cached outline.
func (o *Outline) worthCaching() bool { return o.size >= minCachedSize }

// Forget removes the cached outline of a session that no longer exists.
func (f Folder) Forget(id string) { _ = f.root.Remove(outlineFile(id)) }

// recall returns the cached outline of the file st, or nil.
func (f Folder) recall(st Stat, memory *scratch) *Outline {
	if !sessionid.Valid(st.ID) {
		return nil
	}
	in, err := durable.OpenCache(f.root, outlineFile(st.ID), 2*st.Size+1<<16)
	if err != nil {
		return nil
	}
	defer in.Close()
	data, err := memory.read(in)
	if err != nil {
		return nil
	}
	if o := decodeOutline(data); o != nil && o.Stat == st {
		o.remembered = true
		return o
	}
	return nil
}

// statSize is the size in bytes of the end of a cached outline: the file's Stat and
// a checksum.
const statSize = 4*8 + 4

// encode returns the end of a cached outline: st as integers of eight bytes, and
// the CRC-32C of before and of these integers.
func (st Stat) encode(before []byte) []byte {
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
func decodeStat(data []byte) (st Stat, ok bool) {
	end := len(data) - statSize
	if end < 0 || crc32c.Of(data[:len(data)-4]) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		return st, false
	}
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(data[end+8*i:])) }
	return Stat{Size: number(0), ModTime: time.Unix(0, number(1)), Changed: number(2), Inode: uint64(number(3))}, true
}

// Encode encodes o for the cache now rather than in [Folder.Remember].
func (o *Outline) Encode() {
	if o.encoded == nil && o.worthCaching() {
		o.encoded = o.encode()
	}
}

// encode returns the cached form of o without its end: integers as varints, strings
// prefixed with their length.
func (o *Outline) encode() []byte {
	e := &encoder{make([]byte, 0, 512+len(o.ids)+8*len(o.marks)+len(o.metadata))}
	e.b = append(e.b, outlineMagic...)
	e.text(o.ID)
	e.text(o.OwnID)
	e.text(o.CreatedAt)
	e.text(o.LastActive)
	e.count(o.Header, o.LinkOffset, int(o.CRC32C), bit(o.FitsSeal), o.size, bit(o.metadata != nil))
	e.text(string(o.metadata))
	e.count(len(o.members))
	for _, m := range o.members {
		e.text(m.Key)
		e.count(m.KeyStart, m.Value.Start, m.Value.End)
	}
	for _, r := range o.records {
		e.count(r.span.Start, r.span.End, r.count)
	}
	e.count(o.opening.at + 1)
	e.text(o.opening.words)
	e.text(o.ids)
	e.count(len(o.marks))
	at := 0
	for i, m := range o.marks {
		e.count(int(m.start)-at, int(m.end-m.start), int(m.parent-m.id), len(o.parentID(i)), int(m.edge)|bit(m.late)<<2|bit(m.stored)<<3|bit(m.tied)<<4)
		at = int(m.end)
	}
	e.count(len(o.tools))
	for _, t := range o.tools {
		e.count(int(t.at))
		e.texts(t.calls)
		e.texts(t.results)
	}
	e.count(len(o.ties))
	for _, t := range o.ties {
		e.count(int(t.at))
		e.text(t.joined)
		e.text(t.replaced)
	}
	e.count(len(o.stamps))
	for _, s := range o.stamps {
		e.count(int(s.at))
		e.text(s.text)
	}
	return e.b
}

// decodeOutline decodes a cached outline. It returns nil if data is not valid.
func decodeOutline(data []byte) *Outline {
	st, ok := decodeStat(data)
	if !ok {
		return nil
	}
	body, ok := bytes.CutPrefix(data[:len(data)-statSize], []byte(outlineMagic))
	if !ok {
		return nil
	}
	d := &outlineDecoder{b: body}
	o := &Outline{ID: d.text(), Stat: st}
	o.Stat.ID = o.ID
	o.OwnID, o.CreatedAt, o.LastActive = d.text(), d.text(), d.text()
	o.Header, o.LinkOffset, o.CRC32C, o.FitsSeal, o.size = d.count(), d.count(), uint32(d.count()), d.count() == 1, d.count()
	if has, metadata := d.count() == 1, d.text(); has {
		o.metadata = []byte(metadata)
		d.bad = d.bad || rawjson.Check(o.metadata) != nil
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.members = append(o.members, rawjson.Member{Key: d.text(), KeyStart: d.count(), Value: d.span()})
	}
	for i := range o.records {
		o.records[i] = array{d.span(), d.count()}
	}
	o.opening = opening{at: d.count() - 1, words: d.text()}
	d.messages(o)
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.tools = append(o.tools, toolUse{uint32(d.count()), d.texts(), d.texts()})
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.ties = append(o.ties, tie{uint32(d.count()), d.text(), d.text()})
	}
	d.bad = d.bad || !o.tiesFit()
	for n := d.count(); n > 0 && !d.bad; n-- {
		o.stamps = append(o.stamps, stamp{uint32(d.count()), d.text()})
	}
	if d.bad || d.left() > 0 || int64(o.size) != o.Stat.Size || o.Header > o.Len() {
		return nil
	}
	if o.metadata != nil {
		members, err := rawjson.Members(o.metadata, rawjson.Root(o.metadata))
		if err == nil {
			o.Meta, err = metaOf(o.metadata, members)
		}
		if err != nil {
			return nil
		}
	}
	return o
}

// tiesFit reports whether o has a tie for exactly those messages that are marked as
// tied.
func (o *Outline) tiesFit() bool {
	n := 0
	for i, m := range o.marks {
		if m.tied {
			if n == len(o.ties) || int(o.ties[n].at) != i {
				return false
			}
			n++
		}
	}
	return n == len(o.ties)
}

// messages decodes the marks of o.
func (d *outlineDecoder) messages(o *Outline) {
	o.ids = d.text()
	n := d.count()
	if n > d.left() {
		d.bad = true
		return
	}
	o.marks = make([]mark, n)
	at, id := 0, 0
	for i := range o.marks {
		start := at + d.count()
		at = start + d.count()
		parent := id + d.count()
		end := parent + d.count()
		flags := d.count()
		if d.bad || int64(at) > maxFile || end > len(o.ids) {
			d.bad = true
			return
		}
		o.marks[i] = mark{uint32(start), uint32(at), uint32(id), uint32(parent), edge(flags & 3), flags&4 != 0, flags&8 != 0, flags&16 != 0}
		id = end
	}
	d.bad = d.bad || id != len(o.ids)
}

type encoder struct{ b []byte }

func (e *encoder) count(numbers ...int) {
	for _, n := range numbers {
		e.b = binary.AppendUvarint(e.b, uint64(n))
	}
}

func (e *encoder) text(s string) {
	e.count(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) texts(list []string) {
	e.count(len(list))
	for _, s := range list {
		e.text(s)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// An outlineDecoder reads what an encoder wrote. After an invalid value, bad is set
// and all further reads return zero values.
type outlineDecoder struct {
	b   []byte
	at  int
	bad bool
}

// spoil marks the input as invalid.
func (d *outlineDecoder) spoil() { d.bad, d.at = true, len(d.b) }

// left returns the number of unread bytes.
func (d *outlineDecoder) left() int { return len(d.b) - d.at }

func (d *outlineDecoder) count() int {
	if d.at < len(d.b) && d.b[d.at] < 0x80 {
		d.at++
		return int(d.b[d.at-1])
	}
	n, size := binary.Uvarint(d.b[d.at:])
	if size <= 0 || n > uint64(maxFile) {
		d.spoil()
		return 0
	}
	d.at += size
	return int(n)
}

func (d *outlineDecoder) text() string {
	n := d.count()
	if n > d.left() {
		d.spoil()
		return ""
	}
	d.at += n
	return string(d.b[d.at-n : d.at])
}

func (d *outlineDecoder) texts() (list []string) {
	for n := d.count(); n > 0 && !d.bad; n-- {
		list = append(list, d.text())
	}
	return list
}

func (d *outlineDecoder) span() rawjson.Span {
	s := rawjson.Span{Start: d.count(), End: d.count()}
	d.bad = d.bad || s.End < s.Start
	return s
}
