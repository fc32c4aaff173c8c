// Package seal encodes, signs and encrypts the objects of a remote. Only holders of the remote's
// key can read an object, and each record and base is signed by the machine that wrote it.
//
// An object is encrypted with age and compressed with Zstandard, so age -d -i KEY | zstd -d opens
// it.
package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"filippo.io/age"

	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/workspace/fault"
)

// ErrKey is the error for bytes that were not encrypted with the key.
var ErrKey = errors.New("it was encrypted with another key")

// A Key is the key of a remote. Who has it can read everything in the remote. It is safe for
// concurrent use.
type Key struct{ identity *age.X25519Identity }

// NewKey returns a new key.
func NewKey() (*Key, error) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return &Key{identity}, nil
}

// A KeyFile is a key and the file that it is in.
type KeyFile struct {
	*Key
	Made   bool // the file did not exist
	Shared bool // other users of the computer may read the file; always false on Windows
}

const keyComment = "# The key of a remote of bough. Who has this file can read everything in the remote;\n" +
	"# without it nobody can. Keep a copy in a safe place.\n"

const maxKeyFile = 64 << 10

// OpenKeyFile reads a key from a file, in the format of age-keygen. If there is no file, it makes
// one with a new key, which only its owner can read.
func OpenKeyFile(name string) (*KeyFile, error) {
	key, err := ReadKeyFile(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	made, err := NewKey()
	if err != nil {
		return nil, err
	}
	root, err := durable.MakeRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	batch := durable.NewBatch(root)
	defer batch.Discard()
	if _, err := batch.Create(filepath.Base(name), durable.Bytes([]byte(keyComment), []byte(made.identity.String()), []byte("\n"))); err != nil {
		return nil, err
	}
	if _, later, err := batch.Commit(context.Background()); err != nil || later != nil {
		if errors.Is(err, fs.ErrExist) {
			return ReadKeyFile(name) // another process made it meanwhile
		}
		return nil, errors.Join(err, later)
	}
	return &KeyFile{Key: made, Made: true}, nil
}

// ReadKeyFile reads a key from a file, in the format of age-keygen. The error is fs.ErrNotExist if
// there is no file.
func ReadKeyFile(name string) (*KeyFile, error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(target))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := durable.OpenRegular(root, filepath.Base(target))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := bounded.ReadAll(f, maxKeyFile)
	if err != nil {
		return nil, &fault.Error{Code: fault.Damaged, Message: name + " is no key: " + err.Error(), Err: err}
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, &fault.Error{Code: fault.Damaged, Message: name + ": " + err.Error(), Hint: "a key is a line that begins with AGE-SECRET-KEY-1, as age-keygen prints it", Err: err}
	}
	return &KeyFile{Key: key, Shared: runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0}, nil
}

func parseKey(text []byte) (*Key, error) {
	identities, err := age.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("the file has no key of age") // the cause could quote a part of a key
	}
	if len(identities) != 1 {
		return nil, fmt.Errorf("the file has %d keys, and a remote has one", len(identities))
	}
	identity, ok := identities[0].(*age.X25519Identity)
	if !ok {
		return nil, errors.New("the key of the file is not an X25519 key")
	}
	return &Key{identity}, nil
}

// Encrypt returns data as age stores it.
func (k *Key) Encrypt(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := age.Encrypt(&out, k.identity.Recipient())
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Decrypt returns what Encrypt encrypted. The error is ErrKey if it did so with another key.
func (k *Key) Decrypt(stored []byte) ([]byte, error) {
	r, err := k.decrypter(stored)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r) // shorter than stored
	if err != nil {
		return nil, fmt.Errorf("its encryption is damaged: %w", err)
	}
	return data, nil
}

func (k *Key) decrypter(stored []byte) (io.Reader, error) {
	r, err := age.Decrypt(bytes.NewReader(stored), k.identity)
	var other *age.NoIdentityMatchError
	switch {
	case errors.As(err, &other):
		return nil, ErrKey
	case err != nil:
		return nil, fmt.Errorf("it is not encrypted with age: %s", strings.TrimPrefix(err.Error(), "failed to read header: "))
	}
	return r, nil
}
