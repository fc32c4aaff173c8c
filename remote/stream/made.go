package stream

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// madeDir has a file for the machine, with the names of the packs that it made, one a line. A name is durable before its
// pack can be in the store, so a pack that nothing names is found, whenever a process ends. The packs that this
// workspace made as another machine are not in it after a Renew: a copy of the workspace may be about to name them.
const madeDir = "made"

func madeFile(m record.Machine) string { return madeDir + "/" + string(m) }

// noteMade notes a pack that the machine makes.
func (w *Writer) noteMade(name string) error {
	if err := durable.MakeDir(w.root, madeDir); err != nil {
		return err
	}
	_, err := durable.Append(w.root, madeFile(w.Machine()), []byte(name+"\n"))
	return err
}

// Made returns the names of the packs that the machine made and may have uploaded. It omits packs
// that the machine deleted, and packs in its folder, which wait for a record or an upload.
func (w *Writer) Made() ([]string, error) {
	names, err := w.made()
	if err != nil {
		return nil, err
	}
	entries, err := durable.ReadDir(w.root, packDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}), nil
}

func (w *Writer) made() (names []string, err error) {
	data, err := durable.ReadFile(w.root, madeFile(w.Machine()))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		if name := string(bytes.TrimSuffix(line, []byte("\n"))); seal.IsHash(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// forgetMade removes packs that were deleted from those that the machine made.
func (w *Writer) forgetMade(deleted []string) error {
	names, err := w.made()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(deleted, name) })
	if len(left) == len(names) {
		return nil
	}
	return w.writeMade(w.Machine(), left)
}

func (w *Writer) writeMade(m record.Machine, names []string) error {
	if err := durable.MakeDir(w.root, madeDir); err != nil {
		return err
	}
	var data []byte
	for _, name := range names {
		data = append(append(data, name...), '\n')
	}
	return w.write(madeFile(m), data)
}

// tidyMade removes the files of other machines than this one.
func (w *Writer) tidyMade() error {
	entries, err := durable.ReadDir(w.root, madeDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var names []string
	for _, e := range entries {
		if e.Name() != string(w.Machine()) {
			names = append(names, madeDir+"/"+e.Name())
		}
	}
	return w.remove(names)
}
