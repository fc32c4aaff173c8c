package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// Add adds a remote to a workspace, and creates it in its store if there is none. With a wrong key it
// writes nothing. A store that does not create objects only once is refused, unless OneWriter is set:
// the error is a *[bucket.NoCreateOnlyError]. Nothing of the workspace is sent.
func Add(ctx context.Context, w *workspace.Workspace, name string, a AddOptions, o Options) (_ *Added, err error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(filepath.Join(pathOf(w, name), configFile)); err == nil {
		return nil, isThere(name)
	}
	if a.Key == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "the file of the remote's key is missing"}
	}
	if isBelow(a.Key, w.Dir()) {
		return nil, &fault.Error{Code: fault.Refused, Message: "the key of a remote must not be in the workspace", Hint: "who gets a copy of the workspace would have it"}
	}
	if _, err := linesOf(ctx, w, a.Refs); err != nil {
		return nil, err
	}
	store := a.Store
	if store == nil {
		if store, err = openStore(ctx, a.URL, o); err != nil {
			return nil, err
		}
		if c, ok := store.(interface{ Close() error }); ok {
			defer c.Close()
		}
	}
	meter := bucket.NewMeter(store)
	before := meter.Usage()
	_, err = meter.Get(ctx, "bough.json")
	absent := errors.Is(err, fs.ErrNotExist)
	if err != nil && !absent {
		return nil, err
	}
	key, err := openKey(a.Key, absent)
	if err != nil {
		return nil, err
	}
	if !absent {
		there, err := stream.Open(ctx, meter, key.Key) // before anything is written
		if err != nil {
			return nil, err
		}
		if there.Share && a.Files {
			return nil, noFiles(name)
		}
	}
	if err := checkKeyOf(w, key, a, absent); err != nil {
		return nil, err
	}
	if !a.OneWriter {
		if err := bucket.Probe(ctx, meter); err != nil {
			if key.Made { // a share that is tried again makes its own
				err = errors.Join(err, os.Remove(a.Key))
			}
			return nil, err
		}
	}
	start := stream.Create
	if a.Share {
		start = stream.CreateShare
	}
	remote, created, err := start(ctx, meter, key.Key)
	if err != nil {
		return nil, err
	}
	if a.Share && !remote.Share {
		return nil, &fault.Error{Code: fault.Refused, Message: "there is a remote at the URL that is no share", Hint: "nothing was written"}
	}
	c, err := newConfig(w, a, remote, o)
	if err != nil {
		return nil, err
	}
	machine, err := create(ctx, w, name, remote, c)
	if err != nil {
		return nil, err
	}
	return &Added{
		Info: c.info(name, machine), Created: created, KeyMade: key.Made, KeyShared: key.Shared,
		Requests: meter.Usage().Sub(before).Requests(),
	}, nil
}

func isThere(name string) error {
	return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("there is a remote %q already", name)}
}

// isBelow reports whether a file is in a folder, also by a symbolic link. Neither must exist.
func isBelow(name, dir string) bool {
	rel, err := filepath.Rel(realPath(dir), realPath(name))
	return err == nil && filepath.IsLocal(rel)
}

// realPath returns the absolute path of a file, with the symbolic links resolved as far as it exists.
func realPath(name string) string {
	path, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	for dir, rest := path, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

// openKey reads the key of a remote, or makes it if there is neither.
func openKey(name string, absent bool) (*seal.KeyFile, error) {
	if absent {
		return seal.OpenKeyFile(name)
	}
	key, err := seal.ReadKeyFile(name)
	if err != nil {
		return nil, keyError(name, err)
	}
	return key, nil
}

func keyError(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fault.Error{Code: fault.NotFound, Message: "the key of the remote is missing: " + name, Err: err,
			Hint: "copy it from a machine that has it"}
	}
	return err
}

func newConfig(w *workspace.Workspace, a AddOptions, r *stream.Remote, o Options) (config, error) {
	key, err := filepath.Abs(a.Key)
	if err != nil {
		return config{}, err
	}
	token, err := r.Key.Seal([]byte(r.ID))
	if err != nil {
		return config{}, err
	}
	c := config{Format: configFormat, URL: a.URL, ID: r.ID, Token: token, Key: key, Label: a.Machine, Person: a.Person, Share: r.Share, Files: a.Files && !r.Share, OneWriter: a.OneWriter, Synced: a.Synced}
	if c.Label == "" {
		c.Label = hostLabel()
	}
	if a.Synced {
		bound, err := bindingsOf(w.Dir(), o)
		if err != nil {
			return c, err
		}
		c.Bound = bound[0]
	}
	return c, nil
}

// hostLabel returns the name of the computer, without its domain.
func hostLabel() string {
	host, _ := os.Hostname()
	label, _, _ := strings.Cut(strings.ToLower(host), ".")
	if label == "" {
		return "machine"
	}
	return label
}

// create makes the folder of a remote. The configuration is its last file: without it there is no
// remote.
func create(ctx context.Context, w *workspace.Workspace, name string, remote *stream.Remote, c config) (machine record.Machine, err error) {
	if err := w.Make(ctx); err != nil {
		return "", err
	}
	base, err := os.OpenRoot(w.Dir())
	if err != nil {
		return "", err
	}
	defer base.Close()
	if err := durable.MakeDir(base, folder); err != nil {
		return "", err
	}
	unlock, err := lockNames(ctx, w, "remote add")
	if err != nil {
		return "", err
	}
	defer unlock()
	path := folder + "/" + name
	if _, err := base.Lstat(path + "/" + configFile); err == nil { // meanwhile
		return "", isThere(name)
	}
	if err := durable.RemoveAll(base, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of an interrupted Add or Remove
		return "", err
	}
	if err := durable.MakeDir(base, path); err != nil {
		return "", err
	}
	root, err := base.OpenRoot(path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	writer, err := remote.OpenWriter(root)
	if err != nil {
		return "", err
	}
	return writer.Machine(), writeConfig(root, c)
}
