// Package restore gives a folder the content of an earlier state. It has one law: no byte
// is overwritten or removed unless the store has it.
//
// A restore has two parts. [Make] decides, purely, what changes: a [Plan]. [Apply] makes
// these changes in the folder, and [Resume] completes an interrupted Apply.
//
// # The plan
//
// A plan compares four things at each path: what the target T has, the state to return to;
// what the last state L of the conversation has; what the folder has now, C, of which a
// state was just taken; and the spans, the pairs of states between which a conversation
// changed files. Only paths that differ within a span of this conversation can change, and
// the directories that they are in:
//
//	C = T               nothing changes
//	C = L               T, unless another program changed the path between two spans of this
//	                    conversation: then it is a conflict
//	L = T               C stays: the user changed it
//	all three differ    a conflict
//
// If a span of another conversation changed the path, and C is not T, it is a conflict too, and
// so is a path that changed in a span of which it is unknown whether it is the conversation's
// or the user's.
// [Options.Policy] decides about conflicts. [Options.Whole] takes T at every path of the
// folder, without conflicts.
//
// Entries are equal if type, permission bits and content are; of directories the content
// does not count, as each path in them is decided on its own. So a change of permission bits
// is a change, a file and a link are different, and an empty directory is a path like any
// other. A rename in which only the case of letters changes is a deletion and a new
// file. Apply deletes first, so that it works on a file system that ignores case.
//
// These paths never change, whatever the options are; if T differs there, they are kept and
// reported: a path that a state omitted, T or C, and all paths below it; and a path that is
// ignored under the rules of T or of C. So is a path whose content in T was deleted
// permanently. A directory that must go but has something that
// stays in it is kept ([NotEmpty]), and so is a path that needs a directory where something
// else stays ([Blocked]). Of a directory that must become a file, and is kept, nothing is
// removed: its contents are Blocked.
package restore

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
)

// An Input is what a plan is made of. States are given by their trees.
type Input struct {
	Read    filetree.Reader // of the store, for trees and contents
	Target  pack.ID
	Last    pack.ID // of the conversation
	Present pack.ID // taken just now
	Own     []Span  // of this conversation after the target, in their order
	Other   []Span  // of other conversations in that time
	Unended []Span  // those of Own in which the user may have changed files too
	Left    []scan.Left
	// Ignored returns why a path, or a directory above it, is never held, under the rules of
	// the target or under those of the present: [Ignored] or a scan.Reason, else "". If nil, no
	// path is.
	Ignored func(path string, isDir bool) (why string)
	// More reports whether the folder has something in a directory that the present state does
	// not hold. If nil, no directory has.
	More func(dir string) bool
	// Forgotten reports whether a content was deleted permanently. If nil, none was.
	Forgotten func(id pack.ID) bool
}

// A Span is a time in which a conversation changed files: from one state to another.
type Span struct {
	From, To pack.ID
	// Brought is true if the span is of a restore that brought files from another folder: what the
	// folder had before it is not what the span before it left.
	Brought bool
}

// Options choose what a plan does. The zero value restores the paths of the conversation and
// refuses conflicts.
type Options struct {
	Policy Policy
	Whole  bool
	Only   []string // if not empty: only these paths, and what is below them
}

// A Policy decides about conflicts.
type Policy string

const (
	Refuse Policy = ""      // the plan has them, and cannot be applied
	Keep   Policy = "keep"  // what the folder has stays
	Take   Policy = "take"  // the target is taken
	Merge  Policy = "merge" // the changes of the conversation are taken back line by line
)

// A Plan is what a restore changes. It is sorted by path.
type Plan struct {
	Changes   []Change
	Kept      []Kept
	Conflicts []Conflict
	Merged    map[pack.ID][]byte // contents that no state has
}

// A Change is a path that changes, from what the folder has. An entry is zero if there is none.
type Change struct {
	Path     string
	From, To filetree.Entry
}

// A Kept is a path that differs from the target and stays as it is.
type Kept struct {
	Path string `json:"path"`
	Why  string `json:"why"` // one of the constants, or a scan.Reason
	// As is where the content is now, if another program wrote it while the path changed
	// and it could not get its name back.
	As string `json:"as,omitempty"`
}

// The reasons for which a path is kept, beside those of package scan.
const (
	Yours      = "yours"     // only the user changed it
	Conflicted = "conflict"  // by [Keep]
	Ignored    = "ignored"   // under the rules of one of the states
	Forgotten  = "forgotten" // the content of the target was deleted permanently
	NotEmpty   = "not_empty" // a directory in which something stays
	Blocked    = "blocked"   // a path above it stays as it is
	Changed    = "changed"   // another program changed it since the present state
	Locked     = "locked"    // another program has it open and locked
	Denied     = "denied"    // the system refuses the change
	Damaged    = "damaged"   // the disk lost new content that it had confirmed
)

// A Conflict is a path that the conversation changed, and the user or another conversation too.
// An entry is zero if there is none.
type Conflict struct {
	Path                string
	Base, Yours, Theirs filetree.Entry // last state, folder, target
	Why                 string         // [ByUser], [ByOther] or [NoEnd]
}

// The reasons for a [Conflict].
const (
	ByUser  = "yours"              // the user changed it too
	ByOther = "other_conversation" // another conversation changed it too
	NoEnd   = "no_end"             // it changed in a span of [Input.Unended]
)

// Make makes a plan. The error is that of reading an object.
func Make(in Input, opts Options) (*Plan, error) {
	p := &planning{
		Input: in, Options: opts,
		trees: map[pack.ID]filetree.Tree{}, own: map[string][]version{}, others: map[string]string{},
		left: map[string]scan.Reason{}, above: map[string]bool{},
		now: map[string]filetree.Entry{}, takes: map[string]filetree.Entry{}, kept: map[string]string{},
		plan: &Plan{Merged: map[pack.ID][]byte{}},
	}
	for _, l := range in.Left {
		p.left[l.Path] = l.Why
		for dir := path.Dir(l.Path); dir != "."; dir = path.Dir(dir) {
			p.above[dir] = true
		}
	}
	paths, err := p.candidates()
	if err != nil {
		return nil, err
	}
	for _, name := range paths {
		if err := p.decide(name); err != nil {
			return nil, err
		}
	}
	for changed := true; changed; {
		if changed, err = p.settle(); err != nil {
			return nil, err
		}
	}
	return p.finish()
}

// A planning makes a plan.
type planning struct {
	Input
	Options
	trees  map[pack.ID]filetree.Tree
	own    map[string][]version // what each span of this conversation changed
	others map[string]string    // what may be of others: ByOther or NoEnd
	left   map[string]scan.Reason
	above  map[string]bool // directories above a path in left
	now    map[string]filetree.Entry
	takes  map[string]filetree.Entry // what the folder gets
	kept   map[string]string
	plan   *Plan
}

// A version is a path before and after a span.
type version struct {
	from, to filetree.Entry
	brought  bool
}

// same reports whether entries are equal at a path.
func same(a, b filetree.Entry) bool {
	return a.Type == b.Type && a.Perm == b.Perm && (a.Type == filetree.Dir || a.ID == b.ID)
}

// candidates returns the paths that can change.
func (p *planning) candidates() ([]string, error) {
	paths := map[string]bool{}
	for i, s := range slices.Concat(p.Own, p.Other, p.Unended) {
		for c, err := range filetree.Diff(p.Read, s.From, s.To) {
			switch {
			case err != nil:
				return nil, err
			case i < len(p.Own):
				p.own[c.Path] = append(p.own[c.Path], version{c.From, c.To, s.Brought})
				paths[c.Path] = true
			case i < len(p.Own)+len(p.Other):
				p.others[c.Path] = ByOther
			default:
				p.others[c.Path] = NoEnd
			}
		}
	}
	if p.Whole {
		clear(paths)
		for c, err := range filetree.Diff(p.Read, p.Present, p.Target) {
			if err != nil {
				return nil, err
			}
			paths[c.Path] = true
		}
	}
	maps.DeleteFunc(paths, func(name string, _ bool) bool { return !p.wanted(name) })
	return slices.Sorted(maps.Keys(paths)), nil
}

func (p *planning) wanted(name string) bool {
	return len(p.Only) == 0 || slices.ContainsFunc(p.Only, func(only string) bool {
		return only == "." || name == only || strings.HasPrefix(name, only+"/")
	})
}

// at returns what a tree has at a path.
func (p *planning) at(tree pack.ID, name string) (filetree.Entry, error) {
	e := filetree.Entry{Type: filetree.Dir, ID: tree}
	for part := range strings.SplitSeq(name, "/") {
		if e.Type != filetree.Dir {
			return filetree.Entry{}, nil
		}
		t, err := p.tree(e.ID)
		if err != nil {
			return filetree.Entry{}, err
		}
		e, _ = t.Find(part)
	}
	return e, nil
}

func (p *planning) tree(id pack.ID) (filetree.Tree, error) {
	if t, ok := p.trees[id]; ok || id == (pack.ID{}) {
		return t, nil
	}
	data, err := p.Read(id)
	if err != nil {
		return nil, err
	}
	t, err := filetree.Decode(data)
	p.trees[id] = t
	return t, err
}

// present returns what the folder has at a path.
func (p *planning) present(name string) (filetree.Entry, error) {
	if e, ok := p.now[name]; ok {
		return e, nil
	}
	e, err := p.at(p.Present, name)
	p.now[name] = e
	return e, err
}

// decide decides about one path.
func (p *planning) decide(name string) error {
	now, err := p.present(name)
	if err != nil {
		return err
	}
	target, err := p.at(p.Target, name)
	if err != nil {
		return err
	}
	last, err := p.at(p.Last, name)
	if err != nil || same(now, target) {
		return err
	}
	why, held := p.untouchable(name, now.Type == filetree.Dir || target.Type == filetree.Dir)
	switch {
	case held:
		p.kept[name] = why
	case target.Type != 0 && target.Type != filetree.Dir && p.Forgotten != nil && p.Forgotten(target.ID):
		p.kept[name] = Forgotten
	case p.Whole:
		p.takes[name] = target
	case p.others[name] != "":
		return p.conflict(Conflict{name, last, now, target, p.others[name]})
	case same(last, target):
		p.kept[name] = Yours
	case same(now, last) && !p.interrupted(name, target, last):
		p.takes[name] = target
	default:
		return p.conflict(Conflict{name, last, now, target, ByUser})
	}
	return nil
}

// untouchable returns why a path never changes.
func (p *planning) untouchable(name string, isDir bool) (why string, ok bool) {
	for at := name; at != "."; at = path.Dir(at) {
		if why, ok := p.left[at]; ok {
			return string(why), true
		}
	}
	if p.Ignored != nil {
		why = p.Ignored(name, isDir)
	}
	return why, why != ""
}

// interrupted reports whether a path changed outside the spans of the conversation.
func (p *planning) interrupted(name string, target, last filetree.Entry) bool {
	at := target
	for _, v := range p.own[name] {
		if !v.brought && !same(at, v.from) {
			return true
		}
		at = v.to
	}
	return !same(at, last)
}

func (p *planning) conflict(c Conflict) error {
	switch p.Policy {
	case Keep:
		p.kept[c.Path] = Conflicted
	case Take:
		p.takes[c.Path] = c.Theirs
	case Merge:
		merged, ok, err := p.merge(c)
		if err != nil {
			return err
		}
		if ok {
			p.takes[c.Path] = merged
			return nil
		}
		fallthrough
	default:
		p.plan.Conflicts = append(p.plan.Conflicts, c)
	}
	return nil
}

// after returns what the folder has at a path after the restore.
func (p *planning) after(name string) (filetree.Entry, error) {
	if e, ok := p.takes[name]; ok {
		return e, nil
	}
	return p.present(name)
}

// settle drops changes that others make impossible, and adds the directories that the rest
// needs. It reports whether there were any.
func (p *planning) settle() (changed bool, err error) {
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(p.takes))) {
		to := p.takes[name]
		why := ""
		if to.Type == 0 {
			why, err = p.spared(name)
		}
		if err == nil && why == "" && to.Type != filetree.Dir {
			why, err = p.full(name)
		}
		if err == nil && why == "" && to.Type != 0 && path.Dir(name) != "." {
			var added bool
			why, added, err = p.reach(path.Dir(name))
			changed = changed || added
		}
		if err != nil {
			return false, err
		}
		if why != "" {
			delete(p.takes, name)
			p.kept[name] = why
			changed = true
		}
	}
	return changed, nil
}

// spared returns [Blocked] if a directory above a path stays although the target has a file in
// its place.
func (p *planning) spared(name string) (why string, err error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if p.kept[dir] == "" {
			continue
		}
		target, err := p.at(p.Target, dir)
		if err != nil {
			return "", err
		}
		if target.Type != 0 && target.Type != filetree.Dir {
			return Blocked, nil
		}
	}
	return "", nil
}

// full returns [NotEmpty] if the folder has a directory at a path in which something stays.
func (p *planning) full(dir string) (why string, err error) {
	now, err := p.present(dir)
	if err != nil || now.Type != filetree.Dir {
		return "", err
	}
	if p.above[dir] {
		return NotEmpty, nil
	}
	t, err := p.tree(now.ID)
	for _, e := range t {
		if to, ok := p.takes[path.Join(dir, e.Name)]; !ok || to.Type != 0 {
			return NotEmpty, err
		}
	}
	if err == nil && p.More != nil && p.More(dir) {
		return NotEmpty, nil
	}
	return "", err
}

// reach returns [Blocked] if dir will not be a directory. If there is nothing, it becomes
// one.
func (p *planning) reach(dir string) (why string, added bool, err error) {
	e, err := p.after(dir)
	if err != nil || e.Type == filetree.Dir {
		return "", false, err
	}
	_, taken := p.takes[dir]
	_, held := p.untouchable(dir, true)
	open := slices.ContainsFunc(p.plan.Conflicts, func(c Conflict) bool { return c.Path == dir })
	if e.Type != 0 || taken || held || open || p.kept[dir] == Blocked {
		return Blocked, false, nil
	}
	if e, err = p.at(p.Target, dir); err != nil {
		return "", false, err
	}
	if e.Type != filetree.Dir {
		e = filetree.Entry{Name: path.Base(dir), Type: filetree.Dir, Perm: 0o755}
	}
	p.takes[dir] = e
	delete(p.kept, dir)
	return "", true, nil
}

// finish makes the lists of the plan.
func (p *planning) finish() (*Plan, error) {
	for _, name := range slices.Sorted(maps.Keys(p.takes)) {
		now, err := p.present(name)
		if err != nil {
			return nil, err
		}
		if c := (Change{name, now, p.takes[name]}); !same(c.From, c.To) {
			p.plan.Changes = append(p.plan.Changes, c)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.kept)) {
		p.plan.Kept = append(p.plan.Kept, Kept{Path: name, Why: p.kept[name]})
	}
	return p.plan, nil
}
