package jsonl

import (
	"bytes"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// A piece is a part of a malformed line: a record, or unreadable bytes.
type piece struct {
	start, end int
	whole      bool
}

// pieces splits a line with several records that were written without a line
// break: {...}{...}, or {"type":"us{"type":"user",...} after a crash. raw
// begins with an object. ended reports whether the line has an end; a line
// without one may still grow, so an object inside its last record is not used.
//
// A complete object is a record if the record before it is complete, or has its
// first invalid byte where the object begins. Elsewhere it may be a part of a
// truncated record, so it is used only if it begins like a record of the file.
//
// Each byte is read only a few times.
func pieces(raw []byte, ended bool, known *heads) (list []piece) {
	text := sameLength(raw)
	torn := -1 // start of bytes that cannot be read
	give := func(start, end int) {
		if torn >= 0 && torn < start {
			list = append(list, piece{torn, start, false})
		}
		torn = -1
		list = append(list, piece{start, end, true})
	}
	at := 0
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
			at++
			continue
		}
		wrong := at
		if text[at] == '{' {
			n, ok := rawjson.First(text[at:])
			if ok {
				give(at, at+n)
				at += n
				continue
			}
			wrong = at + n
		}
		if torn < 0 {
			torn = at
		}
		if more := wrong < len(text); more && text[wrong] == '{' || !more && ended {
			if start, ok := lastObject(text[at:wrong]); ok && known.has(text[at+start:]) {
				give(at+start, wrong)
			}
		}
		if wrong >= len(text) {
			break
		}
		if next := directly(text, at, wrong); next >= 0 {
			at = next
		} else if at = known.next(text, max(at+1, wrong-2)); at < 0 {
			break
		}
	}
	if torn >= 0 {
		list = append(list, piece{torn, len(text), false})
	}
	return list
}

// directly returns the start of an object that directly follows a torn record from at
// on; wrong is the first invalid byte. The object's first quote may have ended a string
// of the record. It returns -1 if there is none.
func directly(text []byte, at, wrong int) int {
	for i := max(at+1, wrong-2); i <= wrong; i++ {
		if text[i] == '{' {
			return i
		}
	}
	return -1
}

// lastObject returns the start of the object that ends with the last byte of
// text, which is the rest of a value.
func lastObject(text []byte) (start int, ok bool) {
	if len(text) == 0 || text[len(text)-1] != '}' {
		return 0, false
	}
	var open []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			if len(open) == 0 {
				return 0, false
			}
			start, open = open[len(open)-1], open[:len(open)-1]
		}
	}
	return start, text[start] == '{'
}

// sameLength returns raw with a question mark for each byte of invalid UTF-8.
func sameLength(raw []byte) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	text := bytes.Clone(raw)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			text[i] = '?'
		}
		i += n
	}
	return text
}

// heads are the first keys of the records of a file, up to two of each.
type heads struct{ seen map[string]bool }

// maxHeads limits the distinct heads of a file; real files have a few.
const maxHeads = 64

// add records how a record begins.
func (h *heads) add(record []byte) {
	if head, ok := headOf(record); ok && !h.seen[string(head)] && len(h.seen) < maxHeads {
		if h.seen == nil {
			h.seen = map[string]bool{}
		}
		h.seen[string(head)] = true
	}
}

// has reports whether text begins like a record.
func (h *heads) has(text []byte) bool {
	head, ok := headOf(text)
	return ok && h.seen[string(head)]
}

// next returns the start of the next object, from start on, that begins like a
// record, -1 if there is none.
func (h *heads) next(text []byte, start int) int {
	for start < len(text) {
		i := bytes.Index(text[start:], []byte(`{"`))
		if i < 0 {
			return -1
		}
		if start += i; h.has(text[start:]) {
			return start
		}
		start++
	}
	return -1
}

// headOf returns the first key of an object, and the second one where the first value is
// short.
func headOf(text []byte) (head []byte, ok bool) {
	const most = 256
	text = text[:min(len(text), most)]
	var buf [2 * most]byte
	head = buf[:0]
	for i := 1; len(text) > i && len(head) == 0 || len(text) > i && text[i] == ','; {
		if len(head) > 0 {
			i++
		}
		i += space(text[i:])
		if i >= len(text) || text[i] != '"' {
			break
		}
		n, whole := rawjson.First(text[i:])
		if !whole {
			break
		}
		second := len(head) > 0
		head = append(head, text[i:i+n]...)
		if second {
			break
		}
		i += n
		i += space(text[i:])
		if i >= len(text) || text[i] != ':' {
			break
		}
		i++
		if n, whole = rawjson.First(text[i:]); !whole {
			break
		}
		i += n
		i += space(text[i:])
	}
	return head, len(head) > 0
}

func space(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n")) }
