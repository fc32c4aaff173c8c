package pack

// Intact returns the items, [Item.Lost] in place of those that are not readable. It reads
// only frames for which used returns false of their items, from and up to but not including
// to: after a power failure, the header of a frame that was being appended may be whole
// while its content is not. A frame with an item in use is durable. The result must not be
// modified.
func (p *Pack) Intact(used func(from, to int) bool) []Item {
	buf := newBuffer()
	defer buf.release()
	items, own := p.items, false
	for i := range p.frames {
		f := &p.frames[i]
		if used(f.first, f.next()) || p.readVerified(f, buf) == nil {
			continue
		}
		if !own {
			items, own = append([]Item(nil), items...), true
		}
		for n := f.first; n < f.next(); n++ {
			items[n] = Item{Size: -1}
		}
	}
	return items
}
