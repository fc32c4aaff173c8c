package stream_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
)

func quoted(data []byte) []byte {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return text
}

func rootOf(t testing.TB, dir string) *os.Root {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// hiding is a store that does not show the objects whose names begin with hide, unless that is "".
type hiding struct {
	bucket.Store
	hide string
}

func (h *hiding) hidden(name string) bool { return h.hide != "" && strings.HasPrefix(name, h.hide) }

func (h *hiding) Get(ctx context.Context, name string) ([]byte, error) {
	if h.hidden(name) {
		return nil, fs.ErrNotExist
	}
	return h.Store.Get(ctx, name)
}

func (h *hiding) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	all, err := h.Store.List(ctx, o)
	var list []bucket.Object
	for _, object := range all {
		if !h.hidden(object.Name) {
			list = append(list, object)
		}
	}
	return list, err
}

// replace overwrites an object.
func replace(t testing.TB, s bucket.Store, name string, data []byte) {
	t.Helper()
	if err := s.Delete(ctx, name); err != nil {
		t.Fatal(err)
	}
	if data == nil {
		return
	}
	if err := s.Put(ctx, name, data); err != nil {
		t.Fatal(err)
	}
}

var errBroken = errors.New("the disk of the store is broken")

// failing is a store that does not return the objects whose names begin with prefix, unless that is
// "".
type failing struct {
	bucket.Store
	prefix string
}

func (f *failing) fails(name string) bool { return f.prefix != "" && strings.HasPrefix(name, f.prefix) }

func (f *failing) Get(ctx context.Context, name string) ([]byte, error) {
	if f.fails(name) {
		return nil, errBroken
	}
	return f.Store.Get(ctx, name)
}

func (f *failing) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	if f.fails(o.Prefix) {
		return nil, errBroken
	}
	return f.Store.List(ctx, o)
}

// dump returns the objects of a store.
func dump(t testing.TB, s bucket.Store) map[string][]byte {
	t.Helper()
	list, err := s.List(ctx, bucket.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, o := range list {
		if all[o.Name], err = s.Get(ctx, o.Name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// signerOf returns the key of the machine of a folder.
func signerOf(t testing.TB, dir string) *seal.Signer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "machine.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct{ Secret []byte }
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	signer, err := seal.ParseSigner(state.Secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// signLines adds a signature to the lines of a record.
func signLines(signer *seal.Signer, lines []byte) []byte {
	signature := ed25519.Sign(ed25519.NewKeyFromSeed(signer.Secret()), append([]byte("bough record 1\n"), lines...))
	return append(lines, fmt.Sprintf("{\"signature\":%s}\n", quoted(signature))...)
}

// limited is a store in which only some deletes succeed.
type limited struct {
	bucket.Store
	left int
}

func (l *limited) Delete(ctx context.Context, name string) error {
	if l.left == 0 {
		return errBroken
	}
	l.left--
	return l.Store.Delete(ctx, name)
}
