package session

// Bytes returns the file as edited.
func (e *Edit) Bytes() []byte {
	data, err := e.layout().bytes(func(o *Outline) (*Session, error) { return o.with(o.data), nil })
	if err != nil {
		panic(err)
	}
	return data
}

// Encode returns o as it is cached.
func Encode(o *Outline) []byte {
	data := o.encode()
	return append(data, o.Stat.encode(data)...)
}

// Region returns the bytes of messages from to before to.
func (s *Session) Region(from, to int) []byte { return s.span(from, to).Of(s.data) }

// Worthwhile is how large a file must be to be remembered.
const Worthwhile = worthwhile

// Remembered reports whether o comes from the cache.
func Remembered(o *Outline) bool { return o.remembered }

// DecodeOutline reads a cached outline.
func DecodeOutline(data []byte) *Outline { return decodeOutline(data) }

// LearnOpening gives o the opening that read has, if that of o is not known.
func LearnOpening(o, read *Outline) {
	if o.opening.lost {
		o.opening = read.opening
	}
}
