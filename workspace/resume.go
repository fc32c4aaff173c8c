package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/outfile"
	"github.com/bough-dev/bough/internal/register"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/project"
)

// A Resumption describes how another program continues a conversation.
type Resumption struct {
	*Export
	Dir string `json:"directory"` // the folder to run it in
	// Project is that of the conversation's folder, null if it is unknown.
	Project *project.Project `json:"project"`
	// Away is the conversation's folder, or its project, if it is not known on this machine; Dir is
	// then the current folder. Otherwise Away is "".
	Away   string   `json:"away"`
	Before []string `json:"before"` // a command to run first, empty if there is none
	Run    []string `json:"command"`
	// Temporary reports whether the file at Path can be removed after Before has
	// run.
	Temporary bool `json:"temporary"`
	// Backup is the path of a copy of the program's database, in which the conversation was
	// registered; null if the program needs none.
	Backup session.ID `json:"backup"`
}

// Resume exports the path to ref to the location where another program looks
// for conversations, and returns the command that continues it. The command
// runs in o.Dir, else in the conversation's folder if it is known on this machine,
// else in the current folder.
func (w *Workspace) Resume(ctx context.Context, ref string, m transcript.Machine, o ExportOptions) (*Resumption, error) {
	if !o.Format.Resumes() {
		return nil, &fault.Error{Code: fault.Usage, Message: "bough does not know how " + o.Format.Tool() + " continues a conversation"}
	}
	o.here, o.resumes, o.ready = m.Dir, true, registers(o.Format, m)
	e, err := w.Export(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	path := o.Format.Target(m, e.t, e.o)
	once := path == ""
	if once {
		if path, err = handover(ctx, w.store, e.ID+o.Format.Ext); err != nil {
			return nil, err
		}
	}
	if err := e.Save(ctx, path); err != nil {
		return nil, err
	}
	if beside, data := o.Format.Beside(path, e.t, e.o); beside != "" {
		if _, err := outfile.Create(ctx, beside, data); err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
	}
	var backup string
	if register := o.Format.Register(); register != nil {
		l := listOf(register.List(path))
		if backup, err = l.Add(ctx, e.o.ID, register.Entry(e.t, e.o)); err != nil {
			return nil, errors.Join(unregistered(err), os.Remove(path))
		}
	}
	r := &Resumption{Export: e, Dir: e.t.Dir, Project: e.project, Away: e.away, Before: []string{}, Temporary: once, Backup: session.ID(backup)}
	before, run := o.Format.Resume(m, path, e.t, e.o)
	r.Before, r.Run = append(r.Before, before...), run
	return r, nil
}

func listOf(l transcript.List) register.List {
	return register.List{Database: l.Database, Key: l.Key, Lock: l.Lock}
}

// registers returns a check whether a transcript can be registered, nil if the program of the
// format finds its files by itself.
func registers(f *convert.Format, m transcript.Machine) func(*transcript.Transcript, transcript.Options) error {
	r := f.Register()
	if r == nil {
		return nil
	}
	return func(t *transcript.Transcript, o transcript.Options) error {
		path := f.Target(m, t, o)
		if path == "" {
			return &fault.Error{
				Code: fault.NotFound, Message: "the program of " + f.Name + " had never opened the folder " + t.WorkDir(),
				Hint: "open the folder there once, and quit the program",
			}
		}
		return atRest(r.List(path))
	}
}

// atRest returns an error if the program of a list runs.
func atRest(l transcript.List) error {
	pid, err := listOf(l).Running()
	switch {
	case err != nil:
		return err
	case pid == 0:
		return nil
	}
	who := fmt.Sprintf("process %d", pid)
	if pid < 0 {
		who = "its lock names no process"
	}
	return &fault.Error{
		Code: fault.Refused, Message: fmt.Sprintf("%s is running (%s), and would overwrite its list of conversations", l.Program, who),
		Hint: "quit it; if it is not running, remove " + l.Lock,
	}
}

func unregistered(err error) error {
	return &fault.Error{Code: fault.Failed, Message: "the conversation is not registered: " + err.Error(), Err: err}
}

// Withdraw removes the transcripts of the line of ref that [Workspace.Resume] wrote for a program
// with a [transcript.Register], and their entries in its database. A file that has changed since
// stays, with its entry. If a file no longer exists, only its entry is removed.
func (w *Workspace) Withdraw(ctx context.Context, ref string, f *convert.Format, m transcript.Machine) (*lines.Withdrawal, error) {
	r := f.Register()
	if r == nil {
		return nil, &fault.Error{Code: fault.Usage, Message: "nothing is registered for " + f.Tool(), Hint: "it finds its files by itself"}
	}
	type exports struct {
		line string
		list []importer.Exported
	}
	written, err := store.Read(ctx, w.store, func(v *store.View) (exports, error) {
		p, err := v.Place(ref, false)
		if err != nil {
			return exports{}, err
		}
		line := p.Parts[0].ID
		list, err := importer.ExportsOf(v.Root, f.Name, line)
		return exports{line, list}, err
	})
	if err != nil {
		return nil, err
	}
	done := &lines.Withdrawal{Session: session.ID(written.line), Format: f.Name, Removed: []session.ID{}, Unlisted: []session.ID{}, Continued: []session.ID{}}
	var files, gone []registered
	for _, e := range written.list {
		var absent []registered
		paths := r.Find(m, e.ID)
		for _, path := range paths {
			at := registered{listOf(r.List(path)), e.ID, path}
			data, err := m.Read(path)
			switch {
			case err != nil && !errors.Is(err, fs.ErrNotExist):
				return nil, err
			case r.Continued(m, path), err == nil && !e.Is(data):
				done.Continued = append(done.Continued, session.ID(path))
			case err == nil:
				files = append(files, at)
			default:
				absent = append(absent, at)
			}
		}
		if len(absent) == len(paths) {
			gone = append(gone, absent...)
		}
	}
	gone, err = listed(ctx, gone)
	if err != nil && len(files)+len(gone)+len(done.Continued) == 0 {
		return nil, err
	}
	if len(files)+len(gone)+len(done.Continued) == 0 {
		return nil, &fault.Error{Code: fault.NotFound, Message: "nothing that bough wrote of the conversation is in the program of " + f.Name}
	}
	for _, at := range slices.Concat(files, gone) {
		if err := atRest(r.List(at.path)); err != nil {
			return nil, err
		}
	}
	for i, at := range slices.Concat(files, gone) {
		if _, err := at.list.Remove(ctx, at.id); err != nil {
			return nil, &fault.Error{Code: fault.Failed, Message: "the conversation is still registered: " + err.Error(), Err: err}
		}
		if i >= len(files) {
			done.Unlisted = append(done.Unlisted, session.ID(at.path))
			continue
		}
		if err := os.Remove(at.path); err != nil {
			return nil, err
		}
		done.Removed = append(done.Removed, session.ID(at.path))
	}
	return done, nil
}

// A registered is an export that a database may list.
type registered struct {
	list     register.List
	id, path string
}

// listed returns those of the exports that their databases list, and the errors of databases that
// cannot be read.
func listed(ctx context.Context, all []registered) (list []registered, failed error) {
	byList := map[register.List][]string{}
	for _, at := range all {
		byList[at.list] = append(byList[at.list], at.id)
	}
	for in, ids := range byList {
		found, err := in.Listed(ctx, ids)
		byList[in], failed = found, errors.Join(failed, err)
	}
	return slices.DeleteFunc(all, func(at registered) bool { return !slices.Contains(byList[at.list], at.id) }), failed
}
