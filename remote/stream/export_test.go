package stream

// Limit makes the records of w smaller.
func (w *Writer) Limit(record int) { w.most = record }
