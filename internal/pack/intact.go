package pack

import "sort"

// Intact returns the number of items before the first damaged frame, of those frames that
// have items from number used on. It reads only these frames. The others are durable: after
// a power failure, the header of a frame that was being appended may be whole while its
// content is not.
func (p *Pack) Intact(used int) (items int) {
	buf := newBuffer()
	defer buf.release()
	i := sort.Search(len(p.frames), func(i int) bool { return p.frames[i].next() > used })
	for ; i < len(p.frames); i++ {
		if err := p.readVerified(&p.frames[i], buf); err != nil {
			return p.frames[i].first
		}
	}
	return len(p.items)
}
