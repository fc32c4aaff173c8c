package stream

// Limit makes the packs and frames of p smaller.
func (p *Packer) Limit(pack, frame int) { p.maxPack, p.maxFrame = pack, frame }

// Limit makes the records of w smaller.
func (w *Writer) Limit(record int) { w.most = record }

// SetMaxBase sets the size in bytes of an object of a base.
func (w *Writer) SetMaxBase(n int) { w.maxBase = n }
