package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/travel"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// objectsFile says which objects runs have, in lines with a checksum. It is a cache: a run without a
// line is read again.
const objectsFile = "objects"

// An objectLine is a line of objectsFile.
type objectLine struct {
	Run     string `json:"r"` // see runKey
	Objects string `json:"o"` // their IDs, one after the other, in base64
}

// runKey identifies a run of items by what it says. It is the same after a record was issued again.
func runKey(b *record.Body) string {
	data, err := json.Marshal(b)
	if err != nil {
		panic(err) // it was valid when it was added
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// objectsOf returns the objects of the runs that were read or written, by their keys.
func (j *job) objectsOf() (map[string][]mirror.Object, error) {
	if j.objects != nil {
		return j.objects, nil
	}
	list, err := readObjects(j.root)
	if err == nil {
		j.objects = list
	}
	return list, err
}

func readObjects(root *os.Root) (map[string][]mirror.Object, error) {
	list := map[string][]mirror.Object{}
	data, err := durable.ReadFile(root, objectsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	const sum = len(" 01234567\n")
	for text := range bytes.Lines(data) {
		var l objectLine
		if len(text) < sum || string(text[len(text)-sum:]) != fmt.Sprintf(" %08x\n", crc32c.Of(text[:len(text)-sum])) ||
			json.Unmarshal(text[:len(text)-sum], &l) != nil {
			continue
		}
		ids, err := base64.StdEncoding.DecodeString(l.Objects)
		if err != nil || len(ids)%len(mirror.Object{}) != 0 {
			continue
		}
		for id := range slices.Chunk(ids, len(mirror.Object{})) {
			list[l.Run] = append(list[l.Run], mirror.Object(id))
		}
	}
	return list, nil
}

// noteObjects notes which objects a run has.
func (j *job) noteObjects(b *record.Body, objects []mirror.Object) error {
	known, err := j.objectsOf()
	if err != nil {
		return err
	}
	key := runKey(b)
	if _, ok := known[key]; ok {
		return nil
	}
	known[key] = objects
	var ids []byte
	for _, o := range objects {
		ids = append(ids, o[:]...)
	}
	data, err := json.Marshal(objectLine{key, base64.StdEncoding.EncodeToString(ids)})
	if err != nil {
		return err
	}
	_, err = durable.AppendCache(j.root, objectsFile, fmt.Appendf(data, " %08x\n", crc32c.Of(data)))
	return err
}

// knownObjects returns the objects that are in the remote, as far as that is known here: of own runs all,
// of others those that were read.
func (j *job) knownObjects(there *travel.Files) (map[mirror.Object]bool, error) {
	runs, err := j.objectsOf()
	if err != nil {
		return nil, err
	}
	known := map[mirror.Object]bool{}
	for _, folder := range there.Folders {
		for _, el := range folder.Objects {
			list, ok := runs[runKey(el.Body)]
			if !ok && el.Stamp.Machine == j.writer.Machine() {
				if list, err = j.readRun(el.Body); err != nil {
					if !isMissing(err) {
						return nil, err
					}
					continue // the objects are sent once more
				}
			}
			for _, o := range list {
				known[o] = true
			}
		}
	}
	return known, nil
}

// isMissing reports whether an error says that a pack is not there or damaged.
func isMissing(err error) bool {
	return errors.Is(err, fault.NotFound) || errors.Is(err, fault.Damaged)
}

// readRun reads a run and notes its objects.
func (j *job) readRun(b *record.Body) (objects []mirror.Object, err error) {
	for it, err := range j.packs.Items(j.ctx, b) {
		if err != nil {
			return nil, err
		}
		p, err := pack.New("pack", bytes.NewReader(it.Content), int64(len(it.Content)))
		if err != nil {
			return nil, err
		}
		if objects = append(objects, objectsIn(p)...); len(objects) > maxObjects {
			return nil, &fault.Error{Code: fault.Damaged, Message: fmt.Sprintf("a run of %s has more than %d objects", b.Pack, maxObjects)}
		}
	}
	return objects, j.noteObjects(b, objects)
}

// maxObjects is how many objects a run may have: those of the largest state.
const maxObjects = 4_000_000

func objectsIn(p *pack.Pack) (list []mirror.Object) {
	for id := range pack.NewIndex(p).All() {
		list = append(list, mirror.Object(id))
	}
	return list
}

// A supply finds objects in the runs of the remote. Runs that it read are in files of the folder
// incomingDir, until it is closed.
type supply struct {
	*job
	there  *travel.Files
	places map[mirror.Object]*mirror.Pack
	read   map[string]bool
	files  []*os.File
	root   *os.Root // of incomingDir, nil if there is no file
}

// incomingDir has packs of objects while states are received.
const incomingDir = "incoming"

func (j *job) openSupply(there *travel.Files) (*supply, error) {
	_, err := j.objectsOf()
	return &supply{job: j, there: there, places: map[mirror.Object]*mirror.Pack{}, read: map[string]bool{}}, err
}

func (s *supply) close() {
	for _, f := range s.files {
		f.Close()
		_ = s.root.Remove(filepath.Base(f.Name())) // the next supply removes remaining files
	}
	if s.root != nil {
		s.root.Close()
		_ = s.job.root.Remove(incomingDir)
	}
}

// find returns a pack with an object. The error has the code NotFound if no run has it that can be read.
func (s *supply) find(o mirror.Object) (*mirror.Pack, error) {
	if p := s.places[o]; p != nil {
		return p, nil
	}
	for _, known := range []bool{true, false} { // first the runs that are known to have it
		for _, folder := range s.there.Folders {
			for _, el := range slices.Backward(folder.Objects) {
				key := runKey(el.Body)
				list, noted := s.objects[key]
				if s.read[key] || noted != known || noted && !slices.Contains(list, o) {
					continue
				}
				if err := s.load(key, el.Body); err != nil {
					return nil, err
				}
				if p := s.places[o]; p != nil {
					return p, nil
				}
			}
		}
	}
	return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the remote does not have the content %x", o)}
}

// load reads a run. One that is missing or damaged has no objects.
func (s *supply) load(key string, b *record.Body) error {
	s.read[key] = true
	var objects []mirror.Object
	for it, err := range s.packs.Items(s.ctx, b) {
		if isMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		p, err := s.keep(it.Content)
		if err != nil {
			return err
		}
		opened, err := pack.New("pack", p, p.Size)
		if err != nil {
			return err
		}
		if len(objects) > maxObjects {
			return nil // as a damaged one
		}
		for _, o := range objectsIn(opened) {
			objects = append(objects, o)
			if s.places[o] == nil {
				s.places[o] = p
			}
		}
	}
	return s.noteObjects(b, objects)
}

// keep writes a pack to a file.
func (s *supply) keep(content []byte) (*mirror.Pack, error) {
	if s.root == nil {
		if err := durable.RemoveAll(s.job.root, incomingDir); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
			return nil, err
		}
		if err := durable.MakeDir(s.job.root, incomingDir); err != nil {
			return nil, err
		}
		root, err := s.job.root.OpenRoot(incomingDir)
		if err != nil {
			return nil, err
		}
		s.root = root
	}
	f, err := s.root.OpenFile(fmt.Sprint(len(s.files)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, f)
	if _, err := f.Write(content); err != nil {
		return nil, err
	}
	return &mirror.Pack{ReaderAt: io.ReaderAt(f), Size: int64(len(content))}, nil
}

// Holds reports whether the remote may have content with one of these SHA-256. It also returns true
// if the remote has packs of objects whose contents are not known here. It makes no request.
func (r *Remote) Holds(contents []string) (bool, error) {
	runs, err := readObjects(r.root)
	if err != nil {
		return false, err
	}
	holds := func(o mirror.Object) bool { return slices.Contains(contents, hex.EncodeToString(o[:])) }
	return read(r, func(s *stored, _ *plan.View) (bool, error) {
		if s.state == nil {
			return false, nil
		}
		for _, folder := range travel.Project(s.state).Folders {
			for _, el := range folder.Objects {
				if list, ok := runs[runKey(el.Body)]; !ok || slices.ContainsFunc(list, holds) {
					return true, nil
				}
			}
		}
		return false, nil
	})
}

// noteBatch notes the objects of the runs of a batch, which was appended as ops.
func (j *job) noteBatch(b *batch, ops []record.Op) error {
	n := 0
	for _, op := range ops {
		if !travel.IsObjects(op) {
			continue
		}
		if err := j.noteObjects(op.Body, b.objects[n]); err != nil {
			return err
		}
		n++
	}
	return nil
}
