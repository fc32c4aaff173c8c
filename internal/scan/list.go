package scan

import (
	"io"
	"path"
)

// A listing lists one directory after the other.
type listing struct {
	*walk
	names lister
}

// list lists d and finds its subdirectories. The error is nil if only d cannot be listed.
func (l *listing) list(d *dir) error {
	d.open.Store(1)
	if err := l.failed(); err != nil {
		if d.parent != nil {
			d.parent.release()
		}
		d.absent = true
		return err
	}
	if l.keep(d) {
		d.parent.release()
		return nil
	}
	err := l.enter(d)
	if err == nil {
		return nil
	}
	why, ok := reasonOf(err)
	if !ok || d.parent == nil {
		return err
	}
	d.remove(why)
	return nil
}

// enter opens d and lists it.
func (l *listing) enter(d *dir) (err error) {
	d.users.Store(1)
	if d.parent != nil {
		d.handle, err = l.openSub(d)
		d.parent.release()
		if err != nil {
			return err
		}
	}
	if d.mode, err = d.handle.mode(); err != nil {
		return err
	}
	list, err := l.names.read(d.handle)
	if err != nil {
		return err
	}
	rules := l.opts.Rules
	name := "."
	if d.parent != nil {
		rules, name = d.parent.rules, d.name
	}
	if d.rules = rules.Enter(name, l.present(d, list)); d.rules == nil {
		d.absent = true
		return nil
	}
	d.same = d.cached
	return l.compare(d, list)
}

func (l *listing) openSub(d *dir) (*folder, error) {
	if d.depth > maxDepth {
		return nil, errTooDeep
	}
	return d.parent.handle.open(d.name)
}

// present reads the sources of rules in d.
func (l *listing) present(d *dir, list []listed) (found []Source) {
	for _, n := range list {
		if !l.sources[n.name] {
			continue
		}
		s := Source{Name: n.name, IsDir: n.kind == typeDir}
		if f, err := d.handle.openFile(n.name); err == nil {
			if at, err := f.stat(); err == nil && at.kind() == typeFile && at.size <= maxSource {
				s.Data, _ = io.ReadAll(io.LimitReader(f, maxSource))
			}
			f.close()
		}
		found = append(found, s)
	}
	return found
}

// compare compares the names and files of d with the cache.
func (l *listing) compare(d *dir, list []listed) error {
	c := &comparison{listing: l, dir: d, at: d.old.at}
	var files, bytes int64
	for _, n := range list {
		s, held, err := l.judge(d, n)
		if err != nil {
			d.subs = nil
			return err
		}
		switch {
		case !held:
		case s.kind() == typeDir:
			c.directory(n.name)
		default:
			c.file(n.name, s)
			files++
			bytes += s.size
		}
	}
	if c.seen < d.old.entries {
		c.differ()
	}
	l.found(d, files, bytes)
	return nil
}

// A comparison compares a directory with the cache, where names have the same order as long
// as nothing changed.
type comparison struct {
	*listing
	*dir
	seen int               // number of entries that are equal
	at   int               // position of the next one
	rest map[string]cached // the other ones, after a difference
}

// find returns what the cache has for a name, and the position after it if it is the next one.
func (c *comparison) find(name string) (e cached, after int, ok bool) {
	if c.same && c.seen < c.old.entries {
		if e, after, ok = c.old.entry(c.at); ok && string(e.name) == name {
			return e, after, true
		}
	}
	c.differ()
	e, ok = c.rest[name]
	return e, 0, ok
}

// differ ends the comparison in order.
func (c *comparison) differ() {
	if !c.same {
		return
	}
	c.dir.differ(c.seen)
	c.rest = make(map[string]cached, c.old.entries-c.seen)
	at := c.at
	for range c.old.entries - c.seen {
		e, after, ok := c.old.entry(at)
		if !ok {
			return
		}
		c.rest[string(e.name)] = e
		at = after
	}
}

func (c *comparison) directory(name string) {
	sub := &dir{parent: c.dir, name: name, path: path.Join(c.path, name), depth: c.depth + 1}
	e, after, ok := c.find(name)
	if ok && e.stat.kind() == typeDir {
		sub.before, sub.was, sub.known = e.stat.mode, e.flag, true
		sub.old, sub.cached = c.cache.record(e.record)
		c.seen, c.at = c.seen+1, after
	} else {
		c.differ()
	}
	c.subs = append(c.subs, sub)
	if !c.same {
		c.entries = append(c.entries, entry{name: name, sub: sub})
	}
}

func (c *comparison) file(name string, s stat) {
	e, after, ok := c.find(name)
	known := ok && e.flag == settled && e.stat == s
	if known && c.same {
		c.seen, c.at = c.seen+1, after
		return
	}
	c.differ()
	held := entry{name: name, stat: s}
	if known {
		held.id, held.size, held.known, held.flag = e.id, s.size, true, settled
	}
	c.entries = append(c.entries, held)
}

// judge returns the metadata of a name, and whether d holds it; of a directory only the type.
func (l *listing) judge(d *dir, n listed) (s stat, held bool, err error) {
	verdict := Hold
	if n.kind != 0 {
		if verdict = d.rules.Judge(n.name, n.kind == typeDir); verdict == Ignore {
			return s, false, nil
		}
	}
	s.mode = typeDir
	if n.kind != typeDir {
		if s, err = d.handle.lstat(n.name); err != nil {
			why, ok := reasonOf(err)
			if !ok {
				return s, false, err
			}
			if why != "" {
				d.leave(n.name, why, 1, 0)
			}
			return s, false, nil
		}
	}
	if n.kind == 0 || n.kind != s.kind() {
		verdict = d.rules.Judge(n.name, s.kind() == typeDir)
	}
	files, why := 1, Reason("")
	if s.kind() == typeDir {
		files = 0
	}
	switch {
	case verdict == Ignore:
		return s, false, nil
	case verdict == Secret:
		why = IsSecret
	case verdict == IgnoreTracked:
		why = IgnoredTracked
	case s.kind() == typeFile && s.size > l.opts.File:
		why = Large
	case s.kind() == typeFile || s.kind() == typeLink || s.kind() == typeDir:
		return s, true, nil
	default:
		why, s.size = Special, 0
	}
	d.leave(n.name, why, files, s.size)
	return s, false, nil
}

// found counts what d has itself.
func (l *listing) found(d *dir, files, bytes int64) {
	d.users.Add(int32(len(d.subs)))
	d.open.Add(int32(len(d.subs)))
	d.everyone.add(files, bytes)
	l.hold(d, files, bytes)
	if d.hidden() {
		d.same, d.entries = false, nil
	}
}
