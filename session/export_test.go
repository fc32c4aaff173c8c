package session

import "github.com/bough-dev/bough/internal/rawjson"

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

// Region returns the bytes of the messages from up to but not including to.
func (s *Session) Region(from, to int) []byte { return s.span(from, to).Of(s.data) }

// MinCachedSize is the size from which a file's outline is cached.
const MinCachedSize = minCachedSize

// Remembered reports whether o comes from the cache.
func Remembered(o *Outline) bool { return o.remembered }

// DecodeOutline decodes a cached outline.
func DecodeOutline(data []byte) *Outline { return decodeOutline(data) }

// LearnOpening sets the opening of o to that of read if it is unknown.
func LearnOpening(o, read *Outline) {
	if o.opening.lost {
		o.opening = read.opening
	}
}

// MetadataOf returns the metadata with the members.
func MetadataOf(members ...rawjson.Pair) Metadata { return Metadata{members} }

// Members returns the members of m.
func (m Metadata) Members() []rawjson.Pair { return m.members }
