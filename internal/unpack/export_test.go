package unpack

// SetFree sets the uncompressed size in bytes that is always allowed.
func (o *Options) SetFree(size int64) { o.free = size }
