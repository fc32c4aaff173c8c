package folders

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// Travelling returns the states that a workspace has, with the sessions to which they belong. Messages
// that name states, and prompts for which states were taken, are looked for in the sessions for which
// scan returns true; if it is nil, in none.
func Travelling(ctx context.Context, w *store.Store, scan func(session string) bool) (*mirror.Files, error) {
	return store.Read(ctx, w, func(v *store.View) (*mirror.Files, error) {
		return read(v, func(r *reading) (*mirror.Files, error) {
			return r.travelling(scan)
		})
	})
}

func (r *reading) travelling(scan func(session string) bool) (*mirror.Files, error) {
	if err := r.view.Whole(); err != nil {
		return nil, err
	}
	all := &mirror.Files{Sessions: map[string]bool{}}
	for _, e := range r.view.Index.Entries() {
		if e.Err == nil && !(e.Kind() == session.Checkpoint && e.Auto) {
			all.Sessions[e.ID] = true
		}
	}
	for id, path := range r.paths {
		all.Folders = append(all.Folders, mirror.Folder{ID: id, Path: path, Machine: r.machines[id], Project: r.projectOf(id)})
	}
	links := map[string][]*states.Link{} // by state, oldest first
	for _, l := range slices.Backward(r.links) {
		links[l.State] = append(links[l.State], l)
	}
	owners, err := r.owners(all.Sessions, scan)
	if err != nil {
		return nil, err
	}
	for _, st := range r.list {
		m := mirror.State{ID: st.ID, Folder: st.Folder}
		belongs := func(id string) {
			if id != "" && !slices.Contains(m.Sessions, id) {
				m.Sessions = append(m.Sessions, id)
			}
		}
		belongs(st.SessionID)
		for _, id := range owners[st.ID] {
			belongs(id)
		}
		for _, l := range links[st.ID] {
			out := *l
			out.Folder, out.State = "", ""
			if out.PromptID != "" && out.SessionID == "" && len(owners[st.ID]) > 0 {
				out.SessionID = owners[st.ID][0]
			}
			belongs(out.SessionID)
			data, err := json.Marshal(out)
			if err != nil {
				return nil, err
			}
			m.Links = append(m.Links, data)
		}
		record := *st
		record.NewBytes = 0
		if m.Record, err = json.Marshal(record); err != nil {
			return nil, err
		}
		all.States = append(all.States, m)
	}
	return all, nil
}

// owners returns the sessions with a message that names a state or has its prompt, by state.
func (r *reading) owners(sessions map[string]bool, scan func(session string) bool) (map[string][]string, error) {
	owners := map[string][]string{}
	prompts := map[string]string{}
	for _, l := range r.links {
		if l.PromptID != "" {
			prompts[l.PromptID] = l.State
		}
	}
	if scan == nil || len(prompts) == 0 && !slices.ContainsFunc(r.list, func(st *states.State) bool { return st.SessionID == "" }) {
		return owners, nil
	}
	for id := range sessions {
		if !scan(id) {
			continue
		}
		o, err := r.view.Outline(id)
		if err != nil {
			continue // it does not travel either
		}
		s, err := r.view.Folder.Open(o)
		if err != nil {
			continue
		}
		for _, m := range s.Messages {
			v := gjson.GetManyBytes(m.Raw, ownPath, promptPath)
			for _, state := range []string{v[0].Get("state").Str, prompts[v[1].Str]} {
				if state != "" && !slices.Contains(owners[state], id) {
					owners[state] = append(owners[state], id)
				}
			}
		}
	}
	return owners, r.view.Ctx.Err()
}

// Send passes the objects of states to each, as packs; see [states.Store.Send]. It returns the SHA-256 of
// contents that were deleted permanently, and the states that are not to be sent.
func Send(ctx context.Context, w *store.Store, ids []string, known func(mirror.Object) bool, each func(data []byte, objects []mirror.Object) error) (forgotten []string, left []mirror.Left, err error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	s := open(root)
	defer s.Close()
	list, err := statesNamed(s, ids)
	if err != nil {
		return nil, nil, err
	}
	gone, refused, err := s.Send(ctx, list, func(id pack.ID) bool { return known(mirror.Object(id)) }, func(data []byte, in []pack.ID) error {
		objects := make([]mirror.Object, len(in))
		for i, id := range in {
			objects[i] = mirror.Object(id)
		}
		return each(data, objects)
	})
	if err != nil {
		return nil, nil, explain(err)
	}
	for _, id := range gone {
		forgotten = append(forgotten, id.String())
	}
	return forgotten, leftFor(refused), nil
}

// statesNamed returns the states with some ids, in the order in which they were taken.
func statesNamed(s *states.Store, ids []string) ([]*states.State, error) {
	list, err := s.States()
	if _, ok := errors.AsType[*states.RecordError](err); err != nil && !ok {
		return nil, err
	}
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	return slices.DeleteFunc(list, func(st *states.State) bool { return !wanted[st.ID] }), nil
}

func leftFor(refused []states.Refusal) (left []mirror.Left) {
	for _, r := range refused {
		left = append(left, mirror.Left{What: r.State, Why: r.Err.Error()})
	}
	return left
}

// Needs returns the objects that the workspace has of states, by their ids.
func Needs(ctx context.Context, w *store.Store, ids []string) ([]mirror.Object, error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := open(root)
	defer s.Close()
	list, err := statesNamed(s, ids)
	if err != nil {
		return nil, err
	}
	live, err := s.Needs(list)
	if err != nil {
		return nil, explain(err)
	}
	objects := make([]mirror.Object, 0, len(live))
	for id := range live {
		objects = append(objects, mirror.Object(id))
	}
	return objects, nil
}

// maxPath is the maximum length of the path of a folder of another machine.
const maxPath = 4096

// Receive receives states of other machines. supply returns a pack that has an object; the error is
// code NotFound of package fault if there is none.
func Receive(ctx context.Context, w *store.Store, c mirror.Files, supply func(mirror.Object) (*mirror.Pack, error)) (*mirror.FilesTaken, error) {
	done := &mirror.FilesTaken{}
	in := incoming(c, done)
	if len(in.States) == 0 {
		return done, nil
	}
	if err := w.Make(); err != nil {
		return nil, err
	}
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := open(root)
	defer s.Close()
	packs := map[*mirror.Pack]*pack.Pack{}
	in.Supply = func(id pack.ID) (*pack.Pack, error) {
		p, err := supply(mirror.Object(id))
		if errors.Is(err, fault.NotFound) {
			return nil, &pack.MissingError{ID: id}
		}
		if err != nil {
			return nil, err
		}
		if packs[p] == nil {
			if packs[p], err = pack.New("a pack of the remote", p, p.Size); err != nil {
				return nil, err
			}
		}
		return packs[p], nil
	}
	const tries = 4
	for try := 1; ; try++ {
		r, err := s.Receive(ctx, in)
		if err != nil {
			return nil, explain(err)
		}
		err = w.WithLock(ctx, "pull", func(*os.Root) error { return r.Commit(ctx) })
		r.Discard()
		if errors.Is(err, states.ErrStale) && try < tries {
			continue
		}
		if err != nil {
			return nil, explain(err)
		}
		done.States = r.Taken
		done.Left = append(done.Left, leftFor(r.Refused)...)
		prune(ctx, w, root, s, "pull")
		return done, nil
	}
}

// incoming decodes what other machines sent. What is malformed is omitted.
func incoming(c mirror.Files, done *mirror.FilesTaken) (in states.Consignment) {
	valid := map[string]bool{}
	for _, f := range c.Folders {
		if f.Path != "" && len(f.Path) <= maxPath && utf8.ValidString(f.Path) && f.Machine != "" {
			folder := states.Folder{ID: f.ID, Path: f.Path, Machine: f.Machine}
			if f.Project != nil && f.Project.Valid() {
				folder.Project = states.Project(*f.Project)
			}
			in.Folders = append(in.Folders, folder)
			valid[f.ID] = true
		}
	}
	for _, m := range c.States {
		t, err := travelOf(m)
		if err == nil && !valid[t.State.Folder] {
			err = &fs.PathError{Op: "open", Path: "folder " + t.State.Folder, Err: fs.ErrNotExist}
		}
		if err != nil {
			done.Left = append(done.Left, mirror.Left{What: m.ID, Why: err.Error()})
			continue
		}
		in.States = append(in.States, t)
	}
	for _, text := range c.Forgotten {
		var id pack.ID
		if id.UnmarshalText([]byte(text)) == nil {
			in.Forgotten = append(in.Forgotten, id)
		}
	}
	return in
}

func travelOf(m mirror.State) (t states.Travel, err error) {
	if err := json.Unmarshal(m.Record, &t.State); err != nil {
		return t, err
	}
	if t.State.ID != m.ID || t.State.Folder != m.Folder {
		return t, &states.HostileError{Problem: "the state is recorded under another id"}
	}
	for _, data := range m.Links {
		var l states.Link
		if err := json.Unmarshal(data, &l); err != nil {
			return t, err
		}
		t.Links = append(t.Links, l)
	}
	return t, nil
}
