package sessions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/session"
)

// A packing is the state of [Folder.Pack].
type packing struct {
	folder Folder
	batch  *durable.Batch
	watch  func(done, total int64) error
	packs  []*linePack
	items  []docItem
	runs   []PackRun
	fresh  []int // the items that are added to packs[0]
	added  int64 // bytes
	raw    bool
	joined map[int]crc32c.Sum // of the added items of a run, by the number of the first one
}

// A linePack is the pack of a line.
type linePack struct {
	line  string
	pack  *pack.Pack     // nil if there is none
	items []pack.Item    // lost ones in place of those that are neither durable nor intact
	count int            // number of items, and of those that recipes use
	inUse bool           // a recipe names the pack, so its name is durable
	at    map[uint64]int // numbers of the items by hash, nil until needed
}

// A docItem is a message of the document with the bytes before it.
type docItem struct {
	pack.Item
	part   *session.Outline
	at     int // offset in the file of part
	raw    []byte
	newRun bool // it is the first one of a run: at is the offset of its message
}

func (p *packing) close() {
	for _, l := range p.packs {
		if l.pack != nil {
			l.pack.Close()
		}
	}
}

// open opens the packs of lines, of which only the first one may be missing.
func (p *packing) open(lines []PackedLine) error {
	for i, line := range lines {
		opened, err := pack.Open(p.folder.root, PackFile(line.ID))
		switch {
		case errors.Is(err, fs.ErrNotExist) && i > 0:
			continue
		case errors.Is(err, fs.ErrNotExist):
			p.packs = append(p.packs, &linePack{line: line.ID, count: line.used()})
			continue
		case err != nil:
			return damagedPack(line.ID, err)
		}
		known := opened.Intact(func(from, to int) bool {
			return slices.ContainsFunc(line.InUse, func(run [2]int) bool { return run[0] < to && from < run[1] })
		})
		p.packs = append(p.packs, &linePack{line: line.ID, pack: opened, items: known, count: max(opened.Len(), line.used()), inUse: len(line.InUse) > 0})
	}
	return nil
}

// list lists the items of the document. It reads the messages that another separator
// precedes.
func (p *packing) list(runs []session.Run) error {
	for _, run := range runs {
		if run.Part == nil {
			item, err := run.Single()
			if err != nil {
				return err
			}
			p.items = append(p.items, docItem{Item: pack.Item{Size: len(item), Hash: pack.HashOf(item)}, raw: item, newRun: true})
			continue
		}
		first, all := len(p.items), true
		p.items = slices.Grow(p.items, run.Len())
		for i := range run.Len() {
			at, size, hash, known := run.Item(i)
			p.items = append(p.items, docItem{Item: pack.Item{Size: size, Hash: hash}, part: run.Part, at: at, newRun: i == 0})
			all = all && known
		}
		if all {
			continue
		}
		list := p.items[first:]
		if err := p.read(list, func(i int, item []byte) error {
			list[i].Hash = pack.HashOf(item)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// read calls each for items of one part in the order of its file. The bytes are valid
// until each returns.
func (p *packing) read(items []docItem, each func(i int, item []byte) error) error {
	if len(items) == 0 {
		return nil
	}
	part := items[0].part
	if part == nil {
		for i, it := range items {
			if err := each(i, it.raw); err != nil {
				return err
			}
		}
		return nil
	}
	changed := fmt.Errorf("%s %w", session.FileName(part.ID), session.ErrChanged)
	var in io.Reader = bytes.NewReader(part.Bytes())
	if part.Bytes() == nil {
		file, err := p.folder.openPart(part.ID)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
		if s, ok := file.(*source); ok && s.file != nil {
			in = s.file
		}
	}
	r := &window{in: in}
	for i, it := range items {
		size := it.Size
		if it.newRun {
			size -= len(session.Separator)
		}
		item, err := r.read(it.at, size)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return changed
		}
		if err != nil {
			return err
		}
		if it.newRun {
			item = append([]byte(session.Separator), item...)
		}
		if err := each(i, item); err != nil {
			return err
		}
	}
	return nil
}

// A window reads parts of a stream in the order of their offsets.
type window struct {
	in     io.Reader
	buffer []byte // what was read and is not passed yet
	memory []byte // the buffer is at its end
	at     int    // offset of the buffer in the stream
}

// read returns the size bytes at an offset, valid until the next call.
func (w *window) read(at, size int) ([]byte, error) {
	const block = 1 << 20
	if gap := at - w.at - len(w.buffer); gap > 0 {
		if err := w.skip(gap); err != nil {
			return nil, err
		}
	}
	w.buffer, w.at = w.buffer[at-w.at:], at
	if size > len(w.buffer) {
		if cap(w.memory) < size {
			w.memory = make([]byte, max(block, size+size/4))
		}
		have := copy(w.memory[:cap(w.memory)], w.buffer)
		n, err := io.ReadAtLeast(w.in, w.memory[have:cap(w.memory)], size-have)
		w.buffer = w.memory[:have+n]
		if err != nil {
			return nil, err
		}
	}
	return w.buffer[:size:size], nil
}

// skip discards the buffer and n bytes after it.
func (w *window) skip(n int) (err error) {
	w.at += len(w.buffer) + n
	w.buffer = nil
	if s, ok := w.in.(io.Seeker); ok {
		_, err = s.Seek(int64(n), io.SeekCurrent)
		return err
	}
	_, err = io.CopyN(io.Discard, w.in, int64(n))
	return err
}

// match finds the items in the packs, and computes the runs.
func (p *packing) match() {
	own := p.packs[0]
	next := own.count // number of the next item that is added
	in, at := 0, 0    // the pack and the number that the next item is expected to have
	for i := range p.items {
		item := p.items[i].Item
		l := p.packs[in]
		switch {
		case at < len(l.items) && l.items[at] == item:
		case in == 0 && at >= len(own.items) && i > 0:
			p.fresh, at = append(p.fresh, i), next // a new message after the newest one
			next++
		default:
			if in, at = p.find(item, i == 0); at < 0 {
				p.fresh, in, at = append(p.fresh, i), 0, next
				next++
			}
		}
		p.run(p.packs[in].line, at)
		at++
	}
}

// find returns the pack that has an item, and its number there, -1 if none has it.
func (p *packing) find(item pack.Item, first bool) (in, at int) {
	for k, l := range p.packs {
		if first && len(l.items) > 0 && l.items[0] == item {
			return k, 0
		}
	}
	for k, l := range p.packs {
		if n, ok := l.number(item); ok {
			return k, n
		}
	}
	return 0, -1
}

// number returns the number of an item.
func (l *linePack) number(item pack.Item) (int, bool) {
	if l.at == nil {
		l.at = make(map[uint64]int, len(l.items))
		for n, it := range l.items {
			if !it.Lost() {
				l.at[it.Hash] = n
			}
		}
	}
	n, ok := l.at[item.Hash]
	return n, ok && l.items[n] == item
}

// run adds item number at of the pack of a line to the runs.
func (p *packing) run(line string, at int) {
	if n := len(p.runs); n > 0 && p.runs[n-1].Line == line && p.runs[n-1].To == at {
		p.runs[n-1].To++
		return
	}
	p.runs = append(p.runs, PackRun{line, at, at + 1})
}

// add adds the fresh items to the pack of the line.
func (p *packing) add() error {
	if len(p.fresh) == 0 {
		return nil
	}
	total := int64(0)
	for _, i := range p.fresh {
		total += int64(p.items[i].Size)
	}
	p.raw = total >= rawFrom
	own := p.packs[0]
	if own.count+len(p.fresh) > maxItems {
		return fmt.Errorf("%s would have more than %d messages, including lost ones", PackFile(own.line), maxItems)
	}
	p.joined = map[int]crc32c.Sum{}
	for _, run := range p.runs {
		if run.Line == own.line && run.To > own.count {
			p.joined[max(run.From, own.count)] = crc32c.Sum{}
		}
	}
	done, number, from := int64(0), own.count, own.count
	offset, first := int64(0), 0
	if own.pack != nil {
		offset, first = own.pack.End(), own.pack.Len()
	}
	return p.batch.Extend(PackFile(own.line), offset, own.inUse, func(w *durable.Writer) error {
		out := pack.NewWriter(w, offset, first, p.raw)
		for range own.count - first { // items whose frames are lost keep their numbers
			if err := out.Add([]byte(pack.Hole)); err != nil {
				return cmp.Or(out.Flush(), err)
			}
		}
		err := p.eachFresh(func(it docItem, item []byte) error {
			if pack.HashOf(item) != it.Hash {
				return fmt.Errorf("%s %w", session.FileName(it.part.ID), session.ErrChanged)
			}
			sum, begins := p.joined[number]
			if begins {
				from = number
			} else {
				sum = p.joined[from]
			}
			sum.Add(item)
			p.joined[from] = sum
			number++
			if done += int64(len(item)); p.watch != nil {
				if err := p.watch(done, total); err != nil {
					return err
				}
			}
			return out.Add(item)
		})
		err = cmp.Or(err, out.Flush())
		p.added = out.Bytes()
		return err
	})
}

// eachFresh calls each for the fresh items, in order.
func (p *packing) eachFresh(each func(it docItem, item []byte) error) error {
	list := make([]docItem, len(p.fresh))
	for k, i := range p.fresh {
		list[k] = p.items[i]
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && !list[n].newRun && list[n].part == list[n-1].part && list[n].at > list[n-1].at {
			n++
		}
		if err := p.read(list[:n], func(i int, item []byte) error { return each(list[i], item) }); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// sum returns the checksum of all items in the order of the document.
func (p *packing) sum() (sum crc32c.Sum, err error) {
	for _, run := range p.runs {
		i := slices.IndexFunc(p.packs, func(l *linePack) bool { return l.line == run.Line })
		l := p.packs[i]
		if to := min(run.To, l.count); run.From < to {
			known, err := l.pack.Sum(run.From, to)
			if err != nil {
				return sum, damagedPack(l.line, err)
			}
			sum.Join(known)
		}
		if run.To > l.count {
			sum.Join(p.joined[max(run.From, l.count)])
		}
	}
	return sum, nil
}
