package remote

// SetBaseEvery sets after how many own records there is a new base.
func (r *Remote) SetBaseEvery(n uint64) { r.baseEvery = n }
