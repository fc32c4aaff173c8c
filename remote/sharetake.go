package remote

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/fault"
)

// sharedScope returns the part of a scope that a share may have.
func sharedScope(s plan.Scope) plan.Scope {
	kinds := map[string]bool{}
	for _, kind := range []string{"sessions", "bookmarks", "attachments"} {
		kinds[kind] = s.Has(kind)
	}
	return plan.Scope{Session: s.Session, Kinds: kinds}
}

// mayTake returns an error for a session of a share that this workspace has and does not share, or that
// continues one or an absent one: others must not get or change a session by naming it. A new line belongs
// to the share from now on, as long as it is here: [job.unshare] takes out what is not applied.
func (a *applying) mayTake(id string) error {
	if !a.config.Share {
		return nil
	}
	first := id
	for seen := map[string]bool{}; !seen[first]; {
		seen[first] = true
		if slices.Contains(a.facts.Others, first) {
			return &fault.Error{Code: fault.Damaged, Message: "it is in this workspace, which does not share it"}
		}
		in := a.view().Session(first)
		if in == nil || in.Shell == nil { // it may be in another remote, or in the trash
			return &fault.Error{Code: fault.Damaged, Message: fmt.Sprintf("it continues %s, which the share does not have", first)}
		}
		if !in.Continues() {
			break
		}
		first = join.OriginOf(in.Shell)
	}
	if a.dry || a.there(id) {
		return nil
	}
	return writeParts(a.Remote, &a.config, union(a.config.Lines, first), union(a.config.Taken, id))
}

// undone returns of which messages of a session the append was undone. In a share only this workspace
// undoes for itself.
func (a *applying) undone(in *join.Session) map[string]bool {
	if !a.config.Share {
		return in.Undone
	}
	published := a.writer.Published()
	return a.view().UndoneBy(in.ID, func(m record.Machine) bool {
		_, own := published[m]
		return own || m == a.writer.Machine()
	})
}

// restrict removes from changes what others of a share cannot change: shells, and which sessions exist.
func (a *applying) restrict() {
	if a.config.Share {
		a.changes.Shells, a.changes.Removed = nil, nil
	}
}
