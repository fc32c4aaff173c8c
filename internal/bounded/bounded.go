// Package bounded limits how many bytes are read or written. It is for input
// whose size another program determines.
package bounded

import (
	"fmt"
	"io"
)

// A TooLongError reports that there were more bytes than the limit.
type TooLongError struct {
	Limit int64
	Verb  string // the Verb of the [Reader] or [Writer], or ""
}

func (e *TooLongError) Error() string {
	if e.Verb != "" {
		return fmt.Sprintf("%s more than %d bytes", e.Verb, e.Limit)
	}
	return fmt.Sprintf("more than %d bytes", e.Limit)
}

// ReadAll reads r to its end. If r has more than limit bytes, ReadAll reads one
// byte more and returns the first limit bytes with a [TooLongError].
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], &TooLongError{Limit: limit}
	}
	return data, err
}

// A Reader reads from R, and returns a [TooLongError] with Verb if R has more than Limit
// bytes.
type Reader struct {
	R     io.Reader
	Limit int64
	Verb  string

	read int64
}

func (r *Reader) Read(b []byte) (int, error) {
	n, err := r.R.Read(b)
	if left := r.Limit - r.read; int64(n) > left {
		r.read = r.Limit
		return int(left), &TooLongError{r.Limit, r.Verb}
	}
	r.read += int64(n)
	return n, err
}

// A Writer writes the first Limit bytes to W, and returns a [TooLongError] with
// Verb for the next one. Verb is a phrase such as "it wrote".
type Writer struct {
	W     io.Writer
	Limit int64
	Verb  string

	written int64
	err     error
}

func (w *Writer) Write(b []byte) (int, error) {
	fit := min(int64(len(b)), w.Limit-w.written)
	n, err := w.W.Write(b[:fit])
	w.written += int64(n)
	if err == nil && fit < int64(len(b)) {
		w.err = &TooLongError{w.Limit, w.Verb}
		err = w.err
	}
	return n, err
}

// Err returns the TooLongError that a Write returned, nil if none did.
func (w *Writer) Err() error { return w.err }

// A Tail is a writer that keeps the last Limit bytes.
type Tail struct {
	Limit int

	data []byte // the last bytes, at most twice the limit
	cut  bool
}

func (t *Tail) Write(b []byte) (int, error) {
	n := len(b)
	t.cut = t.cut || len(t.data)+n > t.Limit
	if over := n - t.Limit; over >= 0 {
		t.data, b = t.data[:0], b[over:]
	} else if len(t.data)+n > 2*t.Limit {
		t.data = append(t.data[:0], t.Bytes()...)
	}
	t.data = append(t.data, b...)
	return n, nil
}

// Bytes returns the last bytes. They are valid until the next Write.
func (t *Tail) Bytes() []byte { return t.data[max(0, len(t.data)-t.Limit):] }

// Cut reports whether earlier bytes were dropped.
func (t *Tail) Cut() bool { return t.cut }
