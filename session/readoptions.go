package session

// ReadOptions are the choices for reading.
type ReadOptions struct {
	// Partial reads the part of a conversation that can be read if some of its files are
	// missing or damaged, instead of returning an error.
	Partial bool
}
