package states

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/sessionid"
)

// Limits of a state that leaves its workspace or comes from another one.
const (
	maxTravelFiles = 2_000_000 // files and links, as of a scan
	maxTravelBytes = 1 << 40   // their size
	maxTravelDepth = 2048      // of directories, as of a scan
	maxTravelName  = 255       // bytes of a name
	maxTarget      = 4096      // bytes of the target of a link
	maxTree        = 64 << 20  // bytes of the object of a directory
	maxCoverage    = 16 << 20  // bytes of that of a coverage
)

// A HostileError reports a state that bough does not take: its content could harm a folder, or is
// not what the state says.
type HostileError struct {
	Path    string // "" if the problem is not at a path
	Problem string
}

func (e *HostileError) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return fmt.Sprintf("%q %s", e.Path, e.Problem)
}

func hostile(name, format string, args ...any) error {
	return &HostileError{name, fmt.Sprintf(format, args...)}
}

// An inspection checks states that leave a workspace or come from another one, and lists what they
// need. It reads each tree once.
type inspection struct {
	get    func(id pack.ID) ([]byte, error) // trees, targets of links, coverages
	size   func(id pack.ID) (int64, error)  // the error is [fs.ErrNotExist] if there is no such object
	gone   func(id pack.ID) bool            // the content was deleted permanently
	trees  map[pack.ID]*summary
	level  int                                 // of the tree that is read
	needed map[pack.ID]bool                    // by the states that passed
	add    func(id pack.ID, isGone bool) error // is called with each object that becomes needed
	listed map[pack.ID]*Coverage               // the coverages that were read
}

// A summary describes a tree with all its descendants.
type summary struct {
	tree  filetree.Tree
	files int
	bytes int64
	climb int // how many directories above the tree its links lead
	err   error
}

// inspect checks a state. With an error, nothing of it counts as needed.
func (i *inspection) inspect(st *State) error {
	if err := st.checkTravel(); err != nil {
		return err
	}
	top := i.tree(st.Tree)
	switch {
	case top.err != nil:
		return top.err
	case top.climb > 0:
		return hostile("", "a symbolic link leads out of the folder")
	case top.files != st.Files || top.bytes != st.Bytes:
		return hostile("", "the tree has %d files of %d bytes, and the state says %d and %d", top.files, top.bytes, st.Files, st.Bytes)
	}
	c, err := i.coverage(st.Coverage)
	if err != nil {
		return err
	}
	if err := i.need(st.Tree); err != nil {
		return err
	}
	for _, id := range append(c.Rules.objects(), st.Coverage) {
		if err := i.mark(id); err != nil {
			return err
		}
	}
	return nil
}

// checkTravel checks the record of a state. Its ids become names of files.
func (st *State) checkTravel() error {
	if err := st.check(); err != nil {
		return err
	}
	moments := []Moment{Prompt, End, Checkpoint, Restore, Manual}
	known := false
	for _, m := range moments {
		known = known || st.At == m
	}
	switch {
	case !sessionid.IsUUID(st.ID) || !sessionid.IsUUID(st.Folder) || st.Since != "" && !sessionid.IsUUID(st.Since):
		return hostile("", "an id of the state is malformed")
	case !known:
		return hostile("", "the state has no known moment")
	case st.Files < 0 || st.Bytes < 0 || st.NewBytes < 0:
		return hostile("", "a number of the state is negative")
	case st.SessionID != "" && !sessionid.Valid(st.SessionID):
		return hostile("", "the session of the state is malformed")
	case st.Git != nil && !st.Git.isPlausible():
		return hostile("", "the commit of the state is malformed")
	}
	return nil
}

// isPlausible reports whether a position can be that of a repository: it becomes arguments of git.
func (g *Git) isPlausible() bool {
	isHex := strings.Trim(g.Head, "0123456789abcdef") == ""
	return isHex && (len(g.Head) == 0 || len(g.Head) == 40 || len(g.Head) == 64) && len(g.Branch) <= maxTarget &&
		!strings.HasPrefix(g.Branch, "-") && !strings.ContainsFunc(g.Branch, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// tree reads a tree and all that is below it.
func (i *inspection) tree(id pack.ID) *summary {
	if s := i.trees[id]; s != nil {
		return s
	}
	s := &summary{}
	if i.level++; i.level > maxTravelDepth {
		i.level--
		s.err = hostile("", "directories are nested too deeply")
		return s
	}
	defer func() {
		i.level--
		if s.err == nil { // otherwise another state may have it, and not as deep
			i.trees[id] = s
		}
	}()
	size, err := i.size(id)
	var data []byte
	switch {
	case err != nil:
	case size > maxTree:
		err = hostile("", "a directory has an object of %d bytes", size)
	default:
		data, err = i.get(id)
	}
	if err == nil {
		if s.tree, err = filetree.Decode(data); err != nil {
			err = hostile("", "tree %v: %v", id, err)
		}
	}
	if err != nil {
		s.err = err
		return s
	}
	var marks ignore.Marks
	for _, e := range s.tree {
		marks |= ignore.Mark(e.Name, e.Type == filetree.Dir)
	}
	for _, e := range s.tree {
		if s.err = i.entry(s, e, marks); s.err != nil {
			return s
		}
	}
	return s
}

// entry checks an entry of a tree, and adds it to the summary.
func (i *inspection) entry(s *summary, e filetree.Entry, marks ignore.Marks) error {
	if problem := nameProblem(e, marks); problem != "" {
		return hostile(e.Name, "%s", problem)
	}
	if e.Type == filetree.Dir {
		below := i.tree(e.ID)
		if below.err != nil {
			return within(e.Name, below.err)
		}
		s.files, s.bytes = s.files+below.files, s.bytes+below.bytes
		s.climb = max(s.climb, below.climb-1)
		if size, err := i.size(e.ID); err != nil || size != e.Size {
			return hostile(e.Name, "has the size of another directory")
		}
	} else {
		s.files, s.bytes = s.files+1, s.bytes+e.Size
		if err := i.content(s, e); err != nil {
			return err
		}
	}
	switch {
	case s.files > maxTravelFiles:
		return hostile("", "there are more than %d files", maxTravelFiles)
	case s.bytes > maxTravelBytes || s.bytes < 0:
		return hostile("", "the files have more than %d bytes", int64(maxTravelBytes))
	}
	return nil
}

// content checks the content of a file or the target of a link.
func (i *inspection) content(s *summary, e filetree.Entry) error {
	if limit := (scan.Options{}).WithDefaults().File; e.Size > limit {
		return hostile(e.Name, "has %d bytes, and states hold files up to %d", e.Size, limit)
	}
	if e.Type == filetree.Link && e.Size > maxTarget {
		return hostile(e.Name, "has a target of %d bytes", e.Size)
	}
	if i.gone(e.ID) {
		return nil
	}
	size, err := i.size(e.ID)
	if err != nil {
		return within(e.Name, err)
	}
	if size != e.Size {
		return hostile(e.Name, "has %d bytes, and its tree says %d", size, e.Size)
	}
	if e.Type != filetree.Link {
		return nil
	}
	target, err := i.get(e.ID)
	if err != nil {
		return within(e.Name, err)
	}
	up, ok := climbOf(string(target))
	if !ok {
		return hostile(e.Name, "is a symbolic link that leads out of the folder")
	}
	s.climb = max(s.climb, up)
	return nil
}

// climbOf returns how many directories above that of a link its target is. ok is false if that
// depends on what is there: of an absolute target, and of one that goes up after it went down, which
// can be over another link.
func climbOf(target string) (up int, ok bool) {
	if target == "" || strings.ContainsRune(target, 0) {
		return 0, false
	}
	parts := strings.FieldsFunc(target, func(r rune) bool { return r == '/' || r == '\\' })
	if strings.ContainsAny(target[:1], `/\`) || len(parts) > 0 && strings.ContainsRune(parts[0], ':') {
		return 0, false
	}
	down := false
	for _, part := range parts {
		switch {
		case part == ".":
		case part != "..":
			down = true
		case down:
			return 0, false
		default:
			up++
		}
	}
	return up, true
}

// within adds the name of a directory to the path of an error.
func within(name string, err error) error {
	var h *HostileError
	if errors.As(err, &h) {
		if h.Path == "" {
			return h
		}
		return &HostileError{name + "/" + h.Path, h.Problem}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// nameProblem returns why a state never holds an entry with this name, "" if it may. A file system
// may ignore case, some letters of Unicode, or dots and spaces at the end, so that the name is that of
// the data of a repository, in which a file can be a program that is run.
func nameProblem(e filetree.Entry, marks ignore.Marks) string {
	name := strings.ToLower(strings.TrimRight(visible(e.Name), ". "))
	name, _, _ = strings.Cut(name, ":") // a stream of NTFS
	isDir := e.Type == filetree.Dir
	switch {
	case len(e.Name) > maxTravelName:
		return "has a name that is too long"
	case !filepath.IsLocal(e.Name) || filepath.Base(e.Name) != e.Name:
		return "has a name that leads elsewhere"
	case name == "git~1", name != "" && marks.BuiltIn(name, isDir).Always(), marks.BuiltIn(e.Name, isDir).Always():
		return "is in the data of a repository or of bough, which states never hold"
	}
	return ""
}

// visible returns a name without the letters that file systems of Apple ignore.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, name)
}

// coverage reads a coverage.
func (i *inspection) coverage(id pack.ID) (*Coverage, error) {
	if c := i.listed[id]; c != nil {
		return c, nil
	}
	size, err := i.size(id)
	if err != nil {
		return nil, err
	}
	if size > maxCoverage {
		return nil, hostile("", "what the state does not hold is listed in %d bytes", size)
	}
	data, err := i.get(id)
	if err != nil {
		return nil, err
	}
	c := new(Coverage)
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(c); err != nil {
		return nil, hostile("", "what the state does not hold is malformed: %v", err)
	}
	for _, object := range c.Rules.objects() {
		if i.gone(object) {
			continue
		}
		if _, err := i.size(object); err != nil {
			return nil, err
		}
	}
	i.listed[id] = c
	return c, nil
}

// need marks a tree that was checked, and all that is below it.
func (i *inspection) need(id pack.ID) error {
	if i.needed[id] {
		return nil
	}
	for _, e := range i.trees[id].tree {
		var err error
		if e.Type == filetree.Dir {
			err = i.need(e.ID)
		} else {
			err = i.mark(e.ID)
		}
		if err != nil {
			return err
		}
	}
	return i.mark(id)
}

// mark marks an object.
func (i *inspection) mark(id pack.ID) error {
	if i.needed[id] {
		return nil
	}
	i.needed[id] = true
	if i.add == nil {
		return nil
	}
	return i.add(id, i.gone(id))
}

func newInspection(get func(pack.ID) ([]byte, error), size func(pack.ID) (int64, error), gone func(pack.ID) bool) *inspection {
	return &inspection{
		get: get, size: size, gone: gone,
		trees: map[pack.ID]*summary{}, needed: map[pack.ID]bool{}, listed: map[pack.ID]*Coverage{},
	}
}
