package folders

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

const (
	undoAge = 7 * 24 * time.Hour // how long states that undo needs are kept
	newAge  = 24 * time.Hour     // how long states of temporary folders are kept
)

// A Pruning is what a prune of states removes.
type Pruning struct {
	Removed []files.Pruned

	full bool // the packs are larger than the limit
}

// PlanPrune decides which states a prune removes. removed are the folders of the trash that it
// deletes: states go with the automatic checkpoints in them. If the packs are larger than the
// limit, the oldest automatic states go until nine tenths of it are left. It keeps states that
// are not automatic, those of named checkpoints, branches and bookmarks, those that explorations
// and operations of the last week name, and the newest of each kind of a folder; of temporary
// folders those of the last day. If the states are damaged, it
// keeps all, and adds a note.
func PlanPrune(v *store.View, removed []string) (*Pruning, error) {
	p, err := planPrune(v, removed)
	if e := store.Explain(err); err != nil && e.Code == fault.Damaged {
		v.Store.Opts.Note("no state of a folder is removed: " + e.Message)
		return &Pruning{Removed: []files.Pruned{}}, nil
	}
	return p, err
}

func planPrune(v *store.View, removed []string) (*Pruning, error) {
	s := open(v.Root)
	defer s.Close()
	size, err := s.Size()
	if err != nil {
		return nil, err
	}
	if err := v.Whole(); err != nil { // which sessions need a state is unknown
		return nil, err
	}
	p := &Pruning{[]files.Pruned{}, exceeds(v.Store, size)}
	points, err := branchPoints(v, removed)
	if err != nil || !p.full && len(points) == 0 {
		return p, err
	}
	if _, err := s.States(); err != nil { // what a damaged line needs is unknown
		return nil, explain(err)
	}
	return read(v, func(r *reading) (*Pruning, error) {
		parents := r.parents(points)
		claims, err := r.claims()
		if err != nil {
			return nil, err
		}
		var gone []*states.State
		for _, c := range claims {
			if !c.needed && slices.ContainsFunc(points, func(b branchPoint) bool { return b.has(c.State, parents) }) {
				gone = append(gone, c.State)
			}
		}
		gone = complete(gone, claims)
		for _, st := range gone {
			p.add(r, st, "its automatic checkpoint was deleted")
		}
		if !p.full {
			return p, nil
		}
		claims = slices.DeleteFunc(claims, func(c claim) bool { return slices.Contains(gone, c.State) })
		if gone, err = surplus(claims, Limit(v.Store)/10*9, r.Costs); err != nil {
			return nil, err
		}
		for _, st := range complete(gone, claims) {
			p.add(r, st, "the states take more than files.limit")
		}
		return p, nil
	})
}

func (p *Pruning) add(r *reading, st *states.State, reason string) {
	p.Removed = append(p.Removed, files.Pruned{ID: st.ID, Dir: r.paths[st.Folder], Time: store.TimeOf(st.Time), At: string(st.At), Reason: reason})
}

// Apply removes what was planned.
func (p *Pruning) Apply(v *store.View) error {
	if len(p.Removed) == 0 && !p.full {
		return nil
	}
	s := open(v.Root)
	defer s.Close()
	ids := make([]string, len(p.Removed))
	for i, st := range p.Removed {
		ids[i] = st.ID
	}
	err := s.Remove(ids...)
	if err == nil {
		err = s.Shrink(v.Ctx, cmp.Or(Limit(v.Store), math.MaxInt64))
	}
	return explain(err)
}

// claims returns all states, oldest first, and which of them are needed.
func (r *reading) claims() ([]claim, error) {
	needed, err := r.needed()
	if err != nil {
		return nil, err
	}
	type kind struct {
		folder string
		at     states.Moment
	}
	newest := map[kind]bool{}
	list := make([]claim, len(r.list))
	for i, st := range slices.Backward(r.list) {
		k := kind{st.Folder, st.At}
		current := !newest[k]
		if r.temporary[st.Folder] {
			current = r.view.Store.Opts.Now().Sub(store.TimeOf(st.Time)) < newAge
		}
		list[i] = claim{st, st.At == states.Manual || needed[st.ID] || current, 0}
		newest[k] = true
	}
	keep := map[int]bool{}
	for i, group := range together(r.list, r.turn()) {
		list[i].group = group
		keep[group] = keep[group] || list[i].needed
	}
	for i := range list {
		list[i].needed = keep[list[i].group]
	}
	return list, nil
}

// turn returns a function that returns the prompt of a state, else its session.
func (r *reading) turn() func(*states.State) string {
	prompts := map[string]string{}
	for _, l := range r.links {
		if l.PromptID != "" {
			prompts[l.State] = l.PromptID
		}
	}
	return func(st *states.State) string { return cmp.Or(prompts[st.ID], st.SessionID) }
}

// parents returns the parents of the messages of the conversations of checkpoints, and sets the
// messages of states that were taken for their prompts.
func (r *reading) parents(points []branchPoint) map[string]string {
	list := map[string]string{}
	seen := map[string]bool{}
	for _, b := range points {
		for _, id := range b.sessions {
			l, err := r.view.Line(id, true)
			if seen[id] || err != nil || r.addMessages(id) != nil {
				continue // the conversation is gone, or damaged
			}
			for _, part := range l.Parts {
				seen[part.ID] = true
			}
			for node := range l.Len() {
				if parent := l.Parent(node); parent >= 0 {
					list[l.ID(node)] = l.ID(parent)
				}
			}
		}
	}
	return list
}

// needed returns a set with the ids of the states at named checkpoints, at branches and at
// bookmarks, and of those that explorations and operations of the last week name.
func (r *reading) needed() (map[string]bool, error) {
	ids := map[string]bool{}
	if err := r.named(ids); err != nil {
		return nil, err
	}
	name := func(text []byte) {
		for word := range bytes.SplitSeq(text, []byte(`"`)) {
			ids[string(word)] = true
		}
	}
	explorations, err := durable.ReadDir(r.view.Root, store.ExplorationsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range explorations {
		if text, err := durable.ReadFile(r.view.Root, path.Join(store.ExplorationsDir, e.Name())); err == nil {
			name(text)
		}
	}
	log, err := operation.Open(r.view.Root)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var failed error
	week := r.view.Store.Opts.Now().Add(-undoAge)
	for op := range r.view.Operations(log, &failed) {
		if at := store.TimeOf(op.Time); !at.IsZero() && at.Before(week) {
			continue // their numbers order operations, not their times
		}
		name(op.Encode())
	}
	return ids, failed
}

// named adds the states at named checkpoints, branches and bookmarks.
func (r *reading) named(ids map[string]bool) error {
	places := map[*store.Place]string{}
	for _, e := range r.view.Index.Entries() {
		if e.Kind() != session.Branch && (e.Kind() != session.Checkpoint || e.Auto) {
			continue
		}
		p, err := r.view.PlaceAt(e.ID, e.BranchPoint, true)
		if err != nil {
			continue // it cannot be restored either
		}
		places[p] = e.ID
	}
	bookmarks, _, err := r.view.Bookmarks()
	if err != nil {
		return err
	}
	for _, b := range bookmarks.Bookmarks {
		if p, err := r.view.PlaceAt(b.Session, b.Message, true); err == nil {
			places[p] = b.Label
		}
	}
	for folder := range r.paths {
		for p, name := range places {
			if st, _, err := r.at(p, name, &Folder{ID: folder}); err == nil {
				ids[st.ID] = true
			}
		}
	}
	return nil
}

// A branchPoint is where an automatic checkpoint was taken.
type branchPoint struct {
	message  string
	sessions []string
}

// has reports whether an automatic state belongs to the checkpoint: it was taken for its message
// or, before a turn, for the one after it.
func (b branchPoint) has(st *states.State, parents map[string]string) bool {
	switch {
	case !slices.Contains(b.sessions, st.SessionID):
		return false
	case st.At == states.Prompt && parents[st.MessageID] == b.message:
		return true
	}
	return st.MessageID == b.message && (st.At == states.Prompt || st.At == states.Checkpoint)
}

// branchPoints returns those of the automatic checkpoints in folders of the trash, unless
// another session begins at the same message.
func branchPoints(v *store.View, removed []string) (list []branchPoint, err error) {
	taken := map[string]bool{}
	for _, e := range v.Index.Entries() {
		taken[e.BranchPoint] = true
	}
	for _, dir := range removed {
		top := path.Join(store.TrashDir, dir)
		err := fs.WalkDir(v.Root.FS(), top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || store.SessionOf(strings.TrimPrefix(name, top+"/")) == "" {
				return err
			}
			if b, ok := branchPointIn(v, name); ok && !taken[b.message] {
				list = append(list, b)
			}
			return v.Ctx.Err()
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return list, nil
}

// branchPointIn reads the beginning of a session file or of a recipe.
func branchPointIn(v *store.View, name string) (b branchPoint, ok bool) {
	f, err := durable.OpenRegular(v.Root, name)
	if err != nil {
		return b, false
	}
	defer f.Close()
	const enough = 64 << 10
	begin, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return b, false
	}
	for _, at := range []string{"metadata", "session.metadata"} {
		m := gjson.GetBytes(begin, at)
		if b.message = m.Get("branch_point").Str; b.message == "" {
			continue
		}
		b.sessions = append(b.sessions, m.Get("branched_from").Str)
		for _, id := range m.Get("lineage").Array() {
			b.sessions = append(b.sessions, id.Str)
		}
		return b, true
	}
	return b, false
}
