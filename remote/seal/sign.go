package seal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/bough-dev/bough/remote/record"
)

// A Signer is the secret key of a machine, with which it signs its records. It belongs to one
// machine in one remote.
type Signer struct{ key ed25519.PrivateKey }

// NewSigner returns a new key.
func NewSigner() (*Signer, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, err
	}
	return &Signer{key}, nil
}

// ParseSigner returns the key that Secret returned.
func ParseSigner(secret []byte) (*Signer, error) {
	if len(secret) != ed25519.SeedSize {
		return nil, errors.New("the key of the machine is damaged")
	}
	return &Signer{ed25519.NewKeyFromSeed(secret)}, nil
}

// Secret returns the secret key, to be stored.
func (s *Signer) Secret() []byte { return s.key.Seed() }

// Public returns the public key.
func (s *Signer) Public() []byte { return s.key.Public().(ed25519.PublicKey) }

// Machine returns the machine that the key makes.
func (s *Signer) Machine() record.Machine { return MachineOf(s.Public()) }

// MachineOf returns the machine with a public key.
func MachineOf(public []byte) record.Machine {
	sum := sha256.Sum256(public)
	return record.Machine(hex.EncodeToString(sum[:16]))
}

// What a signature is for. It precedes the signed bytes, so that a base is never taken for a record.
const (
	forRecord = "bough record 1\n"
	forBase   = "bough base 1\n"
)

func (s *Signer) sign(what string, data []byte) []byte {
	return ed25519.Sign(s.key, append([]byte(what), data...))
}

func signedBy(public []byte, what string, data, signature []byte) bool {
	return len(public) == ed25519.PublicKeySize && ed25519.Verify(public, append([]byte(what), data...), signature)
}
