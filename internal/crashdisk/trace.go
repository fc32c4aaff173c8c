package crashdisk

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// A Step is one thing that was asked of the file system.
type Step struct {
	Do       string    // make open write cut chmod sync syncdir rename swap unlink mkdir settimes
	Name, To string    // inside the folder, "." for itself
	At       int64     // where Data goes, or how long the file becomes
	Data     []byte    // what is written
	Time     time.Time // the modification time of the file after the step
}

// An op is a step that says which files and folders it is about, so that it still
// says so at another place among the others.
type op struct {
	Step
	id          int
	half        bool // not all of Data is written
	node, other int  // of Name, and of the file that is swapped with it
	dir, toDir  int  // the folders of Name and To
}

// A Trace is what was asked of a disk, step by step.
type Trace struct {
	Steps  []Step
	before Tree
	nodes  []node
	ops    []op
	*memory
}

// Follow returns the trace of steps on a disk that holds before. All that is
// there is safe.
func Follow(before Tree, steps []Step) (*Trace, error) {
	t := &Trace{Steps: steps, before: before, nodes: nodesOf(before), memory: newMemory()}
	d := t.disk()
	for i, s := range steps {
		o, err := d.find(s)
		o.id = i
		if err != nil {
			return nil, fmt.Errorf("step %d, %s: %v", i+1, s, err)
		}
		d.do(o)
		t.ops = append(t.ops, o)
	}
	return t, nil
}

func (s Step) String() string {
	if s.To != "" {
		return s.Do + " " + s.Name + " " + s.To
	}
	return s.Do + " " + s.Name
}

// Drop returns the trace without step i.
func (t *Trace) Drop(i int) *Trace {
	u := *t
	u.Steps = slices.Delete(slices.Clone(t.Steps), i, i+1)
	u.ops = slices.Delete(slices.Clone(t.ops), i, i+1)
	return &u
}

// Move returns the trace with step i at the place of step to, before it.
func (t *Trace) Move(i, to int) *Trace {
	u := t.Drop(i)
	u.Steps = slices.Insert(u.Steps, to, t.Steps[i])
	u.ops = slices.Insert(u.ops, to, t.ops[i])
	return u
}

// Syncs returns the steps that wait for the disk.
func (t *Trace) Syncs() (list []int) {
	for i, o := range t.ops {
		if o.Do == "sync" || o.Do == "syncdir" {
			list = append(list, i)
		}
	}
	return list
}

// Renames reports whether step i gives a file another name.
func (t *Trace) Renames(i int) bool { return t.ops[i].Do == "rename" || t.ops[i].Do == "swap" }

// Removes reports whether step i takes a name away, and gives no other.
func (t *Trace) Removes(i int) bool { return t.ops[i].Do == "unlink" }

// Same reports whether steps i and j are about the same file, whatever it is
// called by then.
func (t *Trace) Same(i, j int) bool { return t.ops[i].node == t.ops[j].node }

func (t *Trace) disk() *disk {
	d := &disk{nodes: slices.Clone(t.nodes), memory: t.memory}
	for i := range d.nodes {
		d.nodes[i].names = maps.Clone(d.nodes[i].names)
		d.nodes[i].safeNames = maps.Clone(d.nodes[i].safeNames)
	}
	return d
}

// nodesOf returns the files and folders of t, the folder itself first.
func nodesOf(t Tree) []node {
	list := []node{newFolder()}
	at := map[string]int{".": 0}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		at[name] = len(list)
		parent := list[at[path.Dir(name)]]
		parent.names[path.Base(name)] = len(list)
		parent.safeNames[path.Base(name)] = len(list)
		if f := t[name]; f == nil {
			list = append(list, newFolder())
		} else {
			list = append(list, node{now: f, safe: f})
		}
	}
	return list
}

func newFolder() node { return node{names: map[string]int{}, safeNames: map[string]int{}} }

// find finds what s is about.
func (d *disk) find(s Step) (o op, err error) {
	o.Step = s
	o.dir, err = d.at(path.Dir(s.Name))
	if err != nil {
		return o, err
	}
	o.node, err = d.at(s.Name)
	switch s.Do {
	case "make", "mkdir":
		if err == nil {
			return o, fmt.Errorf("it is there already")
		}
		o.node, err = len(d.nodes), nil
	case "rename", "swap", "link":
		if err == nil {
			o.toDir, err = d.at(path.Dir(s.To))
		}
		if err == nil && s.Do == "swap" {
			o.other, err = d.at(s.To)
		}
	}
	return o, err
}

// at returns the file or folder that has a name.
func (d *disk) at(name string) (int, error) {
	n := 0
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		next, ok := d.nodes[n].names[part]
		if !ok {
			return 0, fmt.Errorf("there is no %s", name)
		}
		n = next
	}
	return n, nil
}
