package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
)

// openStore opens the store at a URL.
func openStore(ctx context.Context, address string, o Options) (bucket.Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "not a URL", Hint: "such as file:///mnt/share/bough or s3://BUCKET/PREFIX", Err: err}
	}
	if u.User != nil {
		return nil, &fault.Error{Code: fault.Usage, Message: "a URL with a user or a password is refused",
			Hint: "credentials come from the environment, and are never stored"}
	}
	if u.Scheme != "file" {
		if o.OpenStore == nil {
			return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("stores with the scheme %q are not supported", u.Scheme)}
		}
		return o.OpenStore(ctx, address)
	}
	if u.Host != "" && u.Host != "localhost" || u.RawQuery != "" || u.Fragment != "" || u.Path == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "not the URL of a folder",
			Hint: "such as file:///mnt/share/bough: three slashes before an absolute path"}
	}
	dir := filepath.FromSlash(u.Path)
	if runtime.GOOS == "windows" {
		dir = strings.TrimPrefix(dir, `\`)
	}
	folder, err := bucket.OpenFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{Code: fault.NotFound, Message: "there is no folder " + dir, Err: err, Hint: "create it, or connect the disk that has it"}
	}
	if err != nil {
		return nil, err
	}
	return folder, nil
}

// checkFolder returns an error unless the remote is in its folder, which may be the empty one where a
// disk is mounted otherwise. It makes no request to another store.
func (j *job) checkFolder(key *seal.Key) error {
	folder, ok := j.Remote.store.(*bucket.Folder)
	if !ok {
		return nil
	}
	err := checkRoot(j.ctx, folder, key, j.config)
	if errors.Is(err, fault.NotFound) {
		return &fault.Error{Code: fault.NotFound, Message: "the remote is not in its folder, " + j.config.URL, Err: err, Hint: "connect the disk that has it"}
	}
	return err
}

// checkRoot returns an error unless a store has the remote. It makes a request. A store for one writer may replace
// an object, so a late request of that writer can have given the remote another id there, with its key.
func checkRoot(ctx context.Context, store bucket.Store, key *seal.Key, c config) error {
	there, err := stream.Open(ctx, store, key)
	switch {
	case errors.Is(err, fault.NotFound):
		return &fault.Error{Code: fault.NotFound, Message: "the remote is no longer at " + c.URL, Err: err, Hint: "it was deleted from the store"}
	case errors.Is(err, seal.ErrKey), err == nil && there.ID != c.ID && !c.OneWriter:
		return &fault.Error{Code: fault.Refused, Message: "there is another remote at " + c.URL, Err: err, Hint: "somebody created it anew"}
	}
	return err
}

// bindingsOf returns the identities of this copy of a workspace, from each identifier of the machine and
// the path of the workspace. The first is what the copy is bound to; earlier versions bound it to others.
func bindingsOf(dir string, o Options) ([]string, error) {
	system := o.System
	if system == nil {
		system = systemIDs
	}
	ids, err := system()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	bound := make([]string, len(ids))
	for i, id := range ids {
		sum := sha256.Sum256([]byte(id + "\x00" + dir))
		bound[i] = hex.EncodeToString(sum[:])
	}
	return bound, nil
}

// systemIDs returns the identifiers of this machine: that of the operating system, which stays the same
// until it is installed again, and the host name.
func systemIDs() ([]string, error) {
	host, err := os.Hostname()
	if id := systemID(); id != "" {
		return []string{id, host}, nil
	}
	return []string{host}, err
}

// bind makes this copy of a workspace a machine of its own, if the remote is in a folder that a program
// copies and the key of the machine came from elsewhere.
func (j *job) bind() error {
	if !j.config.Synced || j.dry {
		return nil
	}
	bound, err := bindingsOf(j.w.Dir(), j.opts)
	if err != nil || bound[0] == j.config.Bound {
		return err
	}
	if j.config.Bound != "" && !slices.Contains(bound, j.config.Bound) {
		if err := j.renew(); err != nil {
			return err
		}
		if err := j.save(); err != nil {
			return err
		}
	}
	j.config.Bound = bound[0]
	return writeConfig(j.root, j.config)
}

// progress is a store that reports its progress.
type progress struct {
	bucket.Store
	report func(Progress)
	total  func() int64

	mu             sync.Mutex
	sent, received int64
	toSend         int64
}

func (p *progress) Put(ctx context.Context, name string, data []byte) error {
	p.mu.Lock()
	p.toSend = max(p.toSend, p.sent+p.total())
	p.mu.Unlock()
	err := p.Store.Put(ctx, name, data)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.sent += int64(len(data))
		p.report(Progress{Doing: "send", Done: p.sent, Total: max(p.sent, p.toSend)})
	}
	return err
}

func (p *progress) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := p.Store.Get(ctx, name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.received += int64(len(data))
		p.report(Progress{Doing: "get", Done: p.received})
	}
	return data, err
}

// unsentBytes returns how many bytes are not uploaded.
func unsentBytes(root *os.Root) (n int64) {
	for _, dir := range []string{"spool", unsentDir} {
		_ = fs.WalkDir(root.FS(), dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				n += info.Size()
			}
			return nil
		})
	}
	return n
}
