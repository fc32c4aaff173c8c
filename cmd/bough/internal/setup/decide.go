package setup

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/internal/settingsfile"
	"github.com/bough-dev/bough/workspace/fault"
)

// A present file is what a decision depends on.
type present struct {
	data   []byte
	exists bool
	record *Record  // of the installation for this workspace, nil if there is none
	others []Record // of installations in the file for other workspaces
}

// isRecorded reports whether the file is as it was after the installation.
func (f present) isRecorded() bool { return f.record != nil && f.record.Sum == sumOf(f.data) }

// An outcome is the change to make to a file.
type outcome struct {
	status Status  // before
	after  []byte  // its content then
	remove bool    // remove it instead
	record *Record // of the installation, nil to drop the one that exists
}

// A decision returns the change to make to a file for a target.
type decision func(present, integration.Target) (outcome, error)

func installValues(f present, target integration.Target) (outcome, error) {
	after, base, splices, err := settingsfile.Add(f.data, target.Set)
	if err != nil || splices == nil {
		return outcome{status: Installed, after: f.data}, err
	}
	out := outcome{status: Uninstalled, after: after}
	if !bytes.Equal(base, f.data) {
		out.status = Outdated
	}
	out.record = &Record{
		Created: f.record != nil && f.record.Created || !f.exists,
		Splices: splices, Kept: settingsfile.Containers(base, target.Set),
	}
	out.record.inherit(f.others)
	return out, nil
}

// inherit records that bough made the file, and its objects and arrays, if the installation of
// another workspace did: whichever is removed last removes them.
func (r *Record) inherit(others []Record) {
	for _, o := range others {
		r.Created = r.Created || o.Created
		r.Kept = slices.DeleteFunc(r.Kept, func(path []string) bool {
			return !slices.ContainsFunc(o.Kept, func(kept []string) bool { return slices.Equal(kept, path) })
		})
	}
}

func uninstallValues(f present, target integration.Target) (out outcome, err error) {
	out = outcome{status: Uninstalled, after: f.data}
	own, err := settingsfile.Owned(f.data, target.Set)
	if err != nil || !own {
		return out, err
	}
	out.status = Installed
	var splices []settingsfile.Splice
	var kept [][]string
	if f.record != nil {
		splices, kept = f.record.Splices, f.record.Kept
	}
	if out.after, err = settingsfile.Remove(f.data, target.Set, splices, kept); err != nil {
		return out, err
	}
	rest := strings.Join(strings.Fields(string(out.after)), "")
	out.remove = f.record != nil && f.record.Created && (rest == "" || rest == "{}")
	return out, nil
}

func installFile(f present, target integration.Target) (outcome, error) {
	out := outcome{status: Uninstalled, after: target.Content, record: &Record{Created: true}}
	if !f.exists {
		return out, nil
	}
	switch owner, other := integration.OwnerOf(f.data, target.Content); {
	case owner == integration.Foreign:
		return out, refused("move it away first", "%s exists, and bough did not write it", target.Path)
	case owner == integration.Other:
		return out, refused(fmt.Sprintf("uninstall that first: 'bough -w %s …'", other), "%s is set up for the workspace %s", target.Path, other)
	case owner == integration.Edited && !f.isRecorded():
		return out, refused("move it away first", "%s was changed after bough wrote it", target.Path)
	}
	if out.status = Outdated; bytes.Equal(f.data, target.Content) {
		out.status, out.record = Installed, nil
	}
	return out, nil
}

func uninstallFile(f present, target integration.Target) (outcome, error) {
	out := outcome{status: Uninstalled, after: f.data}
	if !f.exists {
		return out, nil
	}
	switch owner, _ := integration.OwnerOf(f.data, target.Content); {
	case owner == integration.Foreign, owner == integration.Other:
		return out, nil
	case owner == integration.Edited && !f.isRecorded():
		return out, refused("remove it yourself if you no longer need it", "%s was changed after bough wrote it; it is not removed", target.Path)
	}
	return outcome{status: Installed, remove: true}, nil
}

func refused(hint, format string, args ...any) error {
	return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf(format, args...), Hint: hint}
}
