package transcript

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
)

// ChainID returns an id for a record that has none: a UUID computed from the id of the
// message before it and the value of the record, regardless of white space and the order
// of members. A conversation has the same ids whenever it is read, and two conversations
// share the ids of their common beginning.
func ChainID(parent string, record []byte) string {
	h := sha256.New()
	h.Write([]byte(parent))
	h.Write([]byte{0})
	h.Write(canonical(record))
	sum := h.Sum(nil)[:16]
	sum[6] = sum[6]&0x0f | 0x80 // version 8 of RFC 9562: custom
	sum[8] = sum[8]&0x3f | 0x80
	d := hex.EncodeToString(sum)
	return d[:8] + "-" + d[8:12] + "-" + d[12:16] + "-" + d[16:20] + "-" + d[20:]
}

// canonical returns a JSON value without white space and with sorted members. It returns
// a record that is not JSON unchanged.
func canonical(record []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(record))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.Decode(new(any)) != io.EOF {
		return record
	}
	out, err := json.Marshal(v)
	if err != nil {
		return record
	}
	return out
}
