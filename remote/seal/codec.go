package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/remote/record"
)

// The limits of data from other machines.
const (
	MaxRecord = 32 << 20  // bytes of a record, decompressed
	MaxBase   = 512 << 20 // bytes of a base, decompressed
	MaxOps    = 100_000   // operations of a record

	// MaxNumber is the limit of Lamports, and of other numbers. JSON has them exactly.
	MaxNumber = 1 << 53

	maxSeq      = 1 << 40   // records of a stream
	maxName     = 64 << 10  // bytes of a name in an operation
	maxMachines = 10_000    // machines in a vector
	maxStamps   = 100_000   // stamps of an operation
	maxItems    = 1_000_000 // items of a body
	maxHeader   = 4 << 20   // bytes of the first line
	maxElements = 250_000   // items and stamps of a record
)

var (
	// ErrSignature is the error for bytes whose machine did not sign them.
	ErrSignature = errors.New("its signature is not that of its machine")

	// ErrNewer is the error for what a newer version of bough wrote in a format of its own.
	ErrNewer = errors.New("a newer version of bough wrote it")
)

// header is a record without its operations: the first line.
type header struct {
	Format  int            `json:"format"`
	Machine record.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`
	Lamport uint64         `json:"lamport"`
	Seen    record.Vector  `json:"seen"`
	Lost    record.Vector  `json:"lost,omitempty"`
	Before  string         `json:"before"`
	Key     []byte         `json:"key,omitempty"`
}

// signature is the last line.
type signature struct {
	Signature []byte `json:"signature"`
}

// EncodeRecord returns a record as lines: the record without its operations, each operation, and
// the signature of the lines before it. Machine and Key must be those of s, Key of the first record
// only. Values with invalid JSON and whatever DecodeRecord would refuse are errors.
func EncodeRecord(r *record.Record, s *Signer) ([]byte, error) {
	data, err := appendRecord(r)
	if err != nil {
		return nil, err
	}
	if data, err = s.appendSignature(forRecord, data); err != nil {
		return nil, err
	}
	if _, _, err := decodeRecord(data, s.Public()); err != nil {
		return nil, err
	}
	return data, nil
}

func appendRecord(r *record.Record) ([]byte, error) {
	data, err := appendLine(nil, header{r.Format, r.Machine, r.Seq, r.Lamport, r.Seen, r.Lost, r.Before, r.Key})
	for i := 0; i < len(r.Ops) && err == nil; i++ {
		data, err = appendLine(data, r.Ops[i])
	}
	return data, err
}

func (s *Signer) appendSignature(what string, data []byte) ([]byte, error) {
	return appendLine(data, signature{s.sign(what, data)})
}

func appendLine(data []byte, v any) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(v) // with a line break
	return append(data, line.Bytes()...), err
}

// DecodeRecord decodes what EncodeRecord returned, of a machine with a public key. If public is
// nil, data must be the first record of its machine, which has the key. DecodeRecord verifies the
// signature, that Machine belongs to the key, and that all numbers, names, hashes and sizes are
// valid. It does not check the meaning of operations. exact is false if the record has an action or
// members that this version does not know.
//
// The error is ErrSignature or ErrNewer, or names the malformed part.
func DecodeRecord(data, public []byte) (r *record.Record, exact bool, err error) {
	r, signed, err := decodeRecord(data, public)
	if err != nil {
		return nil, false, err
	}
	again, err := appendRecord(r)
	return r, err == nil && bytes.Equal(again, signed) && knownActions(r.Ops), nil
}

func decodeRecord(data, public []byte) (r *record.Record, signed []byte, err error) {
	if len(data) > MaxRecord {
		return nil, nil, fmt.Errorf("it has more than %d bytes", MaxRecord)
	}
	signed, sig, err := cutSignature(data)
	if err != nil {
		return nil, nil, err
	}
	h, rest, err := decodeHeader(signed)
	if err != nil {
		return nil, nil, err
	}
	if public == nil {
		public = h.Key
	}
	if MachineOf(public) != h.Machine || !signedBy(public, forRecord, signed, sig) {
		return nil, nil, ErrSignature
	}
	r = &record.Record{Format: h.Format, Machine: h.Machine, Seq: h.Seq, Lamport: h.Lamport, Seen: h.Seen, Lost: h.Lost, Before: h.Before, Key: h.Key}
	if h.Format > record.Format {
		return nil, nil, ErrNewer
	}
	if err := checkHeader(r, public); err != nil {
		return nil, nil, err
	}
	if r.Ops, err = decodeOps(rest); err != nil {
		return nil, nil, err
	}
	return r, signed, nil
}

// cutSignature returns the lines before the last one, and the signature that is there.
func cutSignature(data []byte) (signed, sig []byte, err error) {
	body, ok := bytes.CutSuffix(data, []byte("\n"))
	if !ok {
		return nil, nil, errors.New("its last line is incomplete")
	}
	at := bytes.LastIndexByte(body, '\n') + 1
	var s signature
	if err := json.Unmarshal(body[at:], &s); err != nil || s.Signature == nil {
		return nil, nil, errors.New("its last line is no signature")
	}
	return data[:at], s.Signature, nil
}

func decodeHeader(signed []byte) (h header, rest []byte, err error) {
	first, rest, ok := bytes.Cut(signed, []byte("\n"))
	if !ok {
		return h, nil, errors.New("its first line is missing")
	}
	if len(first) > maxHeader {
		return h, nil, fmt.Errorf("line 1 has more than %d bytes", maxHeader)
	}
	if err := json.Unmarshal(first, &h); err != nil {
		return h, nil, fmt.Errorf("line 1: %w", err)
	}
	return h, rest, nil
}

func decodeOps(lines []byte) ([]record.Op, error) {
	n := bytes.Count(lines, []byte("\n"))
	if n > MaxOps {
		return nil, fmt.Errorf("it has more than %d operations", MaxOps)
	}
	ops := make([]record.Op, n)
	var elements counter
	for i := range ops {
		var line []byte
		line, lines, _ = bytes.Cut(lines, []byte("\n"))
		err := elements.add(line)
		if err == nil {
			err = json.Unmarshal(line, &ops[i])
		}
		if err == nil {
			err = checkOp(&ops[i])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
	}
	return ops, nil
}

// A counter counts the items and stamps of operations before they are decoded, because "{}" takes three bytes
// in a record and fifty times as many in memory. Each element but the first has a comma before it, so few commas
// need no closer look.
type counter struct{ commas, elements int }

func (c *counter) add(line []byte) error {
	n := bytes.Count(line, []byte(","))
	if c.commas+c.elements+n <= maxElements {
		c.commas += n
		return nil
	}
	if !json.Valid(line) {
		return errors.New("it is not JSON")
	}
	count := func(list gjson.Result) {
		list.ForEach(func(_, _ gjson.Result) bool { c.elements++; return true })
	}
	gjson.ParseBytes(line).ForEach(func(key, value gjson.Result) bool {
		switch { // a key may be there twice, and in any case of its letters
		case strings.EqualFold(key.Str, "stamps"):
			count(value)
		case strings.EqualFold(key.Str, "body"):
			value.ForEach(func(key, value gjson.Result) bool {
				if strings.EqualFold(key.Str, "items") {
					count(value)
				}
				return true
			})
		}
		return c.elements <= maxElements
	})
	if c.elements > maxElements {
		return fmt.Errorf("the record has more than %d items and stamps", maxElements)
	}
	return nil
}

func knownActions(ops []record.Op) bool {
	for i := range ops {
		switch ops[i].Do {
		case record.Set, record.Add, record.Drop, record.Remove:
		default:
			return false
		}
	}
	return true
}
