package scan

import (
	"path"
	"strings"
)

// changed returns the directories that must be read: those of [Options.Changed] and the ones
// above them. The result is nil if all must be.
func (s *Scan) changed() map[string]bool {
	if s.opts.Changed == nil || s.cache == nil {
		return nil
	}
	s.kept = map[string]bool{}
	must := map[string]bool{"": true}
	for _, dir := range s.opts.Changed {
		for ; dir != "" && !must[dir]; dir = parentOf(dir) {
			must[dir] = true
		}
	}
	return must
}

// parentOf returns the path of the directory that has a name, "" for the folder itself.
func parentOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

// keep reports whether d need not be read. Then it is as the cache has it.
func (l *listing) keep(d *dir) bool {
	if l.changed == nil || l.changed[d.path] || !d.known || !d.cached && d.was != left {
		return false
	}
	d.kept = true
	for _, b := range l.opts.Before {
		if b.Why == FolderLarge && (b.Path == d.path || strings.HasPrefix(b.Path, d.path+"/")) {
			d.everyone.add(int64(b.Files), b.Bytes)
		}
	}
	if d.was == left {
		d.absent = true
		return true
	}
	d.same, d.mode = true, d.before
	d.held.add(int64(d.old.files), d.old.bytes)
	d.everyone.add(int64(d.old.files), d.old.bytes)
	return true
}

// keepLeft adds what the last scan omitted in directories that were not read.
func (s *Scan) keepLeft() {
	for _, l := range s.opts.Before {
		for name := l.Path; name != "" && len(s.kept) > 0; name = parentOf(name) {
			if s.kept[name] {
				s.left = append(s.left, l)
				break
			}
		}
	}
}
