package gitindex

// List returns the paths.
func (p Paths) List() []string { return p.list }
