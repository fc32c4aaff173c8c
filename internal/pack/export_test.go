package pack

// Frames returns the number of whole frames.
func (p *Pack) Frames() int { return len(p.frames) }
