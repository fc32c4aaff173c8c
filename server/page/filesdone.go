package page

import (
	"net/url"
	"slices"
	"sync"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/restores"
)

// A keptPaths remembers which paths the last restores kept, by the state before each. It is safe
// for concurrent use.
type keptPaths struct {
	mu   sync.Mutex
	list []*restores.Restore // oldest first
}

// maxRestores is how many restores are remembered.
const maxRestores = 32

// add remembers what bringing files back did.
func (k *keptPaths) add(r *restores.Restore) {
	if r == nil || r.Before == "" || len(r.Kept) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, r)
	k.list = k.list[max(0, len(k.list)-maxRestores):]
}

// since returns the paths that the restore after a state kept.
func (k *keptPaths) since(state string) []restores.Kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.list, func(r *restores.Restore) bool { return r.Before == state })
	if i < 0 {
		return nil
	}
	return k.list[i].Kept
}

// restoredBy returns what happened to files in the result of a verb, nil if nothing did.
func restoredBy(result any) *restores.Restore {
	switch r := result.(type) {
	case *api.RestoredFiles:
		return r.Files
	case *api.AdoptedFiles:
		return r.Files
	case *lines.Position:
		return r.Files
	case *merge.Result:
		return r.Files
	}
	return nil
}

// toRestored returns the path of what a restore of files changed.
func toRestored(result any, _ url.Values) string {
	r := restoredBy(result)
	if r == nil || r.Before == "" {
		return ""
	}
	return differenceAddress(r.Before, files.Now)
}

// toHeadOrKept returns the path of the head or, if files that should have been brought back were
// kept, of what was changed.
func toHeadOrKept(result any, in url.Values) string {
	if r := restoredBy(result); r != nil && len(r.Kept) > 0 {
		return toRestored(result, in)
	}
	return toHead(result, in)
}

// toAdopted returns the path of what adopting files changed, or of the exploration if it changed
// no file.
func toAdopted(result any, in url.Values) string {
	if to := toRestored(result, in); to != "" {
		return to
	}
	return toExploration(result, in)
}
