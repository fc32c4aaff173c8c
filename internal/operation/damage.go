package operation

import (
	"bytes"
	"errors"
	"io"
	"strconv"
)

// lineStart is the start of every line.
const lineStart = `{"seq":`

// Broken returns damage that an interrupted write cannot cause: bytes after the
// last line break that are not the beginning of one line, or lines without any
// valid operation. New lines must not be appended to such a log. damage is nil if
// there is none. last is the highest operation number in these bytes.
func (l *Log) Broken() (damage *DamageError, last Seq, err error) {
	if l.end > l.size {
		torn, last, err := l.scanTail()
		if err != nil {
			return nil, 0, err
		}
		if !torn {
			return &DamageError{l.size, "the bytes after the last line break are not the beginning of one line"}, last, nil
		}
	}
	for _, err := range l.Newest() {
		var is *DamageError
		if !errors.As(err, &is) {
			return nil, 0, err
		}
		damage = is
	}
	return damage, 0, nil
}

// scanTail reports whether the bytes after the last line break are the beginning of
// one line, possibly with zeros that a crash left in place of the rest, and returns
// the highest operation number in them.
func (l *Log) scanTail() (torn bool, last Seq, err error) {
	const overlap = 64
	block := make([]byte, 1<<16)
	torn = true
	for at := l.size; at < l.end; at += int64(len(block) - overlap) {
		data := block[:min(int64(len(block)), l.end-at)]
		n, err := l.in.ReadAt(data, at)
		if err != nil && err != io.EOF {
			return false, 0, err
		}
		data = data[:n]
		if at == l.size {
			head := bytes.TrimRight(data[:min(n, len(lineStart))], "\x00")
			torn = bytes.HasPrefix([]byte(lineStart), head)
		}
		for rest := data; ; {
			i := bytes.Index(rest, []byte(lineStart))
			if i < 0 {
				break
			}
			if at+int64(len(data)-len(rest)+i) > l.size {
				torn = false
			}
			rest = rest[i+len(lineStart):]
			digits := 0
			for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
				digits++
			}
			if n, err := strconv.ParseInt(string(rest[:digits]), 10, 64); err == nil && n <= maxSeq {
				last = max(last, Seq(n))
			}
		}
	}
	return torn, last, nil
}

// Rewrite writes the operations to w, oldest first, as edit returns them; nil drops
// an operation. A damaged line is dropped, or returned as the error if strict is
// true.
func (l *Log) Rewrite(w io.Writer, strict bool, edit func(Line) *Operation) error {
	settled := false // all lines so far are settled, but no empty line follows them
	put := func(data []byte) error {
		_, err := w.Write(data)
		return err
	}
	for line, err := range l.From(0) {
		var damage *DamageError
		if errors.As(err, &damage) && !strict {
			continue
		}
		if err != nil {
			return err
		}
		o := edit(line)
		if o == nil {
			continue
		}
		data := append(line.Raw, '\n')
		if o != line.Operation {
			data = o.Encode()
		}
		if settled && !line.Settled {
			data = append([]byte("\n"), data...)
		}
		if err := put(data); err != nil {
			return err
		}
		settled = line.Settled
	}
	if settled {
		return put([]byte("\n"))
	}
	return nil
}
