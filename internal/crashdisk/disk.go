package crashdisk

import (
	"bytes"
	"iter"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
)

// A disk is the state of a file system within a trace.
type disk struct {
	nodes   []node
	pending []*change // changes of names, in order
	*memory
}

// A memory caches file contents, so that they are not computed again for each
// crash.
type memory struct {
	became   map[becoming]*File
	versions map[[2]*File][]*File // by the durable and the current content
}

// A becoming is a file and the step that changes it, possibly by half of its data.
type becoming struct {
	file *File
	step int
	half bool
}

func newMemory() *memory {
	return &memory{map[becoming]*File{}, map[[2]*File][]*File{}}
}

// become returns the file after a step.
func (m *memory) become(f *File, o op) *File {
	key := becoming{f, o.id, o.half}
	if m.became[key] == nil {
		m.became[key] = o.change(f)
	}
	return m.became[key]
}

// change returns f after o.
func (o op) change(f *File) *File {
	switch o.Do {
	case "make":
		return &File{Time: o.Time}
	case "symlink":
		return &File{Data: o.Data, Time: o.Time, Link: true}
	case "write":
		return &File{Data: overwrite(f.Data, o.At, o.Data), Time: o.Time}
	case "cut":
		return &File{Data: f.Data[:min(o.At, int64(len(f.Data)))], Time: o.Time}
	}
	return &File{Data: f.Data, Time: o.Time, sum: f.sum}
}

// A node is a file or a folder, independent of its names.
type node struct {
	now, safe        *File          // of a file: the visible and the durable content
	names, safeNames map[string]int // of a folder: its entries
}

// A change is the effect of one step on the names of a folder. It survives a crash
// completely or not at all.
type change struct {
	names  []name
	synced map[int]bool // by folder of names
	after  *change      // the change without which it cannot survive, or nil
	safe   bool
}

// A name is a new entry of a folder.
type name struct {
	folder int
	name   string
	node   int // -1 for a removed entry
}

func (d *disk) do(o op) {
	if o.Do == "make" || o.Do == "mkdir" || o.Do == "symlink" {
		for len(d.nodes) <= o.node {
			d.nodes = append(d.nodes, node{})
		}
		if o.Do == "mkdir" {
			d.nodes[o.node] = newFolder()
		} else {
			empty := d.become(nil, o)
			d.nodes[o.node] = node{now: empty, safe: empty}
		}
	}
	n := &d.nodes[o.node]
	base, to := path.Base(o.Name), path.Base(o.To)
	switch o.Do {
	case "make", "mkdir", "symlink":
		d.change(nil, name{o.dir, base, o.node})
	case "unlink":
		d.change(nil, name{o.dir, base, -1})
	case "swap":
		d.change(nil, name{o.dir, base, o.other}, name{o.toDir, to, o.node})
	case "link":
		d.change(nil, name{o.toDir, to, o.node})
	case "rename":
		if o.dir == o.toDir {
			d.change(nil, name{o.dir, base, -1}, name{o.dir, to, o.node})
		} else {
			added := d.change(nil, name{o.toDir, to, o.node})
			d.change(added, name{o.dir, base, -1})
		}
	case "write", "cut", "settimes":
		if n.now != nil {
			n.now = d.become(n.now, o)
		}
	case "sync":
		n.safe = n.now
	case "syncdir":
		d.syncDir(o.node)
	}
}

// overwrite returns data with p at the offset at.
func overwrite(data []byte, at int64, p []byte) []byte {
	end := at + int64(len(p))
	out := make([]byte, max(int64(len(data)), end))
	copy(out, data)
	copy(out[at:], p)
	return out
}

func (d *disk) change(after *change, names ...name) *change {
	c := &change{names: names, synced: map[int]bool{}, after: after}
	c.apply(func(folder int) map[string]int { return d.nodes[folder].names })
	d.pending = append(d.pending, c)
	return c
}

// apply makes c in the entries of folders.
func (c *change) apply(of func(folder int) map[string]int) {
	for _, n := range c.names {
		if n.node < 0 {
			delete(of(n.folder), n.name)
		} else {
			of(n.folder)[n.name] = n.node
		}
	}
}

// syncDir makes the names in a folder durable, except removals whose new name
// elsewhere is not durable yet, a swap with a folder that was not synced, and later changes
// of the same names.
func (d *disk) syncDir(folder int) {
	type place struct {
		folder int
		name   string
	}
	waiting := map[place]bool{}
	d.pending = slices.DeleteFunc(d.pending, func(c *change) bool {
		c.synced[folder] = true
		c.safe = c.after == nil || c.after.safe
		for _, n := range c.names {
			c.safe = c.safe && c.synced[n.folder] && !waiting[place{n.folder, n.name}]
		}
		for _, n := range c.names {
			waiting[place{n.folder, n.name}] = waiting[place{n.folder, n.name}] || !c.safe
		}
		if c.safe {
			c.apply(func(folder int) map[string]int { return d.nodes[folder].safeNames })
		}
		return c.safe
	})
}

// kept returns the visible tree.
func (d *disk) kept() Tree {
	return d.tree(func(n int) map[string]int { return d.nodes[n].names }, func(n int) *File { return d.nodes[n].now })
}

func (d *disk) tree(names func(int) map[string]int, file func(int) *File) Tree {
	t := Tree{}
	var walk func(folder int, prefix string)
	walk = func(folder int, prefix string) {
		for name, n := range names(folder) {
			if t[prefix+name] = file(n); d.nodes[n].names != nil {
				walk(n, prefix+name+"/")
			}
		}
	}
	walk(0, "")
	return t
}

// lost yields the trees that a crash may leave if only synced changes are certain
// to survive: all of them if they are at most most, else the extreme ones and
// random others.
func (d *disk) lost(most int, random *rand.Rand) iter.Seq[Tree] {
	return func(yield func(Tree) bool) {
		var files []int
		versions := map[int][]*File{}
		radix := make([]int, len(d.pending), len(d.pending)+8)
		for i := range d.pending {
			radix[i] = 2
		}
		for _, n := range d.reachable() {
			if v := d.versionsOf(n); len(v) > 1 {
				files = append(files, n)
				versions[n] = v
				radix = append(radix, len(v))
			}
		}
		for choice := range choices(radix, most, random) {
			names := map[int]map[string]int{}
			for i, c := range d.pending {
				if choice[i] == 0 || c.after != nil && !c.after.safe && choice[slices.Index(d.pending, c.after)] == 0 {
					continue
				}
				c.apply(func(folder int) map[string]int {
					if names[folder] == nil {
						names[folder] = maps.Clone(d.nodes[folder].safeNames)
					}
					return names[folder]
				})
			}
			bytes := map[int]*File{}
			for i, n := range files {
				bytes[n] = versions[n][choice[len(d.pending)+i]]
			}
			t := d.tree(func(n int) map[string]int {
				if names[n] != nil {
					return names[n]
				}
				return d.nodes[n].safeNames
			}, func(n int) *File {
				if bytes[n] != nil {
					return bytes[n]
				}
				return d.nodes[n].safe
			})
			if !yield(t) {
				return
			}
		}
	}
}

// reachable returns the files that may have a name after a crash.
func (d *disk) reachable() []int {
	named := map[int]bool{}
	for _, n := range d.nodes {
		for _, child := range n.safeNames {
			named[child] = true
		}
	}
	for _, c := range d.pending {
		for _, n := range c.names {
			named[n.node] = true
		}
	}
	delete(named, -1)
	return slices.Sorted(maps.Keys(named))
}

// versionsOf returns the possible contents of a file after a crash.
func (d *disk) versionsOf(n int) []*File {
	safe, now := d.nodes[n].safe, d.nodes[n].now
	if safe == now {
		return nil
	}
	key := [2]*File{safe, now}
	if d.versions[key] == nil {
		d.versions[key] = versions(safe, now)
	}
	return d.versions[key]
}

// versions returns the durable content of a file first and its current content
// last. Between them are partial new contents, and zeros in place of all new bytes or of
// their second half.
func versions(safe, last *File) []*File {
	list := []*File{safe}
	now, at := last.Data, last.Time
	same := 0
	for same < min(len(now), len(safe.Data)) && now[same] == safe.Data[same] {
		same++
	}
	if len(now) > same {
		list = append(list,
			&File{Data: now[:same], Time: at},
			&File{Data: now[:same+(len(now)-same)/2], Time: at},
			&File{Data: now[:len(now)-1], Time: at},
			&File{Data: zeroFrom(now, same), Time: at},
			&File{Data: zeroFrom(now, same+(len(now)-same)/2), Time: at})
	}
	list = append(list, last)
	return slices.CompactFunc(list, func(a, b *File) bool { return bytes.Equal(a.Data, b.Data) && a.Time.Equal(b.Time) })
}

// zeroFrom returns data with zeros from an offset.
func zeroFrom(data []byte, at int) []byte {
	data = bytes.Clone(data)
	clear(data[at:])
	return data
}

// choices yields numbers below those of radix: all combinations if they are at most
// most; else none, all, all but one and only one of the highest, and random ones
// for the rest. The yielded slice is reused.
func choices(radix []int, most int, random *rand.Rand) iter.Seq[[]int] {
	all := 1
	for _, r := range radix {
		if all *= r; all > most {
			break
		}
	}
	if all <= most {
		return everyChoice(radix)
	}
	return func(yield func([]int) bool) {
		choice := make([]int, len(radix))
		left := most
		give := func(at func(i int) int) bool {
			for i := range choice {
				choice[i] = at(i)
			}
			left--
			return yield(choice)
		}
		for _, base := range []bool{false, true} {
			least := func(i int) int {
				if base {
					return radix[i] - 1
				}
				return 0
			}
			if !give(least) {
				return
			}
			for one := range radix {
				for other := range radix[one] {
					if other != least(one) && !give(func(i int) int {
						if i == one {
							return other
						}
						return least(i)
					}) {
						return
					}
				}
			}
		}
		for left > 0 {
			if !give(func(i int) int { return random.IntN(radix[i]) }) {
				return
			}
		}
	}
}

func everyChoice(radix []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		choice := make([]int, len(radix))
		for yield(choice) {
			i := 0
			for ; i < len(radix); i++ {
				if choice[i]++; choice[i] < radix[i] {
					break
				}
				choice[i] = 0
			}
			if i == len(radix) {
				return
			}
		}
	}
}
