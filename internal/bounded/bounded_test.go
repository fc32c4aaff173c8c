package bounded

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReaders: input up to the limit is read, and one byte more is an error, in pieces of
// any size.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string
		over bool
	}{
		{"", "", false}, {"abc", "abc", false}, {"abcd", "abcd", false}, {"abcde", "abcd", true}, {strings.Repeat("abcd", 5000), "abcd", true},
	} {
		for _, pieces := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
		} {
			data, err := ReadAll(pieces(strings.NewReader(c.in)), 4)
			if string(data) != c.want || errors.As(err, new(*TooLongError)) != c.over || !c.over && err != nil {
				t.Errorf("ReadAll of %.9q = %q, %v", c.in, data, err)
			}
			data, err = io.ReadAll(&Reader{R: pieces(strings.NewReader(c.in)), Limit: 4, Verb: "it has"})
			if string(data) != c.want || c.over != (err != nil) || c.over && err.Error() != "it has more than 4 bytes" {
				t.Errorf("Reader of %.9q = %q, %v", c.in, data, err)
			}
		}
	}
	broken := errors.New("broken")
	if data, err := ReadAll(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), 4); string(data) != "ab" || err != broken {
		t.Errorf("ReadAll of a broken reader = %q, %v", data, err)
	}
	if err := (&TooLongError{Limit: 4}).Error(); err != "more than 4 bytes" {
		t.Error(err)
	}
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := &Writer{W: &out, Limit: 4, Verb: "it wrote"}
	for _, piece := range []string{"a", "", "bcd"} {
		if n, err := io.WriteString(w, piece); n != len(piece) || err != nil || w.Err() != nil {
			t.Errorf("%q: %d, %v", piece, n, err)
		}
	}
	if n, err := io.WriteString(w, "e"); n != 0 || err == nil || w.Err() != err || err.Error() != "it wrote more than 4 bytes" {
		t.Errorf("after the limit: %d, %v", n, err)
	}
	out.Reset()
	w = &Writer{W: &out, Limit: 4}
	if n, err := io.WriteString(w, "abcdef"); n != 4 || !errors.As(err, new(*TooLongError)) || out.String() != "abcd" {
		t.Errorf("across the limit: %d, %v, %q", n, err, out.String())
	}
	broken := errors.New("broken")
	r, p := io.Pipe()
	r.CloseWithError(broken)
	w = &Writer{W: p, Limit: 4}
	if _, err := io.WriteString(w, "abcdef"); err != broken || w.Err() != nil {
		t.Errorf("to a broken writer: %v, %v", err, w.Err())
	}
}

// TestTail: the end of the input is kept, in pieces of any size.
func TestTail(t *testing.T) {
	const text = "0123456789abcdefghijklmnopqrstuvwxyz"
	for limit := range 12 {
		for size := 1; size <= len(text); size++ {
			tail := &Tail{Limit: limit}
			written := 0
			for written < len(text) {
				n, err := io.WriteString(tail, text[written:min(len(text), written+size)])
				if err != nil {
					t.Fatal(err)
				}
				written += n
				want := text[max(0, written-limit):written]
				if got := string(tail.Bytes()); got != want || tail.Cut() != (written > limit) || len(tail.data) > 2*limit {
					t.Fatalf("limit %d, pieces of %d: %q, %v after %d bytes", limit, size, got, tail.Cut(), written)
				}
			}
		}
	}
}
