package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

const (
	folder     = ".bough/remotes"
	configFile = "config.json"
	stateDir   = "joined" // rows: what was read of the remote, and what was compared last
	notesDir   = "published"
	cacheDir   = "cache"
	unsentDir  = "packs" // where package stream has packs that are not uploaded

	maxCache = 1 << 30 // bytes of packs
	lockWait = 30 * time.Second
)

// A config is the content of configFile.
type config struct {
	Format int    `json:"format"`
	URL    string `json:"url"`
	ID     string `json:"id"`
	Key    string `json:"key"`
	Label  string `json:"machine_name"`
	Person string `json:"person,omitempty"`
	Token  []byte `json:"token"` // the ID, sealed: only the key of the remote opens it

	Share bool     `json:"share,omitempty"`
	Lines []string `json:"lines,omitempty"` // of a share: the first sessions of what this workspace has of it
	Taken []string `json:"taken,omitempty"` // of a share: the sessions that came from it, see [job.unshare]

	Files     bool   `json:"files,omitempty"` // states of files are exchanged too
	OneWriter bool   `json:"one_writer,omitempty"`
	Synced    bool   `json:"synced,omitempty"`
	Bound     string `json:"bound,omitempty"` // where the key of the machine is valid, if Synced
}

const configFormat = 1

// checkName returns an error for what cannot be the name of a remote.
func checkName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	if name == "" || len(name) > 64 || strings.Trim(name, letters+"._-") != "" || !strings.Contains(letters, name[:1]) || strings.HasSuffix(name, ".") {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q cannot be the name of a remote", name),
			Hint: "a name has up to 64 letters, digits and . _ -, and begins with a letter or a digit"}
	}
	return nil
}

func pathOf(w *workspace.Workspace, name string) string {
	return filepath.Join(w.Dir(), filepath.FromSlash(folder), name)
}

// openFolder opens the folder of a remote in a workspace.
func openFolder(w *workspace.Workspace, name string) (*os.Root, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(pathOf(w, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRemote(name)
	}
	return root, err
}

func readConfig(root *os.Root, name string) (c config, err error) {
	data, err := durable.ReadFile(root, configFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, noRemote(name) // an interrupted Add or Remove
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil || c.Format < 1 || c.URL == "" {
		return c, &fault.Error{Code: fault.Damaged, Message: filepath.Join(root.Name(), configFile) + " is damaged", Err: err,
			Hint: "remove the remote and add it again"}
	}
	if c.Format > configFormat {
		return c, &fault.Error{Code: fault.Refused, Message: filepath.Join(root.Name(), configFile) + " was written by a newer version of bough"}
	}
	return c, nil
}

// checkKey returns an error unless the key is that of the remote: with another one a push would add
// what no other machine can read.
func (c config) checkKey(key *seal.Key) error {
	id, err := key.Open(c.Token, 1<<10)
	if err != nil || string(id) != c.ID {
		return &fault.Error{Code: fault.Refused, Message: "the key " + c.Key + " is not that of this remote", Hint: "nothing was read or written", Err: err}
	}
	return nil
}

func writeConfig(root *os.Root, c config) error { return writeJSON(root, configFile, c) }

func writeJSON(root *os.Root, name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = durable.Replace(root, name, durable.Bytes(data, []byte("\n")))
	return err
}

func (c config) info(name string, m record.Machine) Info {
	return Info{Name: name, URL: c.URL, ID: c.ID, Key: c.Key, Machine: m, Label: c.Label, Person: c.Person, Share: c.Share, Files: c.Files, OneWriter: c.OneWriter, Synced: c.Synced}
}

// List returns the remotes of a workspace, by name, also those that have a problem. It makes no request.
func List(w *workspace.Workspace) ([]Info, error) {
	entries, err := os.ReadDir(filepath.Join(w.Dir(), filepath.FromSlash(folder)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, e := range entries {
		if !e.IsDir() || checkName(e.Name()) != nil {
			continue
		}
		info, err := infoOf(w, e.Name())
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			info = Info{Name: e.Name(), Problem: err.Error()}
		}
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func infoOf(w *workspace.Workspace, name string) (Info, error) {
	root, err := openFolder(w, name)
	if err != nil {
		return Info{}, err
	}
	defer root.Close()
	c, err := readConfig(root, name)
	if err != nil {
		return Info{}, err
	}
	machine, _ := stream.MachineIn(root) // "" if it is damaged, which an exchange reports
	return c.info(name, machine), nil
}

// lock locks the folder of a remote.
func lock(ctx context.Context, root *os.Root, verb string) (unlock func(), err error) {
	holder := writelock.Holder{PID: os.Getpid(), Verb: verb, Since: time.Now()}
	unlock, err = writelock.Lock(ctx, root, ".", holder, lockWait)
	var held *writelock.HeldError
	if errors.As(err, &held) {
		return nil, &fault.Error{Code: fault.Locked, Message: fmt.Sprintf("the remote is in use by process %d (%s)", held.Holder.PID, held.Holder.Verb), Err: err}
	}
	return unlock, err
}

// Settings change how a remote was added. What is nil stays.
type Settings struct {
	Files  *bool   // see AddOptions; a share has none
	Person *string // see AddOptions
}

// Set changes settings of the remote, for the exchanges from now on.
func (r *Remote) Set(ctx context.Context, s Settings) (Info, error) {
	unlock, err := lock(ctx, r.root, "remote set")
	if err != nil {
		return Info{}, err
	}
	defer unlock()
	c, err := readConfig(r.root, r.name)
	if err != nil {
		return Info{}, err
	}
	if s.Files != nil {
		if c.Files = *s.Files; c.Files && c.Share {
			return Info{}, noFiles(r.name)
		}
	}
	if s.Person != nil {
		c.Person = *s.Person
	}
	if err := writeConfig(r.root, c); err != nil {
		return Info{}, err
	}
	return r.Info()
}

// lockNames locks the folder of all remotes, for adding and removing one.
func lockNames(ctx context.Context, w *workspace.Workspace, verb string) (func(), error) {
	root, err := os.OpenRoot(filepath.Join(w.Dir(), filepath.FromSlash(folder)))
	if err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, root, verb)
	if err != nil {
		root.Close()
		return nil, err
	}
	return func() { unlock(); root.Close() }, nil
}

// Remove removes a remote from a workspace: its configuration, the key of the machine, and what was
// not uploaded. The store and the file of the key stay as they are.
func Remove(ctx context.Context, w *workspace.Workspace, name string) error {
	root, err := openFolder(w, name)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(configFile); err != nil {
		return noRemote(name)
	}
	unlockNames, err := lockNames(ctx, w, "remote rm")
	if err != nil {
		return err
	}
	defer unlockNames()
	unlock, err := lock(ctx, root, "remote rm")
	if err != nil {
		return err
	}
	if err := durable.Remove(root, configFile); err != nil { // from now on there is none
		unlock()
		return err
	}
	unlock()
	parent, err := os.OpenRoot(filepath.Dir(pathOf(w, name)))
	if err != nil {
		return err
	}
	defer parent.Close()
	return durable.RemoveAll(parent, name)
}
