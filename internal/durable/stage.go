package durable

import (
	"errors"
	"io/fs"
	"path"
)

// Flush fsyncs the new files, which [Batch.Commit] then does not do again. So a caller that
// needs a lock for the commit need not hold it while the disk is busy.
func (b *Batch) Flush() error {
	for _, c := range b.changes {
		if c.file == nil || c.flushed {
			continue
		}
		c.ahead.close()
		if err := c.file.Sync(); err != nil {
			return err
		}
		c.flushed = true
	}
	return nil
}

// Rename gives the last file, which [Batch.Create] added, another name in its folder. The error
// is [fs.ErrExist] if the name is in use.
func (b *Batch) Rename(name string) error {
	c := b.last()
	if !c.created || path.Dir(name) != path.Dir(c.name) {
		return &fs.PathError{Op: "rename", Path: name, Err: errors.ErrUnsupported}
	}
	if err := absent(b.root, "rename", name); err != nil {
		return err
	}
	c.name, c.target = name, name
	return nil
}
