package folders

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/restores"
)

// A goal is what a restore goes to, and what was changed since.
type goal struct {
	target *states.State
	exact  bool
	timeline
	left []scan.Left // what else says nothing about its file
	link bool        // the files then are a state of the message of the target
	add  *Addition   // the message that is added in the same operation, nil for none

	mapped  string // the folder of another machine that the target is of, if the user did not name the folder
	differs bool   // the folder is not as the target
	orphan  bool   // the target belongs to no conversation that exists
}

// A scanned is what the folder has just before a restore.
type scanned struct {
	tree pack.ID
	left []scan.Left
	read filetree.Reader
}

// checkOptions refuses options that are no choices.
func checkOptions(o restores.Options) error {
	choices := []string{restores.Refuse, restores.Keep, restores.Take, restores.Merge}
	if !slices.Contains(choices, o.Conflicts) {
		return &fault.UnknownError{What: "answer to conflicts", Word: o.Conflicts, Choices: choices[1:]}
	}
	if o.Whole && o.Conflicts != restores.Refuse {
		return &fault.Error{Code: fault.Usage, Message: "if the whole folder is restored, there are no conflicts to choose for", Hint: "choose only one of both"}
	}
	for _, name := range o.Only {
		if err := checkPath(name); err != nil {
			return err
		}
	}
	return nil
}

// goalAt returns the goal that name refers to: the state at a REF or, if it is no REF, the
// state with that id.
func (r *reading) goalAt(name string, f *Folder) (*goal, error) {
	st, exact, err := r.find(name, f)
	if err != nil {
		return nil, err
	}
	if err := r.mayGo(st, f); err != nil {
		return nil, err
	}
	p, err := r.view.Place(name, false)
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	if err != nil { // it is the id of a state
		if p, err = r.placeOf(st); err != nil {
			return nil, err
		}
	}
	return r.goalOf(st, exact, p, f)
}

// mayGo refuses to restore a state to the folder f: one of another folder here, and one of another
// machine unless the user named the folder or mapped it to the project.
func (r *reading) mayGo(st *states.State, f *Folder) error {
	switch {
	case f == nil || f.ID == st.Folder || r.standsFor(f, st.Folder):
		return nil
	case r.machines[st.Folder] != "":
		return r.notNamed(st)
	}
	return &fault.Error{Code: fault.Refused, Message: "the state " + st.ID + " is of another folder, " + r.paths[st.Folder], Hint: "an export writes it to a new folder"}
}

// notNamed is the error for a state of another machine, for which no folder of this one was named.
func (r *reading) notNamed(st *states.State) error {
	return &fault.Error{Code: fault.Refused, Message: "the state is of " + r.nameOf(st.Folder) + ", a folder of another machine", Next: fault.Do(fault.NameFolder)}
}

// placeOf returns the place of the message of a state, nil if it has none or it is gone.
func (r *reading) placeOf(st *states.State) (*store.Place, error) {
	if st.SessionID == "" || !r.view.Has(st.SessionID) {
		return nil, nil
	}
	p, err := r.view.PlaceAt(st.SessionID, st.MessageID, false)
	if store.IsNotFound(err) {
		return nil, nil
	}
	return p, err
}

// goalOf returns the goal of a state in the folder f, for the conversation at p. Both may be nil.
func (r *reading) goalOf(st *states.State, exact bool, p *store.Place, f *Folder) (*goal, error) {
	conversation, err := r.conversations(p)
	if err != nil {
		return nil, err
	}
	list := r.statesIn(st.Folder)
	if f != nil && f.ID != "" && f.ID != st.Folder {
		list = byTime(list, r.statesIn(f.ID))
	}
	return &goal{target: st, exact: exact, timeline: timelineOf(list, st, conversation), orphan: p == nil, mapped: r.mappedBy(st, f)}, nil
}

func (r *reading) statesIn(folder string) (list []*states.State) {
	for _, st := range r.list {
		if st.Folder == folder {
			list = append(list, st)
		}
	}
	return list
}

// byTime merges the states of two folders, of which the conversation used first one and then the other.
// Each list keeps its order. Where clocks of machines differ, more paths are conflicts.
func byTime(a, b []*states.State) (list []*states.State) {
	for len(a) > 0 && len(b) > 0 {
		if store.TimeOf(b[0].Time).Before(store.TimeOf(a[0].Time)) {
			list, b = append(list, b[0]), b[1:]
		} else {
			list, a = append(list, a[0]), a[1:]
		}
	}
	return slices.Concat(list, a, b)
}

// conversations returns a function that names the conversation of a state. The one at p has
// its lines up to the root and, if the head is in a branch of one of them, also that.
func (r *reading) conversations(p *store.Place) (func(*states.State) string, error) {
	own := map[string]bool{}
	if p != nil {
		sessions := r.linesTo(p.SessionID())
		if h, ok := r.view.Head(); ok && r.view.Has(h.Session) {
			if at := r.linesTo(h.Session); slices.ContainsFunc(at, func(id string) bool { return slices.Contains(sessions, id) }) {
				sessions = append(sessions, at...)
			}
		}
		slices.Sort(sessions)
		for _, id := range slices.Compact(sessions) {
			if err := r.addMessages(id); err != nil && id == p.SessionID() {
				return nil, err
			}
		}
		for _, st := range r.list {
			own[st.ID] = r.belongs(st, sessions)
		}
	}
	roots := map[string]string{}
	return func(st *states.State) string {
		switch {
		case own[st.ID]:
			return ownConversation
		case st.SessionID == "":
			return ""
		}
		root, ok := roots[st.SessionID]
		if !ok {
			root = st.SessionID
			if lineage, err := r.view.LineageOf(st.SessionID); err == nil && len(lineage) > 0 {
				root = lineage[0]
			}
			roots[st.SessionID] = root
		}
		return "in " + root
	}, nil
}

// linesTo returns the sessions of the lines from the root to that of a session.
func (r *reading) linesTo(id string) (sessions []string) {
	lineage, _ := r.view.LineageOf(id)
	for _, at := range append(lineage, id) {
		sessions = append(sessions, at)
		if ids, err := r.view.LineIDs(at); err == nil {
			sessions = append(sessions, ids...)
		}
	}
	return sessions
}

// plan makes the plan for a goal.
func (f *Folder) plan(s *states.Store, g *goal, now *scanned, o restores.Options) (*restore.Plan, error) {
	then, err := s.CoverageOf(g.target)
	if err != nil {
		return nil, err
	}
	t := g.timeline
	t.own, t.unended = slices.Clip(t.own), slices.Clip(t.unended)
	t.present(now.tree)
	rules, err := f.rulesOf(s, then, g.target.Tree, now)
	if err != nil {
		return nil, err
	}
	if err := checkOnly(o.Only, rules.trees, g.target.Tree, t.last.Tree, now.tree); err != nil {
		return nil, err
	}
	g.differs = now.tree != g.target.Tree
	return restore.Make(restore.Input{
		Read: now.read, Target: g.target.Tree, Last: t.last.Tree, Present: now.tree,
		Own: t.own, Other: t.other, Unended: t.unended,
		Left:      slices.Concat(then.Left, now.left, g.left),
		Ignored:   rules.ignored,
		More:      func(dir string) bool { return f.hasMore(dir, rules.trees, now.tree) },
		Forgotten: s.Forgotten,
	}, restore.Options{Policy: restore.Policy(o.Conflicts), Whole: o.Whole, Only: o.Only})
}

// A rules says which paths two states do not hold: one that is restored, and the present one.
type rules struct {
	trees     trees
	target    pack.ID
	present   pack.ID
	then, now *coverage.Judge
}

func (f *Folder) rulesOf(s *states.Store, c *states.Coverage, target pack.ID, now *scanned) (*rules, error) {
	r := &rules{trees: trees{now.read, map[pack.ID]filetree.Tree{}}, target: target, present: now.tree}
	outside, deciding, err := s.SourcesOf(c)
	if err != nil {
		return nil, err
	}
	held := func(dir string, names []string) []scan.Source {
		return append(r.trees.sources(target, dir, names), coverage.DecidingIn(deciding, dir)...)
	}
	o := coverage.Options{Env: os.Getenv, Secrets: c.Rules.Secrets}
	own := held(".", []string{".gitignore", ".boughignore"})
	r.then = coverage.NewJudge(coverage.Recorded(f.Path, outside, own, o), held)
	o.Secrets = false
	r.now = coverage.NewJudge(coverage.Look(f.Path, o), f.sources)
	return r, nil
}

// ignored returns why a path is never held, under the rules of one of the states. A path in a
// state was held, whatever the rules are.
func (r *rules) ignored(name string, isDir bool) string {
	for _, side := range []struct {
		tree pack.ID
		*coverage.Judge
	}{{r.target, r.then}, {r.present, r.now}} {
		if r.trees.has(side.tree, name) {
			continue
		}
		switch side.Verdict(name, isDir) {
		case scan.Ignore:
			return restore.Ignored
		case scan.IgnoreTracked:
			return string(scan.IgnoredTracked)
		case scan.Secret:
			return string(scan.IsSecret)
		}
	}
	return ""
}

// sources returns files of a directory of the folder that rules are made of. No link is
// followed.
func (f *Folder) sources(dir string, names []string) (list []scan.Source) {
	for _, name := range names {
		full := filepath.Join(f.Path, filepath.FromSlash(dir), name)
		info, err := os.Lstat(full)
		switch {
		case err != nil:
		case info.IsDir():
			list = append(list, scan.Source{Name: name, IsDir: true})
		case info.Mode().IsRegular():
			if data, err := os.ReadFile(full); err == nil {
				list = append(list, scan.Source{Name: name, Data: data})
			}
		}
	}
	return list
}

// hasMore reports whether the folder has something in a directory that a state of it does not
// hold.
func (f *Folder) hasMore(dir string, t trees, state pack.ID) bool {
	names, err := os.ReadDir(filepath.Join(f.Path, filepath.FromSlash(dir)))
	return err == nil && slices.ContainsFunc(names, func(e os.DirEntry) bool { return !t.has(state, path.Join(dir, e.Name())) })
}

// resultOf returns what a plan will do, as results have it.
func (f *Folder) resultOf(g *goal, p *restore.Plan, o restores.Options) *restores.Restore {
	r := &restores.Restore{
		Dir: f.Path, Mapped: g.mapped, To: g.target.ID, Exact: g.exact, Late: g.target.Late,
		Differs: g.differs && !o.Whole && isUsers(p), Orphan: g.orphan && !o.Whole,
		Written: []string{}, Deleted: []string{}, Kept: keptOf(p.Kept), Conflicts: []restores.Conflict{},
	}
	for _, c := range p.Changes {
		if c.To.Type == 0 {
			r.Deleted = append(r.Deleted, c.Path)
		} else {
			r.Written = append(r.Written, c.Path)
		}
	}
	for _, c := range p.Conflicts {
		r.Conflicts = append(r.Conflicts, restores.Conflict{Path: c.Path, RawPath: files.Raw(c.Path), Base: versionAt(c.Base), Yours: versionAt(c.Yours), Theirs: versionAt(c.Theirs), Why: c.Why})
	}
	r.RawPaths = rawPaths(r)
	slices.SortFunc(r.Conflicts, func(a, b restores.Conflict) int { return cmp.Compare(a.Path, b.Path) })
	return r
}

// isUsers reports whether a plan changes nothing because only the user changed files.
func isUsers(p *restore.Plan) bool {
	return len(p.Changes)+len(p.Conflicts) == 0 && !slices.ContainsFunc(p.Kept, func(k restore.Kept) bool { return k.Why != restore.Yours })
}

func keptOf(list []restore.Kept) []restores.Kept {
	kept := make([]restores.Kept, len(list))
	for i, k := range list {
		kept[i] = restores.Kept{Path: k.Path, RawPath: files.Raw(k.Path), Why: k.Why, As: k.As}
	}
	return kept
}

// reported returns the result of a restore that was made.
func reported(r *restores.Restore, report *restore.Report) *restores.Restore {
	done := *r
	done.Written, done.Deleted, done.Kept = append([]string{}, report.Written...), append([]string{}, report.Deleted...), keptOf(report.Kept)
	done.RawPaths = rawPaths(&done)
	return &done
}

// rawPaths returns the paths that are written or deleted and not valid UTF-8.
func rawPaths(r *restores.Restore) (list [][]byte) {
	for _, name := range slices.Concat(r.Written, r.Deleted) {
		if b := files.Raw(name); b != nil {
			list = append(list, b)
		}
	}
	return list
}
