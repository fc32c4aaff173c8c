package states

import (
	"github.com/bough-dev/bough/internal/scan"
)

// A Memo is what a draft found, in memory. With it, the next draft of the folder in this process
// reads no cache, and [scan.Options.Changed] has an effect.
type Memo struct {
	state string // ID of the state with the objects of the cache
	cache *scan.Cache
	packs packSizes
	left  []scan.Left

	forgotten int // number of forgotten objects
}

// Memo returns what the draft found, nil if that cannot be used: neither was the draft
// committed, nor is it unchanged.
func (d *Draft) Memo() *Memo {
	m := &Memo{d.State.ID, d.t.cache, d.t.sizes(), d.t.result.Left, d.forgotten}
	if !d.committed {
		if !d.Unchanged() {
			return nil
		}
		m.state = d.t.last.ID
	}
	if data := d.t.result.Cache; data != nil {
		cache, err := scan.ParseCache(data)
		if err != nil {
			return nil
		}
		m.cache = cache
	}
	return m
}

// recall uses the memo, if its state exists. Without it, the whole folder must be read.
func (t *taking) recall(byID map[string]*State) bool {
	if m := t.Request.Memo; m != nil && m.cache != nil && m.forgotten == t.forgottenCount() {
		if st := byID[m.state]; st != nil && st.Folder == t.state.Folder && t.isComplete(st, m.packs) {
			t.last, t.cache, t.Scan.Before = st, m.cache, m.left
			return true
		}
	}
	t.Scan.Changed = nil
	return false
}
