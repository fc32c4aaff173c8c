package seal

import (
	"bytes"

	"github.com/bough-dev/bough/remote/record"
)

// Resign replaces the last line of data by the signature of the lines before it.
func Resign(s *Signer, data []byte) []byte {
	data = bytes.TrimSuffix(data, []byte("\n"))
	signed, err := s.appendSignature(forRecord, bytes.Clone(data[:bytes.LastIndexByte(data, '\n')+1]))
	if err != nil {
		panic(err)
	}
	return signed
}

// SignAny encodes and signs r without checks.
func SignAny(s *Signer, r *record.Record) ([]byte, error) {
	data, err := appendRecord(r)
	if err != nil {
		return nil, err
	}
	return s.appendSignature(forRecord, data)
}
