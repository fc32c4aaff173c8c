package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/remote/record"
)

// A Base replaces the first records of a machine, and has the part of their content that still
// counts.
type Base struct {
	Format  int            `json:"format"`
	Machine record.Machine `json:"machine"`
	Seq     uint64         `json:"seq"`            // of the last of these records
	Lamport uint64         `json:"lamport"`        // of that record
	Seen    record.Vector  `json:"seen"`           // what the machine had merged when it made the base
	Lost    record.Vector  `json:"lost,omitempty"` // what it had given up, see record.Record
	Last    string         `json:"last"`           // SHA-256 of its stored bytes, in hexadecimal digits
	Key     []byte         `json:"key"`            // the public key of the machine
	Content []byte         `json:"-"`              // what they say

	// Parts are the SHA-256 of the stored bytes of packs, each with a part of Content, which is then
	// empty: for content that is too large for one object.
	Parts []string `json:"parts,omitempty"`
}

// MaxParts is how many parts the content of a base may have.
const MaxParts = 256

// EncodeBase returns a base as a line without Content, Content, and a line with the signature of all
// that. Machine and Key must be those of s. Whatever DecodeBase would refuse is an error.
func EncodeBase(b *Base, s *Signer) ([]byte, error) {
	data, err := appendLine(nil, b)
	if err != nil {
		return nil, err
	}
	data = append(append(data, b.Content...), '\n')
	if data, err = s.appendSignature(forBase, data); err != nil {
		return nil, err
	}
	if _, err := DecodeBase(data, s.Public()); err != nil {
		return nil, err
	}
	return data, nil
}

// DecodeBase decodes and verifies what EncodeBase returned, of a machine with a public key, which is
// that in the base if public is nil. Content is not checked. Errors are those of DecodeRecord.
func DecodeBase(data, public []byte) (*Base, error) {
	if len(data) > MaxBase {
		return nil, fmt.Errorf("it has more than %d bytes", MaxBase)
	}
	signed, sig, err := cutSignature(data)
	if err != nil {
		return nil, err
	}
	first, content, ok := bytes.Cut(signed, []byte("\n"))
	if !ok {
		return nil, errors.New("it has no content")
	}
	if len(first) > maxHeader {
		return nil, fmt.Errorf("line 1 has more than %d bytes", maxHeader)
	}
	b := new(Base)
	if err := json.Unmarshal(first, b); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if public == nil {
		public = b.Key
	}
	if MachineOf(public) != b.Machine || !bytes.Equal(public, b.Key) || !signedBy(public, forBase, signed, sig) {
		return nil, ErrSignature
	}
	if len(content) == 0 {
		return nil, errors.New("it has no content")
	}
	b.Content = content[:len(content)-1]
	switch {
	case b.Format > record.Format:
		return nil, ErrNewer
	case b.Format < 1 || b.Seq == 0 || b.Seq > maxSeq || b.Lamport == 0 || b.Lamport > MaxNumber || !IsHash(b.Last):
		return nil, errors.New("its first line is not possible")
	case b.Lamport > b.Seq+b.Seen.Sum(b.Lost, b.Lamport):
		return nil, fmt.Errorf("its Lamport %d is greater than the number of records that it has seen", b.Lamport)
	case len(b.Parts) > MaxParts || len(b.Parts) > 0 && len(b.Content) > 0 || slices.ContainsFunc(b.Parts, func(p string) bool { return !IsHash(p) }):
		return nil, errors.New("its parts are not possible")
	}
	return b, errors.Join(checkSeen(b.Seen, b.Machine), checkSeen(b.Lost, b.Machine))
}
