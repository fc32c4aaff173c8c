package remote

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/travel"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// setFiles decides whether states of files are exchanged: as the caller says, else as the setting of the
// remote does. A share has none: a state has all files of a folder.
func (j *job) setFiles(choice *bool) error {
	if j.config.Share {
		if choice != nil && *choice {
			return noFiles(j.name)
		}
		return nil
	}
	j.files = j.config.Files
	if choice != nil {
		j.files = *choice
	}
	return nil
}

// noFiles is the error for states of files in a share.
func noFiles(name string) error {
	return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote %q is a share, which has no states of files", name)}
}

// addFiles adds the states of files of sessions that travel to a batch, and their objects.
func (j *job) addFiles(b *batch, f *mirror.Facts) error {
	if !j.files {
		return nil
	}
	scan := func(string) bool { return true }
	if j.Here.Files {
		changed := map[string]bool{}
		for _, s := range f.Sessions {
			changed[s.ID] = j.Here.Unread(s)
		}
		scan = func(id string) bool { return changed[id] }
	}
	local, err := j.w.Mirror().Files(j.ctx, scan)
	if err != nil {
		return err
	}
	there := travel.Project(j.state)
	unsent := travel.Unsent(local, there, j.view())
	if unsent, err = j.sendObjects(b, there, unsent); err != nil {
		return err
	}
	if err := b.add(travel.FolderOps(local, there, unsent)...); err != nil {
		return err
	}
	for _, t := range unsent {
		if err := b.add(t.Ops()...); err != nil {
			return err
		}
		if t.New {
			j.result.Sent.States++
		}
	}
	if !j.dry {
		j.Here.SetStates(local.States)
		if !j.Here.Files {
			j.Here.Files, j.changed = true, true
		}
	}
	return nil
}

// sendObjects adds the objects of new states to a batch, and returns the states that can be sent.
func (j *job) sendObjects(b *batch, there *travel.Files, unsent []travel.UnsentState) (sent []travel.UnsentState, err error) {
	fresh := map[string][]string{} // by folder
	var folders []string
	for _, t := range unsent {
		if !t.New {
			continue
		}
		if fresh[t.Folder] == nil {
			folders = append(folders, t.Folder)
		}
		fresh[t.Folder] = append(fresh[t.Folder], t.ID)
	}
	if len(folders) == 0 || j.dry {
		return unsent, nil
	}
	known, err := j.knownObjects(there)
	if err != nil {
		return nil, err
	}
	refused := map[string]bool{}
	for _, folder := range folders {
		gone, left, err := j.w.Mirror().SendFiles(j.ctx, fresh[folder],
			func(o mirror.Object) bool { return known[o] },
			func(pack []byte, objects []mirror.Object) error {
				for _, o := range objects {
					known[o] = true
				}
				b.objects = append(b.objects, objects)
				return b.add(travel.Objects(folder, pack))
			})
		if err != nil {
			return nil, err
		}
		if err := b.add(travel.Forget(there, gone)...); err != nil {
			return nil, err
		}
		for _, l := range left {
			refused[l.What] = true
			j.opts.note("the state " + l.What + " is not sent: " + l.Why)
		}
	}
	return slices.DeleteFunc(unsent, func(t travel.UnsentState) bool { return refused[t.ID] }), nil
}

// maxStates is how many states are received at once.
const maxStates = 256

// takeFiles receives the states of files that the workspace lacks, of sessions that it has.
func (j *job) takeFiles(scope plan.Scope) error {
	if !j.files || !scope.Has("files") {
		return nil
	}
	there := travel.Project(j.state)
	if len(there.States) == 0 {
		return nil
	}
	local, err := j.w.Mirror().Files(j.ctx, nil)
	if err != nil {
		return err
	}
	c := travel.Take(local, there, j.view(), j.Here.HadState, scope)
	if len(c.States) == 0 {
		return nil
	}
	supply, err := j.openSupply(there)
	if err != nil {
		return err
	}
	defer supply.close()
	for list := c.States; len(list) > 0; {
		n := min(len(list), maxStates)
		done, err := j.w.Mirror().TakeFiles(j.ctx, mirror.Files{Folders: c.Folders, States: list[:n], Forgotten: c.Forgotten}, supply.find)
		if err != nil {
			return err
		}
		for _, id := range done.States {
			j.Here.SetStates([]mirror.State{{ID: id}})
		}
		j.result.Got.States += len(done.States)
		j.result.Left = append(j.result.Left, done.Left...)
		list = list[n:]
	}
	return nil
}
