// Package setup changes the settings of other programs so that they call bough, and takes the
// changes back. A change is decided first, by package integration's target of the program and the
// file as it is, and then shown or made. What was changed is recorded in the user's state folder,
// so that the file can be restored byte for byte; a change can be taken back without the record,
// too.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/internal/settingsfile"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Kind is what a program is set up for, or another step of a setup that is recorded.
type Kind string

// The kinds.
const (
	Hook   Kind = "hook"
	MCP    Kind = "mcp"
	Import Kind = "import"
)

// A Status is the state of a program's settings.
type Status string

// The states.
const (
	Installed   Status = "installed"
	Uninstalled Status = "not_installed"
	Outdated    Status = "outdated" // another version or another path of bough
)

// A Site is a machine with the workspace that programs are set up for.
type Site struct {
	Machine integration.Machine
	Call    integration.Call
	// Records is the folder of the records, "" if it is unknown: then nothing can be changed
	// that is to be recorded.
	Records string
}

// A Change is a change of a settings file of another program.
type Change struct {
	Kind   Kind   `json:"kind"`
	Tool   string `json:"tool"`
	Path   string `json:"path"`
	Status Status `json:"status"` // before the change
	Diff   string `json:"diff"`   // "" if nothing is to be changed
	Note   string `json:"-"`      // what the user has to do after an installation, "" for nothing

	site Site
	file *settingsfile.File
	outcome
}

// Uses reports whether a program was used on the machine.
func (s Site) Uses(p integration.Program) bool {
	return slices.ContainsFunc(p.Dirs(s.Machine), func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	})
}

// A Row is the state of a program.
type Row struct {
	Kind   Kind   `json:"kind"`
	Tool   string `json:"tool"`
	Found  bool   `json:"found"` // the program was used on this machine
	Status Status `json:"status"`
	Path   string `json:"path"`
	Detail string `json:"detail,omitempty"` // why the status is unknown
}

// Rows returns the state of each program.
func (s Site) Rows(kind Kind, programs []integration.Program) []Row {
	rows := []Row{}
	for _, p := range programs {
		row := Row{Kind: kind, Tool: p.Name, Found: s.Uses(p), Path: p.Target(s.Machine, s.Call).Path, Status: Uninstalled}
		if ch, err := s.Install(kind, p); err != nil {
			row.Detail = err.Error()
		} else {
			row.Status = ch.Status
		}
		rows = append(rows, row)
	}
	return rows
}

// IsRecorded reports whether a program was set up.
func (s Site) IsRecorded(kind Kind, p integration.Program) bool {
	return s.Record(kind, p.Name, p.Target(s.Machine, s.Call).Path) != nil
}

// Install returns the change that sets up a program.
func (s Site) Install(kind Kind, p integration.Program) (*Change, error) {
	return s.change(kind, p, installFile, installValues)
}

// Uninstall returns the change that takes back what an installation did.
func (s Site) Uninstall(kind Kind, p integration.Program) (*Change, error) {
	return s.change(kind, p, uninstallFile, uninstallValues)
}

// change returns the change that file decides, for a program whose whole file is bough's, or
// values.
func (s Site) change(kind Kind, p integration.Program, file, values decision) (*Change, error) {
	target := p.Target(s.Machine, s.Call)
	f, err := settingsfile.Read(target.Path)
	if err != nil {
		return nil, inFile(target.Path, err)
	}
	decide := values
	if target.Set == nil {
		decide = file
	}
	out, err := decide(present{f.Data, f.Exists, s.Record(kind, p.Name, target.Path), s.others(kind, p, target.Path, f.Data)}, target)
	if err != nil {
		return nil, inFile(target.Path, err)
	}
	if r := out.record; r != nil {
		r.Kind, r.Tool, r.Workspace, r.Path, r.Sum = kind, p.Name, s.Call.Workspace, target.Path, sumOf(out.after)
	}
	return &Change{Kind: kind, Tool: p.Name, Path: target.Path, Status: out.status, Diff: diff(f, out), Note: p.After, site: s, file: f, outcome: out}, nil
}

// others returns the records of the installations in a file for other workspaces, with the
// content data, that were not taken back.
func (s Site) others(kind Kind, p integration.Program, path string, data []byte) []Record {
	return slices.DeleteFunc(s.records(), func(r Record) bool {
		if r.Kind != kind || r.Tool != p.Name || r.Path != path || r.Workspace == s.Call.Workspace {
			return true
		}
		call := s.Call
		call.Workspace = r.Workspace
		set := p.Target(s.Machine, call).Set
		if set == nil {
			return true
		}
		owned, err := settingsfile.Owned(data, set)
		return err != nil || !owned
	})
}

// diff returns the unified diff of a change, "" if there is none.
func diff(f *settingsfile.File, out outcome) string {
	if !out.remove && bytes.Equal(f.Data, out.after) {
		return ""
	}
	from, to, after := f.Path, f.Path, out.after
	if !f.Exists {
		from = os.DevNull
	}
	if out.remove {
		to, after = os.DevNull, nil
	}
	if text := udiff.Unified(from, to, string(f.Data), string(after)); text != "" {
		return text
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", from, to) // an empty file is removed
}

// Apply makes the change. The record is written first: without the change it is harmless.
func (ch *Change) Apply() (err error) {
	switch {
	case ch.Diff == "":
		return nil
	case ch.record != nil:
		if err := ch.site.Keep(*ch.record); err != nil {
			return err
		}
		err = ch.file.Replace(ch.after)
	case ch.remove:
		err = ch.file.Remove()
	default:
		err = ch.file.Replace(ch.after)
	}
	if err != nil {
		return inFile(ch.Path, err)
	}
	if ch.record == nil {
		ch.site.Drop(Record{Kind: ch.Kind, Tool: ch.Tool, Workspace: ch.site.Call.Workspace, Path: ch.Path})
	}
	return nil
}

// inFile adds the path to an error of package settingsfile, and its code.
func inFile(path string, err error) error {
	var known *fault.Error
	var syntax *settingsfile.SyntaxError
	var conflict *settingsfile.ConflictError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &syntax):
		return &fault.Error{Code: fault.Damaged, Message: path + ": " + err.Error(), Hint: "correct the file first; it was not changed", Err: err}
	case errors.As(err, &conflict):
		return &fault.Error{Code: fault.Refused, Message: path + ": " + err.Error(), Hint: "the file was not changed", Err: err}
	case errors.Is(err, settingsfile.ErrChanged):
		return &fault.Error{Code: fault.Busy, Message: err.Error(), Hint: "try again", Err: err}
	}
	var where *fs.PathError
	if !errors.As(err, &where) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return err
}
