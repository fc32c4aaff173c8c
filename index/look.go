package index

import (
	"encoding/binary"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// The files of the last look.
const (
	tablePath = session.CacheDir + "/index"
	lookPath  = session.CacheDir + "/look"

	maxLook = 64 << 20 // bytes
)

// A look is the cached result of examining every session, with the changes since.
type look struct {
	folder  durable.Identity // without the size
	files   files
	count   count
	layout  layout
	stale   bool // the index differed from the files, or could not be used
	torn    bool
	old     bool
	trouble string
	recent  map[string]recent // sessions that were changed or added after the table was built
}

// A recent is a journal line of a session that is newer than the table.
type recent struct {
	file  durable.Identity
	at    int64  // the offset of the line in the journal
	size  uint64 // of the line in bytes; 0 for a deleted session
	names []name
}

// mark is the start of a look file, with the version of its format.
const mark = "bough look 8\n"

func (l *look) encode() []byte {
	data := append(make([]byte, 0, 512+192*len(l.recent)), mark...)
	for _, f := range []durable.Identity{l.folder, l.files.index, l.files.journal} {
		data = appendIdentity(data, f)
	}
	for _, n := range []int64{l.files.lines, l.files.size, l.count.Sessions, l.count.Lists, l.count.Bytes,
		l.layout.Names, l.layout.IDs, l.layout.Size, int64(l.layout.Sum)} {
		data = binary.LittleEndian.AppendUint64(data, uint64(n))
	}
	data = append(data, flag(l.stale), flag(l.torn), flag(l.old))
	data = appendText(data, l.trouble)
	data = binary.AppendUvarint(data, uint64(len(l.recent)))
	for _, id := range slices.Sorted(maps.Keys(l.recent)) {
		r := l.recent[id]
		data = appendText(data, id)
		data = appendIdentity(data, r.file)
		data = binary.AppendUvarint(data, uint64(r.at))
		data = binary.AppendUvarint(data, r.size)
		data = binary.AppendUvarint(data, uint64(len(r.names)))
		for _, n := range r.names {
			data = appendText(append(data, n.kind), n.text)
		}
	}
	return binary.LittleEndian.AppendUint32(data, crc32c.Of(data))
}

func decodeLook(data []byte) (*look, error) {
	end := len(data) - 4
	if end < len(mark) || string(data[:len(mark)]) != mark ||
		crc32c.Of(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, errCache
	}
	d := decoder{data: data[len(mark):end]}
	l := &look{folder: d.identity()}
	l.files = files{index: d.identity(), journal: d.identity(), lines: d.int64(), size: d.int64()}
	l.count = count{d.int64(), d.int64(), d.int64()}
	l.layout = layout{d.int64(), d.int64(), d.int64(), uint32(d.int64())}
	l.stale, l.torn, l.old = d.byte() != 0, d.byte() != 0, d.byte() != 0
	l.trouble = d.text()
	n := d.uvarint()
	l.recent = make(map[string]recent, min(n, uint64(len(data))/32))
	for ; n > 0 && d.err == nil; n-- {
		id := d.text()
		r := recent{file: d.identity(), at: int64(d.uvarint()), size: d.uvarint()}
		for names := d.uvarint(); names > 0 && d.err == nil; names-- {
			r.names = append(r.names, name{d.byte(), d.text()})
		}
		l.recent[id] = r
	}
	return l, d.err
}

// last is an open look with its table.
type last struct {
	*look
	table *table
}

// Open returns the same as [Load]. If the folder, the index and the journal have
// not changed since the last look, it loads sessions from that on demand. If packed is nil,
// each recipe is read.
func Open(root *os.Root, aliases map[string]string, read Reader, packed *PackedCache) (*Index, error) {
	return open(root, aliases, read, packed, defaultLimits)
}

func open(root *os.Root, aliases map[string]string, read Reader, packed *PackedCache, limits limits) (*Index, error) {
	x := newIndex(root, aliases, read)
	x.limits, x.recipes = limits, packed
	if x.open() {
		return x, nil
	}
	return x, x.load()
}

func (x *Index) open() bool {
	data, err := readLook(x.root)
	if err != nil {
		return false
	}
	l, err := decodeLook(data)
	if err != nil {
		return false
	}
	t, err := openTable(x.root, l.layout)
	if err != nil {
		return false
	}
	x.reset()
	x.last = &last{l, t}
	if l.files.index != identify(x.root, session.IndexPath) || l.files.journal != identifyJournal(x.root) ||
		l.folder != folderOf(x.root) {
		x.Close()
		return false
	}
	x.Trouble, x.Torn, x.Old, x.rewrite = l.trouble, l.torn, l.old, l.stale
	x.count, x.files = l.count, l.files
	x.folder = watch{seen: l.folder, safe: true}
	if x.addPacked() != nil || len(x.Temporary) > 0 {
		x.Close()
		return false
	}
	return true
}

func readLook(root *os.Root) ([]byte, error) {
	f, err := durable.OpenCache(root, lookPath, maxLook)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Count returns the number of sessions, without packed checkpoints.
func (x *Index) Count() int64 { return x.count.Sessions }

// Unchanged reports that no other program changed a session since the index was written, as far as that
// is known without examining every session.
func (x *Index) Unchanged() bool { return x.last != nil && !x.Stale() && x.Trouble == "" }

// Close releases the files of [Open]. The Index must not be used afterwards.
func (x *Index) Close() {
	if x.last != nil {
		x.last.table.file.Close()
		x.last = nil
	}
}

// reset empties x before a load.
func (x *Index) reset() {
	x.before = look{}
	if x.last != nil && !x.last.stale {
		x.before = *x.last.look
	}
	x.Close()
	x.Trouble, x.Torn, x.Old = "", false, false
	x.Blank, x.Foreign, x.Temporary = false, Foreign{Had: map[string]int{}}, nil
	x.entries, x.names, x.sorted, x.lineages = map[string]*Entry{}, nil, nil, map[string][]string{}
	x.changed, x.rewrite, x.absent, x.claimed = map[string]bool{}, false, false, false
	x.count, x.places, x.newest = count{}, 0, 0
}
