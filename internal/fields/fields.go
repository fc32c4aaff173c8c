// Package fields encodes the fields of structs and decodes them. One function lists the fields
// of a struct and does both, so that the two cannot differ:
//
//	func (p *point) fields(c *fields.Coder) {
//		c.Int(&p.x)
//		c.String(&p.name)
//	}
//
// The encoding has no version: only the program that wrote it may read it. A text that occurs
// again is encoded as a number.
package fields

import (
	"encoding/binary"
	"errors"
	"time"
)

var errMalformed = errors.New("malformed fields")

// A Coder encodes or decodes fields, in the order of the calls. After an error it does nothing.
type Coder struct {
	out     []byte
	numbers map[string]uint64 // of the texts in out

	decoding bool
	in       string   // left to decode
	texts    []string // that were decoded

	err error
}

// Encode returns the fields that list passes to the coder. size is the expected length of the
// encoding, 0 if it is unknown.
func Encode(size int, list func(*Coder)) ([]byte, error) {
	const perText = 40 // bytes: most texts are UUIDs
	c := &Coder{out: make([]byte, 0, size), numbers: make(map[string]uint64, size/perText)}
	list(c)
	return c.out, c.err
}

// Decode sets the fields that list passes to the coder to those in data.
func Decode(data []byte, list func(*Coder)) error {
	c := &Coder{in: string(data), texts: make([]string, 0, len(data)/64), decoding: true}
	list(c)
	if c.err == nil && c.in != "" {
		return errMalformed
	}
	return c.err
}

// Decoding reports whether the coder sets fields.
func (c *Coder) Decoding() bool { return c.decoding }

// Err returns the first error.
func (c *Coder) Err() error { return c.err }

// Fail ends the encoding or decoding with an error.
func (c *Coder) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Uint64 is for a number.
func (c *Coder) Uint64(p *uint64) {
	switch {
	case c.err != nil:
	case c.decoding:
		*p = c.uvarint()
	default:
		c.out = binary.AppendUvarint(c.out, *p)
	}
}

// uvarint decodes a number. binary.Uvarint needs bytes.
func (c *Coder) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(c.in) && i < binary.MaxVarintLen64; i++ {
		b := c.in[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			c.in = c.in[i+1:]
			return v
		}
	}
	c.Fail(errMalformed)
	return 0
}

// Int64 is for a number.
func (c *Coder) Int64(p *int64) {
	v := uint64(*p)<<1 ^ uint64(*p>>63)
	c.Uint64(&v)
	if c.decoding && c.err == nil {
		*p = int64(v>>1) ^ -int64(v&1)
	}
}

// Int is for a number.
func (c *Coder) Int(p *int) {
	v := int64(*p)
	c.Int64(&v)
	if c.decoding && c.err == nil {
		*p = int(v)
	}
}

// Bool is for a truth value.
func (c *Coder) Bool(p *bool) {
	var v uint64
	if *p {
		v = 1
	}
	c.Uint64(&v)
	if c.decoding && c.err == nil {
		*p = v != 0
	}
}

// String is for a text.
func (c *Coder) String(p *string) { Text(c, p) }

// Text is for a text of any type.
func Text[T ~string](c *Coder, p *T) {
	if c.err != nil {
		return
	}
	if c.decoding {
		*p = T(c.text())
		return
	}
	n, again := c.numbers[string(*p)]
	if c.out = binary.AppendUvarint(c.out, n); again {
		return
	}
	c.numbers[string(*p)] = uint64(len(c.numbers)) + 1
	c.out = binary.AppendUvarint(c.out, uint64(len(*p)))
	c.out = append(c.out, *p...)
}

func (c *Coder) text() string {
	n := c.uvarint()
	switch {
	case n > uint64(len(c.texts)):
		c.Fail(errMalformed)
	case n > 0:
		return c.texts[n-1]
	}
	text := c.take(c.uvarint())
	c.texts = append(c.texts, text)
	return text
}

// take decodes n bytes.
func (c *Coder) take(n uint64) (bytes string) {
	if c.err != nil || n > uint64(len(c.in)) {
		c.Fail(errMalformed)
		return ""
	}
	bytes, c.in = c.in[:n], c.in[n:]
	return bytes
}

// length is for the number of elements of a list, which may be nil. An element takes at least
// one byte.
func (c *Coder) length(n int, isNil bool) (length int, isNilNow bool) {
	v := uint64(n) + 1
	if isNil {
		v = 0
	}
	c.Uint64(&v)
	if c.decoding && v > uint64(len(c.in))+1 {
		c.Fail(errMalformed)
	}
	if c.err != nil || v == 0 {
		return 0, true
	}
	return int(v - 1), false
}

// Bytes is for bytes of any type.
func Bytes[T ~[]byte](c *Coder, p *T) {
	n, isNil := c.length(len(*p), *p == nil)
	switch {
	case c.err != nil:
	case !c.decoding:
		c.out = append(c.out, *p...)
	case isNil:
		*p = nil
	default:
		*p = append(make(T, 0, n), c.take(uint64(n))...)
	}
}

// Time is for a time.
func (c *Coder) Time(p *time.Time) {
	var data []byte
	if !c.decoding {
		var err error
		if data, err = p.MarshalBinary(); err != nil {
			c.Fail(err)
		}
	}
	Bytes(c, &data)
	if c.decoding && c.err == nil {
		if err := p.UnmarshalBinary(data); err != nil {
			c.Fail(err)
		}
	}
}

// Slice is for a slice; each is called for each element.
func Slice[T any](c *Coder, p *[]T, each func(*T)) {
	n, isNil := c.length(len(*p), *p == nil)
	if c.err != nil {
		return
	}
	if c.decoding {
		if *p = nil; !isNil {
			*p = make([]T, n)
		}
	}
	for i := 0; i < n && c.err == nil; i++ {
		each(&(*p)[i])
	}
}

// Map is for a map; each is called for each value.
func Map[V any](c *Coder, p *map[string]V, each func(*V)) {
	n, isNil := c.length(len(*p), *p == nil)
	if c.err != nil {
		return
	}
	var key string
	var value V
	if !c.decoding {
		for key, value = range *p {
			c.String(&key)
			each(&value)
		}
		return
	}
	if *p = nil; isNil {
		return
	}
	*p = make(map[string]V, n)
	for ; n > 0 && c.err == nil; n-- {
		var value V
		c.String(&key)
		each(&value)
		(*p)[key] = value
	}
}

// Pointer is for a pointer to a struct, which may be nil; each is called for the struct.
func Pointer[T any](c *Coder, p **T, each func(*T)) {
	there := *p != nil
	c.Bool(&there)
	if c.err != nil || !there {
		if c.decoding {
			*p = nil
		}
		return
	}
	if c.decoding {
		*p = new(T)
	}
	each(*p)
}
