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
	runs   []PackRun
	count  int       // number of items
	fresh  []docItem // those that are added to packs[0]
	in, at int       // the pack of the last item, and the number after it
	added  int64     // bytes
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

// list finds the items of the document in the packs. It reads the messages that another
// separator precedes.
func (p *packing) list(runs []session.Run) error {
	for _, run := range runs {
		if run.Part == nil {
			item, err := run.Single()
			if err != nil {
				return err
			}
			p.match(docItem{Item: pack.Item{Size: len(item), Hash: pack.HashOf(item)}, raw: item, newRun: true})
			continue
		}
		if err := p.listRun(run); err != nil {
			return err
		}
	}
	return nil
}

// listRun does what list does with a run that has a part.
func (p *packing) listRun(run session.Run) error {
	var in *itemReader
	defer func() { in.close() }()
	for i := range run.Len() {
		at, size, hash, known := run.Item(i)
		it := docItem{Item: pack.Item{Size: size, Hash: hash}, part: run.Part, at: at, newRun: i == 0}
		if !known {
			var err error
			if in == nil {
				if in, err = p.openItems(run.Part); err != nil {
					return err
				}
			}
			if it.Hash, err = in.hash(&it); err != nil {
				return err
			}
		}
		p.match(it)
	}
	return nil
}

// match finds an item in the packs, and adds it to the runs.
func (p *packing) match(it docItem) {
	own := p.packs[0]
	next := own.count + len(p.fresh) // number of the next item that is added
	l := p.packs[p.in]
	switch {
	case p.at < len(l.items) && l.items[p.at] == it.Item:
	case p.in == 0 && p.at >= len(own.items) && p.count > 0:
		p.fresh, p.at = append(p.fresh, it), next // a new message after the newest one
	default:
		if p.in, p.at = p.find(it.Item, p.count == 0); p.at < 0 {
			p.fresh, p.in, p.at = append(p.fresh, it), 0, next
		}
	}
	p.run(p.packs[p.in].line, p.at)
	p.at++
	p.count++
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
	for _, it := range p.fresh {
		total += int64(it.Size)
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
		starts, err := p.addTo(out, total)
		if flushed := out.Flush(); err == nil || errors.As(flushed, new(*pack.HashError)) {
			err = p.hashError(flushed)
		}
		if err != nil {
			return err
		}
		for i, start := range starts {
			p.joined[start] = out.Sums()[1+i]
		}
		p.added = out.Bytes()
		return nil
	})
}

// hashError converts a *[pack.HashError].
func (p *packing) hashError(err error) error {
	var hash *pack.HashError
	if !errors.As(err, &hash) {
		return err
	}
	return asChanged(io.EOF, p.fresh[hash.Item-p.packs[0].count].part)
}

// addTo adds the fresh items, of total bytes, to out. It returns the numbers of the items
// at which the sums begin.
func (p *packing) addTo(out *pack.Writer, total int64) (starts []int, err error) {
	var in *itemReader
	defer func() { in.close() }()
	number := p.packs[0].count // of the next item
	begins := func(number int) bool {
		_, is := p.joined[number]
		return is
	}
	var part *session.Outline // of in
	var list []pack.Item
	progress := progressReader{total: total, watch: p.watch}
	for k := 0; k < len(p.fresh); k += len(list) {
		it := &p.fresh[k]
		if begins(number) {
			out.Mark()
			starts = append(starts, number)
		}
		last := it
		list = append(list[:0], it.Item)
		for k+len(list) < len(p.fresh) && !begins(number+len(list)) {
			next := &p.fresh[k+len(list)]
			if it.part == nil || next.part != it.part || next.newRun || next.at != last.end() {
				break
			}
			list, last = append(list, next.Item), next
		}
		switch {
		case it.part == nil:
			progress.in = bytes.NewReader(it.raw)
		default:
			if in == nil || it.part != part || it.at < in.at {
				in.close()
				if in, err = p.openItems(it.part); err != nil {
					return nil, err
				}
				part = it.part
			}
			if progress.in, err = in.from(it); err != nil {
				return nil, asChanged(err, part)
			}
			in.at = last.end()
		}
		if err := out.AddFrom(&progress, list); err != nil {
			return nil, asChanged(err, part)
		}
		number += len(list)
	}
	return starts, nil
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
