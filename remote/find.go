package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// defaultName is the name of the remote that is used if none is named and there are several.
const defaultName = "origin"

// Find returns the remote of a workspace with a name. If the name is "", it returns the only
// remote; else the only one that is not a share and has no problem; else the one named origin. To
// find a remote with a problem among several, pass its name. It makes no request.
func Find(w *workspace.Workspace, name string) (Info, error) {
	list, err := List(w)
	if err != nil {
		return Info{}, err
	}
	if name == "" && len(list) == 1 {
		return list[0], nil
	}
	wanted := name
	if name == "" {
		wanted = defaultName
	}
	names := make([]string, len(list))
	var all []Info // those that are no shares
	for _, r := range list {
		if !r.Share && r.Problem == "" {
			all = append(all, r)
		}
	}
	if name == "" && len(all) == 1 {
		return all[0], nil
	}
	for i, r := range list {
		if r.Name == wanted {
			return r, nil
		}
		names[i] = r.Name
	}
	switch {
	case name != "":
		e := noRemote(name)
		e.Next = fault.Do(fault.ListRemotes)
		return Info{}, e
	case len(list) == 0:
		return Info{}, &fault.Error{Code: fault.NotFound, Message: "there is no remote", Next: fault.Do(fault.AddRemote)}
	}
	return Info{}, &fault.Error{Code: fault.Ambiguous, Message: "there are several remotes: " + strings.Join(names, ", "),
		Hint: "name one; the one named " + defaultName + " is the default"}
}

// FindSession returns the session of the remote that a word refers to: an id, a title, or the beginning
// of an id. If it is not among those that were read before, FindSession reads the new records, as Fetch
// does.
func (r *Remote) FindSession(ctx context.Context, word string) (one RemoteSession, err error) {
	list, err := r.Sessions(ctx)
	if err != nil {
		return one, err
	}
	if one, err = r.sessionNamed(list, word); !errors.Is(err, fault.NotFound) {
		return one, err
	}
	if _, err := r.Fetch(ctx); err != nil {
		return one, err
	}
	if list, err = r.Sessions(ctx); err != nil {
		return one, err
	}
	return r.sessionNamed(list, word)
}

// KnownSession is FindSession among the sessions that were read before. It makes no request.
func (r *Remote) KnownSession(ctx context.Context, word string) (one RemoteSession, err error) {
	list, err := r.Sessions(ctx)
	if err != nil {
		return one, err
	}
	return r.sessionNamed(list, word)
}

// HasSession reports whether the remote had a session when it was read last, also one that was removed or
// purged. It makes no request.
func (r *Remote) HasSession(_ context.Context, id string) (bool, error) {
	return read(r, func(_ *stored, view *plan.View) (bool, error) { return view.Session(id) != nil, nil })
}

func (r *Remote) sessionNamed(list []RemoteSession, word string) (RemoteSession, error) {
	return lookup.Kind[RemoteSession]{
		What: "session in the remote " + r.name,
		Next: fault.Do(fault.ListRemote, r.name),
		Names: func(s RemoteSession) []lookup.Name {
			return []lookup.Name{{ID: s.ID, Title: s.Title, Short: lookup.Short(s.ID)}}
		},
		Candidate: func(s RemoteSession) fault.Candidate {
			return fault.Candidate{Session: session.ID(s.ID), Title: s.Title, MessageCount: s.Count}
		},
	}.Find(word, list)
}

// checkKinds returns an error for a word that is none of [Kinds].
func checkKinds(kinds []string) error {
	for _, kind := range kinds {
		if err := lookup.Word("kind", kind, Kinds...); err != nil {
			return err
		}
	}
	return nil
}

// noRemote is the error for a name that no remote has.
func noRemote(name string) *fault.Error {
	return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("there is no remote %q", name)}
}

// Machines returns the machines of the remote, as the last exchange has them. It makes no request.
func (r *Remote) Machines(ctx context.Context) ([]Machine, error) {
	return read(r, func(s *stored, view *plan.View) ([]Machine, error) {
		own, err := stream.MachineIn(r.root)
		if err != nil {
			return nil, err
		}
		return machinesOf(view, s.state, own), ctx.Err()
	})
}

func machinesOf(v *plan.View, state *join.State, own record.Machine) []Machine {
	list := []Machine{}
	for _, m := range v.Machines {
		one := Machine{ID: m.ID, Name: m.Name, Person: m.Person, Retired: m.Retired, Own: m.ID == own}
		if e := state.Entity("machine/" + string(m.ID)); e != nil {
			if at, ok := e.Registers["at"]; ok && at.Stamp.Machine == m.ID {
				_ = json.Unmarshal(at.Value, &one.Seen) // else it is unknown
			}
		}
		list = append(list, one)
	}
	return list
}
