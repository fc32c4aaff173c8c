package stream

// Limit makes the packs and frames of p smaller.
func (p *Packer) Limit(pack, frame int) { p.maxPack, p.maxFrame = pack, frame }

// Limit makes the records of w smaller.
func (w *Writer) Limit(record int) { w.most = record }
