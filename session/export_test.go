package session

import "github.com/bough-dev/bough/internal/rawjson"

// Edited returns the file as edited.
func (e *Edit) Edited() []byte {
	data, err := e.Bytes(func(o *Outline) (*Session, error) { return o.Session(o.data), nil })
	if err != nil {
		panic(err)
	}
	return data
}

// Encode returns o as MarshalBinary does, whether or not it is complete.
func Encode(o *Outline) []byte { return o.encode() }

// Region returns the bytes of the messages from up to but not including to.
func (s *Session) Region(from, to int) []byte { return s.span(from, to).Of(s.data) }

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
