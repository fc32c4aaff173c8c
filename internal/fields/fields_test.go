package fields

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"
)

type inner struct {
	text string
	next *inner
}

func (v *inner) fields(c *Coder) {
	c.String(&v.text)
	Pointer(c, &v.next, func(next *inner) { next.fields(c) })
}

type kind string

type outer struct {
	number   int
	unsigned uint64
	long     int64
	yes, no  bool
	text     string
	kind     kind
	raw      []byte
	time     time.Time
	list     []inner
	values   map[string]inner
	numbers  map[string]int
	none     *inner
	strings  []string
}

func (v *outer) fields(c *Coder) {
	c.Int(&v.number)
	c.Uint64(&v.unsigned)
	c.Int64(&v.long)
	c.Bool(&v.yes)
	c.Bool(&v.no)
	c.String(&v.text)
	Text(c, &v.kind)
	Bytes(c, &v.raw)
	c.Time(&v.time)
	Slice(c, &v.list, func(v *inner) { v.fields(c) })
	Map(c, &v.values, func(v *inner) { v.fields(c) })
	Map(c, &v.numbers, c.Int)
	Pointer(c, &v.none, func(v *inner) { v.fields(c) })
	Slice(c, &v.strings, c.String)
}

func sample() outer {
	return outer{
		number: -7, unsigned: math.MaxUint64, long: math.MinInt64, yes: true, text: "a text", kind: "a text", raw: []byte{},
		time: time.Date(2026, 11, 23, 17, 4, 0, 123, time.FixedZone("", 3600)),
		list: []inner{{"a", &inner{"b", nil}}, {"", nil}}, values: map[string]inner{"a": {"a", nil}, "": {"c", nil}},
		numbers: map[string]int{}, strings: []string{"a", "a text", "a"},
	}
}

// TestRoundTrip: decoded values equal the encoded ones, nil and empty values included.
func TestRoundTrip(t *testing.T) {
	for _, want := range []outer{{}, sample()} {
		data, err := Encode(0, want.fields)
		if err != nil {
			t.Fatal(err)
		}
		got := sample()
		if err := Decode(data, got.fields); err != nil {
			t.Fatal(err)
		}
		if !got.time.Equal(want.time) || got.time.Format(time.RFC3339) != want.time.Format(time.RFC3339) {
			t.Errorf("the time is %v, want %v", got.time, want.time)
		}
		got.time = want.time
		if !reflect.DeepEqual(got, want) {
			t.Errorf("decoded is\n%+v, want\n%+v", got, want)
		}
	}
}

// TestMalformed: data that is truncated, has more bytes or another byte is an error, or decodes
// to other values; it never panics, and a wrong length allocates nothing.
func TestMalformed(t *testing.T) {
	value := sample()
	data, err := Encode(100, value.fields)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if err := Decode(data[:n], new(outer).fields); err == nil {
			t.Errorf("no error for the first %d of %d bytes", n, len(data))
		}
		for _, other := range []byte{0, 0x7f, 0xff} {
			changed := append([]byte(nil), data...)
			changed[n] = other
			Decode(changed, new(outer).fields)
		}
	}
	if Decode(append(data, 0), new(outer).fields) == nil {
		t.Error("no error for a byte more")
	}
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}
	if Decode(huge, func(c *Coder) { Slice(c, new([]int), c.Int) }) == nil || Decode(huge, func(c *Coder) { Bytes(c, new([]byte)) }) == nil ||
		Decode(huge, func(c *Coder) { Map(c, new(map[string]int), c.Int) }) == nil {
		t.Error("no error for a huge length")
	}
}

// TestFail: an error ends the encoding.
func TestFail(t *testing.T) {
	failure := errors.New("no")
	if _, err := Encode(0, func(c *Coder) {
		c.Fail(failure)
		c.Fail(errMalformed)
		n := 1
		c.Int(&n)
		if c.Err() != failure || c.Decoding() {
			t.Error(c.Err(), c.Decoding())
		}
	}); err != failure {
		t.Error(err)
	}
}
