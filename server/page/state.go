package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace/fault"
)

const (
	keysDir  = ".bough/page"
	keysFile = keysDir + "/keys.json"
	keysWait = 10 * time.Second // for another process that makes them

	// ServerDir is the folder of a workspace with the lock, the log and the description of
	// the running server.
	ServerDir  = ".bough/server"
	serverFile = ServerDir + "/server.json"
)

// LoadKeys returns the keys of a workspace, which exists. The first call makes them. If the
// file is removed, all sessions of browsers end.
func LoadKeys(ctx context.Context, workspace string) (*Keys, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if k, err := readKeys(root); !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	unlock, err := lockKeys(ctx, root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if k, err := readKeys(root); !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k := newKeys()
	return k, store(root, keysFile, k)
}

func lockKeys(ctx context.Context, root *os.Root) (unlock func(), err error) {
	if err := durable.MakeDir(root, keysDir); err != nil {
		return nil, err
	}
	return writelock.Lock(ctx, root, keysDir, writelock.Holder{PID: os.Getpid(), Verb: "open", Since: time.Now()}, keysWait)
}

// A keyring is the keys of a running server. Their secret is that of the file, so that a change
// or removal of it ends all sessions at once, in each server of the workspace.
type keyring struct {
	workspace string

	mu   sync.Mutex
	is   *Keys
	seen fs.FileInfo // the file with the secret of is, nil if none was read
}

// current returns the present keys. Without a valid file no cookie and no code is valid.
func (k *keyring) current() *Keys {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Lstat(filepath.Join(k.workspace, filepath.FromSlash(keysFile)))
	switch {
	case err != nil:
		k.take(newKeys(), nil)
	case k.seen == nil || !os.SameFile(info, k.seen) || !info.ModTime().Equal(k.seen.ModTime()):
		if stored, err := k.read(); err == nil {
			k.take(stored, info)
		} else {
			k.take(newKeys(), nil)
		}
	}
	return k.is
}

// take takes the secret of other keys.
func (k *keyring) take(other *Keys, seen fs.FileInfo) {
	k.is, k.seen = &Keys{Name: k.is.Name, Run: k.is.Run, Secret: other.Secret}, seen
}

func (k *keyring) read() (*Keys, error) {
	root, err := os.OpenRoot(k.workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return readKeys(root)
}

// renew stores a new secret. The name of the page stays, so that links to it do.
func (k *keyring) renew(ctx context.Context) error {
	root, err := os.OpenRoot(k.workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := lockKeys(ctx, root)
	if err != nil {
		return err
	}
	defer unlock()
	return store(root, keysFile, &Keys{Name: k.current().Name, Secret: newKeys().Secret})
}

// store replaces a file of the page.
func store(root *os.Root, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = durable.Replace(root, name, durable.Bytes(append(data, '\n')))
	return err
}

// readKeys returns the stored keys.
func readKeys(root *os.Root) (*Keys, error) {
	data, err := durable.ReadFile(root, keysFile)
	if err != nil {
		return nil, err
	}
	k := &Keys{}
	if err := json.Unmarshal(data, k); err != nil || k.Name == "" || len(k.Secret) < secretBytes {
		return nil, &fault.Error{Code: fault.Damaged, Message: keysFile + " has no valid keys", Hint: "remove it; browsers then need a new code", Err: err}
	}
	return k, nil
}

// A Server is the running server of a workspace, or the last one.
type Server struct {
	PID        int       `json:"pid"`
	Addr       string    `json:"addr"` // HOST:PORT on which it listens
	Port       int       `json:"port"`
	Host       string    `json:"host"`       // see [Keys.Host]
	Run        string    `json:"run"`        // see [Keys.Run]
	Background bool      `json:"background"` // it ends when it is idle
	Since      time.Time `json:"since"`
}

// Record records the running server.
func (s Server) Record(workspace string) error {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := durable.MakeDir(root, ServerDir); err != nil {
		return err
	}
	return store(root, serverFile, s)
}

// LastServer returns the server that was recorded last. ok is false if there is none, or if
// the file is damaged: the next server replaces it.
func LastServer(workspace string) (s Server, ok bool) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return s, false
	}
	defer root.Close()
	data, err := durable.ReadFile(root, serverFile)
	if err != nil || json.Unmarshal(data, &s) != nil || s.Port < 1 || s.Port > 65535 {
		return Server{}, false
	}
	return s, true
}

// Address returns the address of the page at a port, and the one for browsers that do not
// resolve it.
func (k *Keys) Address(port int) (own, byNumber string) {
	return fmt.Sprintf("http://%s:%d", k.Host(), port), fmt.Sprintf("http://127.0.0.1:%d", port)
}
