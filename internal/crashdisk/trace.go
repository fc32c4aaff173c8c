package crashdisk

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// A Step is one call to the file system.
type Step struct {
	Do       string    // make open write cut chmod sync syncdir rename swap unlink mkdir symlink settimes
	Name, To string    // relative to the folder, "." for itself
	At       int64     // offset of Data, or the new size of the file
	Data     []byte    // bytes to write
	Time     time.Time // the modification time of the file after the step
}

// An op is a step with its files and folders resolved, so that it can be moved to
// another position.
type op struct {
	Step
	id          int
	half        bool // only half of Data is written
	node, other int  // the file of Name, and the other file of a swap
	dir, toDir  int  // the folders of Name and To
}

// A Trace is a sequence of steps on a disk.
type Trace struct {
	Steps  []Step
	before Tree
	nodes  []node
	ops    []op
	*memory
}

// Follow returns the trace of steps on a disk with the initial content before,
// which is durable.
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

// Move returns the trace with step i moved before step to.
func (t *Trace) Move(i, to int) *Trace {
	u := t.Drop(i)
	u.Steps = slices.Insert(u.Steps, to, t.Steps[i])
	u.ops = slices.Insert(u.ops, to, t.ops[i])
	return u
}

// Syncs returns the indexes of the fsync steps.
func (t *Trace) Syncs() (list []int) {
	for i, o := range t.ops {
		if o.Do == "sync" || o.Do == "syncdir" {
			list = append(list, i)
		}
	}
	return list
}

// Renames reports whether step i renames a file.
func (t *Trace) Renames(i int) bool { return t.ops[i].Do == "rename" || t.ops[i].Do == "swap" }

// Removes reports whether step i removes a name.
func (t *Trace) Removes(i int) bool { return t.ops[i].Do == "unlink" }

// Same reports whether steps i and j change the same file, under whichever name.
func (t *Trace) Same(i, j int) bool { return t.ops[i].node == t.ops[j].node }

func (t *Trace) disk() *disk {
	d := &disk{nodes: slices.Clone(t.nodes), memory: t.memory}
	for i := range d.nodes {
		d.nodes[i].names = maps.Clone(d.nodes[i].names)
		d.nodes[i].safeNames = maps.Clone(d.nodes[i].safeNames)
	}
	return d
}

// nodesOf returns the files and folders of t, the root folder first.
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

// find resolves the names of s.
func (d *disk) find(s Step) (o op, err error) {
	o.Step = s
	o.dir, err = d.at(path.Dir(s.Name))
	if err != nil {
		return o, err
	}
	o.node, err = d.at(s.Name)
	switch s.Do {
	case "make", "mkdir", "symlink":
		if err == nil {
			return o, fmt.Errorf("it exists already")
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

// at returns the file or folder with a name.
func (d *disk) at(name string) (int, error) {
	n := 0
	for part := range strings.SplitSeq(name, "/") {
		if part == "." {
			continue
		}
		next, ok := d.nodes[n].names[part]
		if !ok {
			return 0, fmt.Errorf("%s does not exist", name)
		}
		n = next
	}
	return n, nil
}
