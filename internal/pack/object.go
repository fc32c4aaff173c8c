package pack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
)

// An ID identifies an object by its content: it is the SHA-256 of it.
type ID [sha256.Size]byte

// IDOf returns the ID of an object.
func IDOf(data []byte) ID { return sha256.Sum256(data) }

// String returns the ID in hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText returns the ID in hexadecimal digits, and nothing for the zero ID.
func (id ID) MarshalText() ([]byte, error) {
	if id == (ID{}) {
		return nil, nil
	}
	return []byte(id.String()), nil
}

// UnmarshalText parses what MarshalText returns.
func (id *ID) UnmarshalText(text []byte) error {
	if *id = (ID{}); len(text) == 0 {
		return nil
	}
	parsed, ok := parseID(string(text), true)
	if !ok {
		return fmt.Errorf("%q is no SHA-256", text)
	}
	*id = parsed
	return nil
}

// An ObjectWriter writes objects, such as the files of a folder. As of a [Writer], Flush
// must be called in the end.
type ObjectWriter struct{ w *Writer }

// NewObjectWriter returns a writer of a pack of objects, see [NewWriter]. If fast,
// compression is about twice as fast, and the pack a tenth larger.
func NewObjectWriter(w io.Writer, offset int64, first int, fast bool) *ObjectWriter {
	out := NewWriter(w, offset, first, false)
	out.objects, out.fast = true, fast
	return &ObjectWriter{out}
}

// Add adds an object with its ID. It does not check the ID, which readers do, nor whether
// the pack already has the object.
func (w *ObjectWriter) Add(id ID, data []byte) error {
	if len(data) <= frameSize {
		return w.add(id, data)
	}
	for part := 1; len(data) > 0; part++ {
		piece := data[:min(len(data), frameSize)]
		data = data[len(piece):]
		if err := w.addPart(part, piece, id, len(data) == 0); err != nil {
			return err
		}
	}
	return nil
}

// AddFrom adds an object of any size that it reads from in, and returns its ID and size. If
// in fails, the parts so far take space and belong to no object.
func (w *ObjectWriter) AddFrom(in io.Reader) (id ID, size int64, err error) {
	sum := sha256.New()
	piece, next := make([]byte, 0, frameSize), make([]byte, 0, frameSize)
	if piece, err = readPiece(in, piece, sum); err != nil {
		return ID{}, 0, err
	}
	for part := 1; ; part++ {
		size += int64(len(piece))
		if len(piece) == frameSize {
			if next, err = readPiece(in, next, sum); err != nil {
				return ID{}, size, err
			}
		}
		last := len(next) == 0
		if last {
			sum.Sum(id[:0])
		}
		if part == 1 && last {
			return id, size, w.add(id, piece)
		}
		if err := w.addPart(part, piece, id, last); err != nil || last {
			return id, size, err
		}
		piece, next = next, piece[:0]
	}
}

// readPiece fills piece, up to its capacity.
func readPiece(in io.Reader, piece []byte, sum hash.Hash) ([]byte, error) {
	n, err := io.ReadFull(in, piece[:cap(piece)])
	sum.Write(piece[:n])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return piece[:n], err
}

func (w *ObjectWriter) add(id ID, data []byte) error {
	b, err := w.w.add(data)
	if err == nil {
		b.ids = append(b.ids, id)
	}
	return err
}

// addPart adds a part of an object as a frame of its own.
func (w *ObjectWriter) addPart(part int, data []byte, id ID, last bool) error {
	if len(w.w.current.items) > 0 {
		w.w.swap()
	}
	if err := w.add(ID{}, data); err != nil {
		return err
	}
	b := w.w.current
	if b.part = part; last {
		b.object = id
	}
	w.w.swap()
	return w.w.err
}

// Flush writes the last frame, and waits until all frames are written.
func (w *ObjectWriter) Flush() error { return w.w.Flush() }

// Bytes returns the number of bytes that were written before the last Flush returned.
func (w *ObjectWriter) Bytes() int64 { return w.w.Bytes() }

// An Index finds objects in packs. It is made from their headers and must be made anew if a
// pack changes. It is safe for concurrent use.
type Index struct {
	packs  []*Pack
	places map[ID]place
	recent recentFrames
}

// A place is that of an object: in the frames from frame to last, if it has parts, else the
// item of frame.
type place struct {
	pack, frame, last int
	item              int
	size              int64
}

// NewIndex returns an index of all objects of packs. It ignores packs without objects, and
// objects of which a header is damaged. The packs must not be closed before the last Read.
func NewIndex(packs ...*Pack) *Index {
	n := 0
	for _, p := range packs {
		n += len(p.ids)
	}
	x := &Index{packs: packs, places: make(map[ID]place, n)}
	for i, p := range packs {
		if p.HasObjects() {
			x.add(i, p)
		}
	}
	return x
}

func (x *Index) add(number int, p *Pack) {
	var whole place // the parts so far
	for i := range p.frames {
		f := &p.frames[i]
		switch {
		case f.part == 0:
			for k := f.first; k < f.next(); k++ {
				x.put(p.ids[k], place{number, i, i, k, int64(p.items[k].Size)})
			}
			continue
		case f.part == 1:
			whole = place{number, i, i, f.first, int64(f.bytes)}
		case whole.size > 0 && f.part == i-whole.frame+1 && f.first == whole.item+f.part-1:
			whole.last, whole.size = i, whole.size+int64(f.bytes)
		default:
			whole = place{} // parts are missing
		}
		if whole.size > 0 && f.object != (ID{}) {
			x.put(f.object, whole)
			whole = place{}
		}
	}
}

func (x *Index) put(id ID, at place) {
	if _, known := x.places[id]; !known {
		x.places[id] = at
	}
}

// Len returns the number of objects.
func (x *Index) Len() int { return len(x.places) }

// All returns the objects in any order.
func (x *Index) All() iter.Seq[ID] { return maps.Keys(x.places) }

// Size returns the size of an object, and whether the index has it.
func (x *Index) Size(id ID) (size int64, ok bool) {
	at, ok := x.places[id]
	return at.size, ok
}

// A Use is how much of a pack is used.
type Use struct {
	Objects    int   // number of live objects that are read from the pack
	Live, Size int64 // bytes of these objects, and of everything in the pack
}

// Uses returns the use of each pack of the index.
func (x *Index) Uses(live func(id ID) bool) []Use {
	list := make([]Use, len(x.packs))
	for i, p := range x.packs {
		for _, f := range p.frames {
			list[i].Size += int64(f.bytes)
		}
	}
	for id, at := range x.places {
		if live(id) {
			list[at.pack].Objects++
			list[at.pack].Live += at.size
		}
	}
	return list
}

// Stored returns a function that estimates how many bytes of its pack an object takes, 0 for
// an object that the index does not have.
func (x *Index) Stored() func(id ID) int64 {
	ratio := make([]float64, len(x.packs))
	for i, use := range x.Uses(func(ID) bool { return false }) {
		ratio[i] = float64(x.packs[i].End()) / float64(max(use.Size, 1))
	}
	return func(id ID) int64 {
		at, ok := x.places[id]
		if !ok {
			return 0
		}
		return int64(float64(at.size) * ratio[at.pack])
	}
}

// A MissingError reports an object that no pack has. It is [fs.ErrNotExist].
type MissingError struct{ ID ID }

func (e *MissingError) Error() string {
	return fmt.Sprintf("no pack has the object %v: a pack is missing or damaged", e.ID)
}

// Is reports whether target is [fs.ErrNotExist].
func (e *MissingError) Is(target error) bool { return target == fs.ErrNotExist }

// Read calls each with the content of objects: in the order of their places, each object
// once, in pieces of up to 1 MiB, the last of which has last set. The pieces are valid until
// each returns. Read verifies objects before it passes their last piece, and stops with a
// *[DamageError] if one is damaged, with a *[MissingError] before the first call if one is
// missing, and with the error that each returns.
func (x *Index) Read(ids []ID, each func(id ID, piece []byte, last bool) error) error {
	wanted := make([]found, len(ids))
	for i, id := range ids {
		at, ok := x.places[id]
		if !ok {
			return &MissingError{id}
		}
		wanted[i] = found{id, at}
	}
	slices.SortFunc(wanted, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.at.pack, b.at.pack), cmp.Compare(a.at.item, b.at.item), slices.Compare(a.id[:], b.id[:]))
	})
	steps := stepsOf(slices.Compact(wanted))
	sum := sha256.New()
	return ahead(len(steps), func(i int, buf *buffer) error {
		s := steps[i]
		return x.packs[s.pack].readObjects(s, buf)
	}, func(i int, buf *buffer, err error) error {
		if err != nil {
			return err
		}
		s := steps[i]
		p := x.packs[s.pack]
		f := &p.frames[s.frame]
		if f.part == 0 {
			return p.eachObject(s, buf.content, func(o found, data []byte) error { return each(o.id, data, true) })
		}
		if f.part == 1 {
			sum.Reset()
		}
		sum.Write(buf.content)
		last := s.frame == s.objects[0].at.last
		if last && ID(sum.Sum(nil)) != s.objects[0].id {
			return p.damage(f, "wrong hash of an object")
		}
		return each(s.objects[0].id, buf.content, last)
	})
}

// Get returns the content of an object, as Read does. The last frames stay decoded, so that
// objects that were added one after the other, such as the trees of a folder, are read fast
// one by one. The content must not be modified.
func (x *Index) Get(id ID) ([]byte, error) {
	at, ok := x.places[id]
	if !ok || at.frame != at.last || x.packs[at.pack].frames[at.frame].part > 0 {
		content := make([]byte, 0, at.size)
		err := x.Read([]ID{id}, func(_ ID, piece []byte, _ bool) error {
			content = append(content, piece...)
			return nil
		})
		return content, err
	}
	p := x.packs[at.pack]
	content, err := x.recent.get(p, at)
	if err != nil {
		return nil, err
	}
	var object []byte
	err = p.eachObject(step{at.pack, at.frame, []found{{id, at}}}, content, func(_ found, data []byte) error {
		object = data
		return p.verifyHash(&p.frames[at.frame], at.item, data)
	})
	return object, err
}

// recentFrames are the frames that were decoded last.
type recentFrames struct {
	mu   sync.Mutex
	list []recentFrame // the last one first
}

type recentFrame struct {
	pack, frame int
	content     []byte
}

// keptFrames is the number of frames that stay decoded, of 1 MiB each.
const keptFrames = 8

// get returns the content of the frame at a place.
func (r *recentFrames) get(p *Pack, at place) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.list, func(f recentFrame) bool { return f.pack == at.pack && f.frame == at.frame })
	if i >= 0 {
		f := r.list[i]
		copy(r.list[1:], r.list[:i])
		r.list[0] = f
		return f.content, nil
	}
	var buf buffer
	if err := p.decode(&p.frames[at.frame], &buf); err != nil {
		return nil, err
	}
	r.list = slices.Insert(r.list[:min(len(r.list), keptFrames-1)], 0, recentFrame{at.pack, at.frame, buf.content})
	return buf.content, nil
}

// found is an object at its place.
type found struct {
	id ID
	at place
}

// A step is a frame and the wanted objects in it.
type step struct {
	pack, frame int
	objects     []found
}

// stepsOf returns the frames that hold objects, which are sorted by place.
func stepsOf(wanted []found) (steps []step) {
	for i, o := range wanted {
		if n := len(steps) - 1; n >= 0 && steps[n].pack == o.at.pack && steps[n].frame == o.at.frame {
			steps[n].objects = append(steps[n].objects, o)
			continue
		}
		for frame := o.at.frame; frame <= o.at.last; frame++ {
			steps = append(steps, step{o.at.pack, frame, wanted[i : i+1 : i+1]})
		}
	}
	return steps
}

// readObjects reads a frame into buf and verifies the wanted objects.
func (p *Pack) readObjects(s step, buf *buffer) error {
	f := &p.frames[s.frame]
	if err := p.decode(f, buf); err != nil || f.part > 0 {
		return err
	}
	return p.eachObject(s, buf.content, func(o found, data []byte) error { return p.verifyHash(f, o.at.item, data) })
}

// eachObject calls each with the wanted objects of a frame.
func (p *Pack) eachObject(s step, content []byte, each func(o found, data []byte) error) error {
	f := &p.frames[s.frame]
	begin, i := 0, f.first
	for _, o := range s.objects {
		for ; i < o.at.item; i++ {
			begin += p.items[i].Size
		}
		size := p.items[i].Size
		if err := each(o, content[begin:begin+size:begin+size]); err != nil {
			return err
		}
	}
	return nil
}

// Rewrite writes a new pack with the objects for which live returns true.
func (x *Index) Rewrite(w io.Writer, live func(id ID) bool) error {
	var ids []ID
	for id := range x.places {
		if live(id) {
			ids = append(ids, id)
		}
	}
	out := NewObjectWriter(w, 0, 0, false)
	part := 0
	err := x.Read(ids, func(id ID, piece []byte, last bool) error {
		if part++; part == 1 && last {
			part = 0
			return out.add(id, piece)
		}
		number := part
		if last {
			part = 0
		}
		return out.addPart(number, piece, id, last)
	})
	return errors.Join(err, out.Flush())
}
